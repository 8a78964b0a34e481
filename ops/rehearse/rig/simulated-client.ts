/** A signed-in HTTP client and the shapes of its answers. Its cookie stays valid after a restart of the server. */
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { microsFromDecimal } from '../../../actors/kernel/micros.ts'

/** A decimal of an answer as micros. */
export const micros = z.number().transform((value) => present(microsFromDecimal(value), `decimal ${value}`))

const Position = z.looseObject({
  id: z.string(),
  instrumentId: z.string(),
  purse: z.string(),
  direction: z.enum(['long', 'short']),
  lotSize: micros,
  openPrice: micros,
  margin: micros,
  stopLoss: micros.nullable(),
  takeProfit: micros.nullable(),
  status: z.enum(['open', 'closed']),
  closableAt: z.iso.datetime().transform((text) => Date.parse(text)),
  closePrice: micros.nullable(),
  realizedPnl: micros.nullable(),
  closedBy: z.string().nullable(),
  voidReason: z.string().nullable(),
})
export const Wallet = z.looseObject({ balance: micros, marginUsed: micros })
const Event = z.looseObject({
  marker: z.string().transform(Number),
  type: z.enum(['opened', 'changed', 'margin_warning', 'closed', 'corrected']),
  position: Position,
})
export const Instrument = z.looseObject({
  id: z.string(),
  currentPrice: z.number(),
  live_base_price: z.number(),
  net_position_imbalance: micros,
  tradingStatus: z.enum(['OPEN', 'SUSPENDED', 'CLOSED']),
})

export const Trade = z.looseObject({ position: Position, wallet: Wallet })
export const Changes = z.looseObject({
  marker: z.string().transform(Number),
  snapshot: z.boolean(),
  events: z.array(Event),
  more: z.boolean(),
})
export const Positions = z.looseObject({ positions: z.array(Position) })
export const Instruments = z.looseObject({ instruments: z.array(Instrument) })
export const Audit = z.looseObject({
  balanced: z.boolean(),
  purses: z.array(z.looseObject({ purse: z.string(), wallets: z.int() })),
})
export const Failure = z.looseObject({ code: z.string() })

export type PositionSeen = z.output<typeof Position>
export type EventSeen = z.output<typeof Event>
export type InstrumentSeen = z.output<typeof Instrument>

export interface Answer {
  readonly status: number
  /** Whether it is the stored answer of an earlier request with the same key. */
  readonly repeated: boolean
  readonly body: unknown
}

/**
 * No answer came: the connection was refused, broke, or stayed silent, or a proxy answered for the server. The command
 * may have been carried out.
 */
export type Reply = Answer | 'lost'

/** A live server answers sooner than this, however busy it is. */
const SILENCE_MS = 10_000
/** A read succeeds within this time, whatever happened to the server and however busy the machine is. */
const PATIENCE_MS = 60_000
const AGAIN_MS = 100

export class SimulatedClient {
  readonly name: string
  userId = ''
  #cookie = ''

  constructor(name: string) {
    this.name = name
  }

  async signIn(url: string): Promise<void> {
    const response = await fetch(`${url}/api/auth/dev`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: this.name }),
    })
    if (!response.ok) throw new Error(`${this.name} cannot sign in: ${response.status} ${await response.text()}`)
    const SignedIn = z.looseObject({ user: z.looseObject({ userId: z.string() }) })
    this.userId = SignedIn.parse(await response.json()).user.userId
    this.#cookie = response.headers
      .getSetCookie()
      .map((set) => set.slice(0, set.indexOf(';')))
      .join('; ')
  }

  async ask(url: string, method: string, path: string, body?: unknown, key?: string): Promise<Reply> {
    const headers = {
      cookie: this.#cookie,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    }
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    let response: Response
    let text: string
    try {
      response = await fetch(url + path, { method, headers, ...content, signal: AbortSignal.timeout(SILENCE_MS) })
      text = await response.text()
    } catch {
      return 'lost' // half an answer counts as no answer
    }
    if (response.headers.get('content-type')?.startsWith('application/json') !== true) return 'lost'
    const repeated = response.headers.get('idempotent-replayed') === 'true'
    return { status: response.status, repeated, body: JSON.parse(text) }
  }

  /** Reads something that must exist, if not immediately. Throws if it does not. */
  async read<T>(url: string, path: string, shape: z.ZodType<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      const reply = await this.ask(url, 'GET', path)
      if (reply !== 'lost' && reply.status === 200) return shape.parse(reply.body)
      const mayPass = reply === 'lost' || reply.status === 503
      if (!mayPass || performance.now() > until) throw new Error(`${this.name} reads ${path}: ${JSON.stringify(reply)}`)
      await pause(AGAIN_MS)
    }
  }
}
