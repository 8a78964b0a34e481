/** A connection to Redis in its own words (RESP 2), for the one hash that the specification names. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export class RedisLine {
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  static async open(url: string): Promise<RedisLine> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    return new RedisLine(socket)
  }

  /** The answer to a command that answers with one text or number; null for none. Ask one after the other. */
  async ask(...words: readonly string[]): Promise<string | null> {
    const bulk = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
    this.#socket.write(`*${words.length}\r\n${bulk.join('')}`)
    for (let said = ''; ;) {
      const [data] = (await once(this.#socket, 'data')) as [Buffer]
      said += data.toString()
      const [, kind, first = '', rest = ''] = /^([-+:$])([^\r]*)\r\n([^]*)$/.exec(said) ?? []
      if (kind === '-') throw new Error(`Redis answers ${words[0]} with ${first}`)
      if (kind === '+' || kind === ':') return first
      if (kind === '$' && first === '-1') return null
      if (kind === '$' && rest.length >= Number(first) + 2) return rest.slice(0, Number(first))
    }
  }

  close(): void {
    this.#socket.destroy()
  }
}
