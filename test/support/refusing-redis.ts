/**
 * A relay to a Redis that answers commands with an error of the test's choice, in their turn among the answers of the
 * server. What a connection begins with still passes, unless it is refused itself.
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from '../../ops/rehearse/conformance/listen.ts'

export interface Refusal {
  readonly message: string
  /** `commands`: connections can be made. `writes`: reads are also answered. `connections`: nothing passes. */
  readonly of: 'commands' | 'writes' | 'connections'
}

const HANDSHAKE = new Set(['client', 'info', 'select', 'ping', 'quit'])
const READS = new Set(['get', 'hgetall', 'zmscore', 'exists', 'hkeys', 'publish', 'subscribe', 'unsubscribe'])
const EMPTY = Buffer.alloc(0)

export class RefusingRedis {
  readonly url: string
  readonly #listener: Server
  readonly #sockets = new Set<Socket>()
  #refusal: Refusal | null = null

  private constructor(listener: Server, url: string) {
    this.#listener = listener
    this.url = url
  }

  static async before(server: string): Promise<RefusingRedis> {
    const listener = createServer()
    const relay = new RefusingRedis(listener, `redis://127.0.0.1:${await listen(listener, 0)}`)
    const { hostname, port } = new URL(server)
    listener.on('connection', (client) => relay.#join(client, connect(Number(port || 6379), hostname)))
    return relay
  }

  /** From now on; null restores normal service. */
  refuse(refusal: Refusal | null): void {
    this.#refusal = refusal
    if (refusal?.of === 'connections') for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    const closed = once(this.#listener, 'close')
    this.#listener.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        client.destroy()
        server.destroy()
      })
    }
    // An error waits for the answers to the commands before it.
    const turns: (string | null)[] = []
    const passErrors = (): void => {
      while (typeof turns[0] === 'string') client.write(`-${turns.shift()}\r\n`)
    }
    eachMessage(client, (command) => {
      const error = this.#errorFor(nameOf(command))
      turns.push(error)
      if (error === null) server.write(command)
      passErrors()
    })
    eachMessage(server, (answer) => {
      // Without a turn it is a message to a subscriber.
      if (turns.length > 0) turns.shift()
      client.write(answer)
      passErrors()
    })
  }

  #errorFor(command: string): string | null {
    if (this.#refusal === null) return null
    const { message, of } = this.#refusal
    if (of === 'connections') return message
    return HANDSHAKE.has(command) || (of === 'writes' && READS.has(command)) ? null : message
  }
}

const nameOf = (command: Buffer): string => (/\$\d+\r\n(\w+)/.exec(command.toString('latin1'))?.[1] ?? '').toLowerCase()

function eachMessage(socket: Socket, take: (message: Buffer) => void): void {
  let rest: Buffer = EMPTY
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    for (let end = endOf(rest, 0); end > 0; end = endOf(rest, 0)) {
      take(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
}

/** Where the message of RESP 2 that begins here ends; 0 if not all of it is there. */
function endOf(bytes: Buffer, at: number): number {
  const line = bytes.indexOf('\r\n', at)
  if (line < 0) return 0
  const [kind, count] = [String.fromCharCode(bytes[at] ?? 0), Number(bytes.toString('latin1', at + 1, line))]
  let end = line + 2
  if (kind === '$' && count >= 0) end += count + 2
  if (kind === '*') for (let n = 0; n < count && end > 0; n++) end = endOf(bytes, end)
  return end > bytes.length ? 0 : end
}
