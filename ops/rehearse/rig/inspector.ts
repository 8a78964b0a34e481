/**
 * Looks into a running server from outside, through Node's inspector, because the program has no endpoint for it. Start
 * the server with the settings of `inspectable`.
 */

/** What a process holds. */
export interface Holdings {
  /** Bytes in use after a full garbage collection. */
  readonly heap: number
  /** Bytes of the process in memory. */
  readonly resident: number
  /** What keeps its event loop busy, by kind: `Timeout`, `TCPSocketWrap` and the like. */
  readonly resources: Readonly<Record<string, number>>
}

const LOOK = `({
  heap: process.memoryUsage().heapUsed,
  resident: process.memoryUsage.rss(),
  resources: process.getActiveResourcesInfo().reduce((all, one) => ({ ...all, [one]: (all[one] ?? 0) + 1 }), {}),
})`

export class Inspector {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (result: unknown) => void>()
  #asked = 0

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown }
      if (id !== undefined) this.#waiting.get(id)?.(result)
    })
  }

  /** Connects to a server that was started as inspectable and is up. */
  static async connect(port: number): Promise<Inspector> {
    const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      webSocketDebuggerUrl: string
    }[]
    const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '')
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error('the inspector does not answer')))
    })
    return new Inspector(socket)
  }

  /** Collects the garbage and counts what is left. */
  async look(): Promise<Holdings> {
    // A second time, for what the first run has finalised.
    for (let round = 0; round < 2; round++) await this.#ask('HeapProfiler.collectGarbage')
    const looked = await this.#ask('Runtime.evaluate', { expression: LOOK, returnByValue: true })
    return (looked as { result: { value: Holdings } }).result.value
  }

  close(): void {
    this.#socket.close()
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#asked
    return new Promise((resolve) => {
      this.#waiting.set(id, (result) => {
        this.#waiting.delete(id)
        resolve(result)
      })
      this.#socket.send(JSON.stringify({ id, method, params }))
    })
  }
}

/** Settings that open the inspector on this port of this machine. */
export const inspectable = (port: number) => ({ NODE_OPTIONS: `--inspect=127.0.0.1:${port}` })
