/**
 * A relay to a server that breaks as networks do, only for its own clients. Unlike a network namespace (`network.ts`)
 * it needs no rights on the machine, but it acknowledges what it does not pass on. It can cut a process off one server
 * and not the other, and can lose answers while requests arrive, which is the hardest case. What was sent during a
 * silence arrives when the silence ends, as with TCP retransmission.
 */
import { once } from 'node:events'
import { createConnection, createServer, type Server, type Socket } from 'node:net'

/** `silent`: nothing arrives on either side, without an error. `deaf`: requests arrive, answers do not. */
type Passing = 'all' | 'silent' | 'deaf'

interface Line {
  readonly client: Socket
  readonly upstream: Socket
}

const PORT_OF: Readonly<Record<string, number>> = {
  'redis:': 6379,
  'postgres:': 5432,
  'postgresql:': 5432,
}

/** A client that the network has forgotten is gone: the server's end must not stay for ever. */
const KEEP_ALIVE_MS = 20_000

export class Relay {
  /** The relay's address, in place of the server's. */
  readonly url: string
  readonly #target: URL
  readonly #listener: Server
  readonly #lines = new Set<Line>()
  readonly #swallowed = new WeakSet<Line>()
  #isRefusing = false
  #passing: Passing = 'all'

  private constructor(target: URL, listener: Server, host: string) {
    this.#target = target
    this.#listener = listener
    const address = listener.address()
    const url = new URL(target)
    url.hostname = host
    url.port = String(typeof address === 'object' && address !== null ? address.port : 0)
    this.url = url.href
    listener.on('connection', (client) => this.#connect(client))
  }

  /** A relay to the server at this address, of Redis or PostgreSQL. It listens on this host. */
  static async to(server: string, host = '127.0.0.1'): Promise<Relay> {
    const listener = createServer()
    listener.listen(0, host)
    await once(listener, 'listening')
    return new Relay(new URL(server), listener, host)
  }

  /** Breaks every connection, and refuses new ones. */
  cut(): void {
    this.#isRefusing = true
    for (const { client } of this.#lines) client.destroy()
  }

  /** Stops all traffic; new connections are accepted and left waiting. */
  silence(): void {
    this.#pass('silent')
  }

  /** Connections pass nothing from now on, for ever, and do not break; new ones work. */
  swallow(): void {
    for (const line of this.#lines) {
      this.#swallowed.add(line)
      this.#join(line)
    }
  }

  /** Requests still arrive, answers do not. */
  deafen(): void {
    this.#pass('deaf')
  }

  /** Restores normal traffic. */
  mend(): void {
    this.#isRefusing = false
    this.#pass('all')
  }

  async close(): Promise<void> {
    const closed = once(this.#listener, 'close')
    this.#listener.close()
    this.cut()
    await closed
  }

  #connect(client: Socket): void {
    if (this.#isRefusing) return void client.destroy()
    const { port, hostname, protocol } = this.#target
    const upstream = createConnection(Number(port || PORT_OF[protocol]), hostname)
    const line = { client, upstream }
    this.#lines.add(line)
    client.setKeepAlive(true, KEEP_ALIVE_MS)
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#lines.delete(line)
        client.destroy()
        upstream.destroy()
      })
    }
    this.#join(line)
  }

  #pass(passing: Passing): void {
    this.#passing = passing
    for (const line of this.#lines) this.#join(line)
  }

  #join(line: Line): void {
    const { client, upstream } = line
    const passing = this.#swallowed.has(line) ? 'silent' : this.#passing
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.unpipe()
      if (passing === 'all' || (passing === 'deaf' && from === client)) from.pipe(to)
      else from.pause()
    }
  }
}
