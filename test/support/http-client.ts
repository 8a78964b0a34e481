/** A user over HTTP, as a browser would be: with a cookie jar, and schemas that the answers must match. */
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { apiJudge } from '../http/http-rig.ts'
import { fixtureId, instrumentId, positionId, userId } from '../../actors/kernel/ids.ts'
import { InstrumentBody, MatchBody, PositionBody, WalletBody } from '../../src/http/schemas.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The body as JSON, unchecked. */
  readonly body: unknown
}

const Wallet = WalletBody.loose()
const User = z.looseObject({ userId: z.uuid().transform(userId), username: z.string(), wallet: Wallet })
const Instrument = InstrumentBody.loose().extend({ id: z.uuid().transform(instrumentId) })
const Position = PositionBody.loose().extend({
  id: z.uuid().transform(positionId),
  instrumentId: z.uuid().transform(instrumentId),
})
const Match = MatchBody.loose().extend({ id: z.int().transform(fixtureId) })
const Quote = z.looseObject({
  fillPrice: z.number(),
  margin: z.number(),
  maxLotSize: z.number(),
  refusal: z.looseObject({ code: z.string() }).nullable(),
})

export const TradeAnswer = z.strictObject({ position: Position, wallet: Wallet, warnings: z.array(z.unknown()) })
/** The answer to a close: what stays open of the position, null when nothing does. */
export const CloseAnswer = TradeAnswer.extend({ rest: Position.nullable() })
export type InstrumentSeen = z.output<typeof Instrument>
export type PositionSeen = z.output<typeof Position>

export interface Order {
  readonly instrumentId: string
  readonly purse?: string
  readonly direction: 'long' | 'short'
  readonly lotSize: number
  readonly clientPrice: number
  readonly stopLoss?: number | null
  readonly takeProfit?: number | null
}

export class HttpClient {
  /** The server's address; a test sets it again after a restart. */
  url: string
  readonly #cookies = new Map<string, string>()

  constructor(url: string) {
    this.url = url
  }

  /** Signed in under this name. */
  static async of(url: string, name: string): Promise<HttpClient> {
    const client = new HttpClient(url)
    await client.signIn(name)
    return client
  }

  cookie(name: string): string {
    return present(this.#cookies.get(name), `the cookie ${name}`)
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(this.url + path, {
      method,
      headers: { cookie, ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      this.#cookies.set(name, value)
    }
    const answer: Answer = { status: response.status, headers: response.headers, body: await response.json() }
    const { judge } = await apiJudge()
    const contentType = answer.headers.get('content-type')
    const wrong = judge({ method, path, ...answer, contentType, headers: [...answer.headers.keys()] })
    if (wrong !== null) throw new Error(wrong)
    return answer
  }

  /** Requests a body that must arrive with status 200. */
  async get<T>(path: string, shape: z.ZodType<T>): Promise<T> {
    return read(await this.request('GET', path), 200, shape)
  }

  async signIn(displayName: string): Promise<z.output<typeof User>> {
    const answer = await this.request('POST', '/api/auth/dev', { displayName })
    return read(answer, 200, z.looseObject({ user: User })).user
  }

  wallet(purse = 'main') {
    return this.get(`/api/wallet?purse=${purse}`, Wallet)
  }

  async instruments(): Promise<readonly InstrumentSeen[]> {
    return (await this.get('/api/instruments', z.strictObject({ instruments: z.array(Instrument) }))).instruments
  }

  instrument(id: string) {
    return this.get(`/api/instruments/${id}`, Instrument)
  }

  async matches() {
    return (await this.get('/api/matches', z.strictObject({ matches: z.array(Match) }))).matches
  }

  async positions(status: 'open' | 'closed' | 'all' = 'open'): Promise<readonly PositionSeen[]> {
    const page = await this.get(
      `/api/positions?status=${status}`,
      z.strictObject({ positions: z.array(Position), nextCursor: z.string().nullable() }),
    )
    return page.positions
  }

  async quote(order: Omit<Order, 'clientPrice'>) {
    return read(await this.request('POST', '/api/positions/quote', order), 200, Quote)
  }

  open(order: Order, key?: string): Promise<Answer> {
    return this.request('POST', '/api/positions/open', order, key === undefined ? {} : { 'Idempotency-Key': key })
  }

  /** Opens a position; throws if it is refused. */
  async opens(order: Order, key?: string): Promise<z.output<typeof TradeAnswer>> {
    return read(await this.open(order, key), 201, TradeAnswer)
  }

  change(id: string, levels: Pick<Order, 'stopLoss' | 'takeProfit'>): Promise<Answer> {
    return this.request('PATCH', `/api/positions/${id}`, levels)
  }

  close(id: string, clientRequestId: string): Promise<Answer> {
    return this.request('POST', `/api/positions/${id}/close`, { clientRequestId })
  }

  /** A WebSocket ticket and the address it is for. */
  async ticket() {
    const Ticket = z.strictObject({ token: z.string(), expiresIn: z.literal(60), wsUrl: z.string() })
    return read(await this.request('POST', '/api/ws/token'), 200, Ticket)
  }

  /** The address of a WebSocket client, ticket included. */
  async socketUrl(): Promise<string> {
    const { wsUrl, token } = await this.ticket()
    return `${wsUrl}/?token=${token}`
  }
}

/** The body of an answer, which must have this status and this shape. */
export function read<T>(answer: Answer, status: number, shape: z.ZodType<T>): T {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`)
  return shape.parse(answer.body)
}

/** The first instrument that is open for trading and matches the condition. */
export function pick(
  instruments: readonly InstrumentSeen[],
  wanted: (instrument: InstrumentSeen) => boolean = () => true,
): InstrumentSeen {
  return present(
    instruments.find((i) => i.tradingStatus === 'OPEN' && wanted(i)),
    'an instrument that takes trades',
  )
}
