/** Rate limits per address and per user, and their `RateLimit` headers. */
import type { Context, MiddlewareHandler } from 'hono'
import type { UserId } from '../../actors/kernel/ids.ts'
import { MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import type { Allowance } from '../../db/fast/fast-store.ts'
import { type Answer, answerWith, fail, type HttpEnv } from './answers.ts'
import { addressOf } from './client-address.ts'
import type { Rates } from './ports.ts'

/** What is limited per user. */
export type LimitedAction = 'open' | 'close' | 'change' | 'refill' | 'league' | 'export'
/** Positions: 60 times a minute each, with bursts of 10. */
const TRADE: Allowance = { everyMs: SECOND_MS, burst: 10 }
const ALLOWANCES: Readonly<Record<LimitedAction, Allowance>> = {
  open: TRADE,
  close: TRADE,
  change: TRADE,
  refill: { everyMs: MINUTE_MS, burst: 3 },
  league: { everyMs: MINUTE_MS, burst: 10 },
  export: { everyMs: MINUTE_MS, burst: 2 },
}
/** Orders skip the limit over all routes, so that a school behind one address can play; this bounds them instead. */
export const ORDERS: ReadonlySet<LimitedAction> = new Set(['open', 'close', 'change'])
const ORDERS_PER_MINUTE = 3_000

const quotaOf = ({ everyMs, burst }: Allowance): string => `q=${MINUTE_MS / everyMs};w=60;burst=${burst}`

/** Each is one read of the database; a process asks again about a key once a minute. */
const KEY_LOOKUPS_PER_MINUTE = 600

export interface RateLimitOptions {
  /** Requests a minute from one address, over all routes; 0 disables every limit. */
  readonly perMinute: number
  /** How many proxies of the deployment stand before this process. */
  readonly trustedProxies: number
  readonly rates: Rates
}

type Excess = Answer<429> | null

/** The part of a context that counting needs, independent of what the gates add to it. */
type Counting = Pick<Context, 'header' | 'req'> & { readonly env: HttpEnv['Bindings'] }

export interface RateLimits {
  /** Counts a request against its address. Returns an answer if it exceeds the limit. */
  readonly countAddress: (c: Counting) => Promise<Excess>
  /** Counts a key that this process must look up against its address. Returns an answer if it exceeds the limit. */
  readonly countLookup: (c: Counting) => Promise<Excess>
  /** Counts an action of a user, an order also against its address. Returns an answer if either limit is exceeded. */
  readonly countAction: (c: Counting, action: LimitedAction, user: UserId) => Promise<Excess>
  /**
   * Passes requests within the limit per address. A request with a key that counts is limited by its user instead, as
   * often as an address is, over all keys of the user: a second key gives no user more.
   */
  readonly perAddress: MiddlewareHandler<HttpEnv>
  /** Passes requests within the limit of one route, in addition to the one above. Clients see the limit's name. */
  readonly perRoute: (name: string, perMinute: number) => MiddlewareHandler<HttpEnv>
}

export function createRateLimits({ perMinute, trustedProxies, rates }: RateLimitOptions): RateLimits {
  const isOff = perMinute === 0
  const countRequest = async (
    c: Counting,
    name: string,
    limit: number,
    caller: string = addressOf(c, trustedProxies),
  ): Promise<Excess> => {
    if (isOff) return null
    const { count, endsInMs } = await rates.hit(name, caller, MINUTE_MS)
    setHeaders(c, { name, quota: `q=${limit};w=60`, left: limit - count, inMs: endsInMs })
    return count <= limit ? null : tooMany(name, endsInMs)
  }
  const countAddress = (c: Counting): Promise<Excess> => countRequest(c, 'global', perMinute)
  const passing =
    (count: (c: Counting) => Promise<Excess>): MiddlewareHandler<HttpEnv> =>
    async (c, next) => {
      const excess = await count(c)
      return excess === null ? next() : fail(c, excess)
    }

  return {
    countAddress,
    countLookup: (c) => countRequest(c, 'key-lookups', KEY_LOOKUPS_PER_MINUTE),
    countAction: async (c, action, user) => {
      if (isOff) return null
      // Asked together: one more round trip to the fast store would be felt by every order.
      const [{ allowed, left, inMs }, crowd] = await Promise.all([
        rates.spend(action, user, ALLOWANCES[action]),
        ORDERS.has(action) ? countRequest(c, 'orders', ORDERS_PER_MINUTE) : null,
      ])
      setHeaders(c, { name: action, quota: quotaOf(ALLOWANCES[action]), left, inMs })
      return allowed ? crowd : tooMany(action, inMs)
    },
    perAddress: async (c, next) => {
      const { key } = c.var
      const excess = await (key ? countRequest(c, 'keys', perMinute, key.userId) : countAddress(c))
      return excess === null ? next() : fail(c, excess)
    },
    perRoute: (name, limit) => passing((c) => countRequest(c, name, limit)),
  }
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / SECOND_MS))

const tooMany = (limit: string, inMs: number): Answer<429> =>
  answerWith('RATE_LIMITED', { facts: { limit }, retryAfterSecs: seconds(inMs) })

interface LimitState {
  readonly name: string
  readonly quota: string
  readonly left: number
  /** Until more requests are allowed. */
  readonly inMs: number
}

/** The IETF's RateLimit headers: a list, with one member for each limit that a request counts against. */
function setHeaders(c: Counting, { name, quota, left, inMs }: LimitState): void {
  c.header('RateLimit-Policy', `"${name}";${quota}`, { append: true })
  c.header('RateLimit', `"${name}";r=${Math.max(0, left)};t=${seconds(inMs)}`, { append: true })
}
