/** Lets a strategy trade on a server: prices from the feed, everything else over REST, with a personal key. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { Feed } from '../../src/web/client/feed.ts'
import type { PriceFrame } from '../../src/web/client/price-frame.ts'
import type { HeldPosition, Order, SeenInstrument, Strategy } from './strategy.ts'

export interface LiveOptions {
  /** Where the API is, without a slash at the end. */
  readonly url: string
  /** A personal key with the scope `trade`. */
  readonly key: string
  readonly strategy: Strategy
  /** Ends after this many orders that the server has carried out. */
  readonly ordersMax: number
  /** One line for each order, with its outcome. */
  readonly log: (line: string) => void
}

/** Between two looks at the market: its strategy is asked at most this often. */
const TURN_MS = 1_000
/** Orders of one turn: the server takes ten at once, and sixty a minute. */
const ORDERS_A_TURN = 10
/** Turns after which wallet and positions are read again, and players are listed again. */
const [ACCOUNT_TURNS, LIST_TURNS] = [10, 30]

const Listed = z.object({
  instruments: z.array(
    z.object({
      id: z.string(),
      fixtureId: z.number(),
      name: z.string(),
      position: z.string(),
      currentPrice: z.number(),
      live_base_price: z.number(),
      net_position_imbalance: z.number(),
      tradingStatus: z.enum(['OPEN', 'SUSPENDED', 'CLOSED']),
    }),
  ),
})
const Held = z.object({
  positions: z.array(
    z.object({
      id: z.string(),
      instrumentId: z.string(),
      direction: z.enum(['long', 'short']),
      lotSize: z.number(),
      openPrice: z.number(),
      margin: z.number(),
      closableAt: z.string(),
      unrealizedPnl: z.number(),
    }),
  ),
})
const Funds = z.object({ freeMargin: z.number() })
const Token = z.object({ token: z.string(), wsUrl: z.string() })
const Refusal = z.object({ error: z.string(), code: z.string() })

type Answer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly status: number; readonly error: string }

/** Rejects when the key is refused. Everything else that goes wrong is tried again. */
export async function tradeLive({ url, key, strategy, ordersMax, log }: LiveOptions): Promise<void> {
  const ask = asker(url, key)
  const known = new Map<string, SeenInstrument>()
  /** Whether a price has moved, or the account has changed, since the strategy was asked last. */
  let [hasMoved, isAccountOld] = [true, true]
  let account: { readonly positions: readonly HeldPosition[]; readonly freeMargin: number } | null = null
  let serverAhead = 0
  const feed = new Feed({
    token: async () => Token.parse(await must(ask, 'POST', '/api/ws/token')),
    onPrice: (frame) => {
      const listed = known.get(frame.instrumentId)
      if (listed === undefined) return
      known.set(frame.instrumentId, { ...listed, ...pricesIn(frame) })
      hasMoved = true
    },
    onAccount: () => (isAccountOld = true),
    onNotice: () => undefined,
    onState: () => undefined,
    onServerTime: (at) => (serverAhead = at - Date.now()),
  })
  const decide = strategy({ trader: 0, random: Math.random })
  // The first requests fail at once when the key is wrong.
  await must(ask, 'GET', '/api/wallet')
  feed.start()
  try {
    for (let [turn, done] = [0, 0]; done < ordersMax; turn++, await sleep(TURN_MS)) {
      if (turn % LIST_TURNS === 0) {
        const listed = await ask('GET', '/api/instruments')
        if (listed.ok) {
          const { instruments } = Listed.parse(listed.body)
          for (const { fixtureId: _, ...one } of instruments) known.set(one.id, { ...one, ...known.get(one.id) })
          feed.follow(instruments.map(({ id, fixtureId }) => ({ instrumentId: id, fixtureId })))
        }
      }
      if (isAccountOld || turn % ACCOUNT_TURNS === 0) {
        isAccountOld = false
        account = (await accountOf(ask)) ?? account
      }
      if (!hasMoved || account === null) continue
      hasMoved = false
      const orders = decide({ now: Date.now() + serverAhead, instruments: [...known.values()], ...account })
      for (const order of orders.slice(0, Math.min(ORDERS_A_TURN, ordersMax - done))) {
        const answer = await send(ask, order, known)
        log(`${wordsOf(order, known)}: ${answer.ok ? 'done' : answer.error}`)
        if (answer.ok) done++
        isAccountOld = true
      }
    }
  } finally {
    feed.stop()
  }
}

const pricesIn = ({ price, liveBase, imbalance, tradingStatus }: PriceFrame) => ({
  currentPrice: price,
  live_base_price: liveBase,
  net_position_imbalance: imbalance,
  tradingStatus,
})

type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>

/** Waits as long as the server asks it to, once; then the refusal is the answer. */
const asker =
  (url: string, key: string): Ask =>
  async (method, path, body) => {
    const request = async (): Promise<Response> =>
      fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    try {
      let response = await request()
      if (response.status === 429) {
        await sleep(1_000 * Math.min(60, Number(response.headers.get('retry-after') ?? 1)))
        response = await request()
      }
      const answer: unknown = await response.json()
      if (response.ok) return { ok: true, body: answer }
      const refusal = Refusal.safeParse(answer)
      const error = refusal.success ? `${refusal.data.error} (${refusal.data.code})` : `status ${response.status}`
      if (response.status === 401 || response.status === 403) throw new KeyRefused(error)
      return { ok: false, status: response.status, error }
    } catch (error) {
      if (error instanceof KeyRefused) throw error
      return { ok: false, status: 0, error: error instanceof Error ? error.message : String(error) }
    }
  }

class KeyRefused extends Error {}

async function must(ask: Ask, method: string, path: string): Promise<unknown> {
  const answer = await ask(method, path)
  if (!answer.ok) throw new Error(`${path}: ${answer.error}`)
  return answer.body
}

async function accountOf(ask: Ask) {
  const [held, funds] = await Promise.all([ask('GET', '/api/positions'), ask('GET', '/api/wallet')])
  if (!held.ok || !funds.ok) return null
  const positions = Held.parse(held.body).positions.map((one): HeldPosition => ({
    ...one,
    closableAt: Date.parse(one.closableAt),
  }))
  return { positions, freeMargin: Funds.parse(funds.body).freeMargin }
}

function send(ask: Ask, order: Order, known: ReadonlyMap<string, SeenInstrument>): Promise<Answer> {
  if (order.kind === 'close') return ask('POST', `/api/positions/${order.positionId}/close`, {})
  const { kind: _, ...rest } = order
  if ('positionId' in rest) {
    const { positionId, ...levels } = rest
    return ask('PATCH', `/api/positions/${positionId}`, levels)
  }
  return ask('POST', '/api/positions/open', { ...rest, clientPrice: known.get(rest.instrumentId)?.currentPrice })
}

function wordsOf(order: Order, known: ReadonlyMap<string, SeenInstrument>): string {
  if (order.kind !== 'open') return `${order.kind} ${order.positionId}`
  const one = known.get(order.instrumentId)
  return `${order.direction} ${order.lotSize} ${one?.name ?? order.instrumentId} at ${one?.currentPrice ?? 'unknown'}`
}
