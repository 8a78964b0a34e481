/** Sends random messages to the price feed. Its answers must follow the protocol, and it must stay up. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import { WebSocket } from 'ws'
import { type Chance, chanceFrom } from '../../../actors/replay/chance.ts'
import { decodePriceFrame } from '../../../rooms/feed/price-frame.ts'
import type { KnownValues } from './known-values.ts'

const SOCKETS = 8
const MESSAGES_MAX = 14
const ROUND_MS = 4_000
/** Normal closes, those that the protocol documents, and those of RFC 6455 for protocol errors. */
const CLOSES = new Set([1000, 1002, 1003, 1005, 1006, 1007, 1009, 1013, 4001, 4003, 4008, 4029])

const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  2 ** 53,
  1e308,
  '',
  'x'.repeat(65),
  '\u0000',
  [],
  {},
  [[]],
  '__proto__',
]
const TYPES = ['subscribe', 'unsubscribe', 'account', 'ping', 'Subscribe', '', '__proto__', 'price']
const RAW = [
  '',
  '{',
  'null',
  '[]',
  '"subscribe"',
  '{"type":"ping"',
  '{"__proto__":{"type":"ping"}}',
  'x'.repeat(20_000),
  '\u0000',
]

export interface SocketFuzzOptions {
  readonly url: string
  readonly seed: number
  readonly knownValues: KnownValues
  /** The description of the WebSocket address. */
  readonly document: object
}

export class SocketFuzz {
  readonly counts = { opened: 0, sent: 0, received: 0 }
  readonly #options: SocketFuzzOptions
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false })
  #rounds = 0

  constructor(options: SocketFuzzOptions) {
    this.#options = options
    addFormats.default(this.#ajv)
    this.#ajv.addSchema(options.document, 'feed')
  }

  /** A few sockets send a few messages each; returns what was wrong with the answers. */
  async round(): Promise<string[]> {
    const round = this.#rounds++
    const talks = Array.from({ length: SOCKETS }, (_, n) =>
      this.#talk(chanceFrom(this.#options.seed * 7_919 + round * SOCKETS + n)),
    )
    return (await Promise.all(talks)).flat()
  }

  async #talk(chance: Chance): Promise<string[]> {
    const wrong: string[] = []
    const sent: string[] = []
    const address = await this.#address(chance)
    if (address === null) return [] // another request ended the user's session
    const socket = new WebSocket(address, chance.happens(0.9) ? 'feed.v1' : [])
    const closed = new Promise<void>((resolve) => {
      socket.on('close', (code) => {
        if (!CLOSES.has(code)) wrong.push(`a socket was closed with ${code} after ${sent.join(' | ')}`)
        resolve()
      })
    })
    socket.on('error', () => undefined) // a close follows
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      this.counts.received++
      const flaw = isBinary ? flawOfFrame(data) : this.#flawOfReply(data.toString('utf8'))
      if (flaw !== null) wrong.push(`${flaw} after ${sent.join(' | ')}`)
    })
    socket.on('open', () => {
      this.counts.opened++
      for (let left = chance.below(MESSAGES_MAX); left > 0; left--) {
        const message = this.#message(chance)
        sent.push(message.slice(0, 100))
        this.counts.sent++
        if (chance.happens(0.05)) socket.ping(message.slice(0, 50))
        else socket.send(chance.happens(0.05) ? Buffer.from(message) : message, { binary: chance.happens(0.05) })
      }
    })
    const late = setTimeout(() => socket.close(1000), ROUND_MS * chance.uniform())
    const tooLate = setTimeout(() => socket.terminate(), ROUND_MS * 2)
    await closed
    clearTimeout(late)
    clearTimeout(tooLate)
    return wrong
  }

  #message(chance: Chance): string {
    const one = <T>(items: readonly T[]): T => items[chance.below(items.length)] as T
    if (chance.happens(0.1)) return one(RAW)
    const ids = Array.from(
      { length: chance.below(6) },
      () => this.#options.knownValues.find('instrumentId', chance) ?? one(ODD),
    )
    const fields = {
      type: one(TYPES.slice(0, chance.happens(0.8) ? 4 : TYPES.length)),
      id: chance.happens(0.8) ? chance.below(100) : one(ODD),
      instrumentIds: chance.happens(0.8) ? ids : one(ODD),
      since: chance.happens(0.5)
        ? undefined
        : one([{ epoch: 1, seq: chance.below(50) }, String(chance.below(9)), ...ODD]),
      ...(chance.happens(0.1) ? { extra: one(ODD) } : {}),
    }
    return JSON.stringify(fields)
  }

  /** Why a text does not fit the protocol message that it claims to be. */
  #flawOfReply(text: string): string | null {
    const { type } = JSON.parse(text) as { type?: string }
    const pointer = `feed#/components/messages/${type}/payload`
    const fits = type !== undefined && /^\w+$/.test(type) ? this.#ajv.getSchema(pointer) : undefined
    if (fits === undefined) return `a message outside the protocol: ${text.slice(0, 200)}`
    return fits(JSON.parse(text)) ? null : `${this.#ajv.errorsText(fits.errors)} in ${text.slice(0, 400)}`
  }

  async #address(chance: Chance): Promise<string | null> {
    const { url, knownValues } = this.#options
    const cookie = knownValues.users[chance.below(knownValues.users.length)] ?? ''
    const response = await fetch(`${url}/api/ws/token`, {
      method: 'POST',
      headers: { cookie, 'x-forwarded-for': `192.168.${chance.below(256)}.${chance.below(256)}` },
    })
    if (!response.ok) return null
    const { token, wsUrl } = (await response.json()) as { token: string; wsUrl: string }
    return `${wsUrl}/?token=${token}`
  }
}

function flawOfFrame(bytes: Buffer): string | null {
  return decodePriceFrame(bytes) === null ? `${bytes.length} bytes are not a frame` : null
}
