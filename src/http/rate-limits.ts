/** Rate limits per address and per user, and their `RateLimit` headers. */
import type { Context, MiddlewareHandler } from 'hono'
import type { UserId } from '../../actors/kernel/ids.ts'
import { MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import type { Hits, Spent } from '../../db/fast/fast-store.ts'
import { type Answer, answerWith, fail, type HttpEnv } from './answers.ts'
import { addressOf, siteOf } from './client-address.ts'

/** What is limited per user, each by itself. */
export type Order = 'open' | 'close' | 'change'
const ORDERS_PER_MINUTE = 60

/**
 * Each is one read of the database; a process asks again about a key once a minute. Keys that count for nothing meet
 * the limit of their address long before.
 */
const KEY_LOOKUPS_PER_MINUTE = 600
/** Each may be one read of the database, and tell whether a code is right. */
const SHARES_PER_MINUTE = 60

/** Counts calls, over all processes if they share a fast store. */
interface Rates {
  hit(route: string, caller: string, windowMs: number): Promise<Hits>
  spend(action: string, caller: string, perMinute: number): Promise<Spent>
}

export interface RateLimitOptions {
  /** Requests a minute from one address, over all routes; 0 disables every limit. */
  readonly perMinute: number
  /** The networks of one IPv6 site together may send this many times the requests of one address; 0: no bound. */
  readonly siteFactor: number
  /** How many proxies of the deployment stand before this process. */
  readonly trustedProxies: number
  readonly rates: Rates
}

type Excess = Answer<429> | null

/** The part of a context that counting needs, independent of what the gates add to it. */
type Counting = Pick<Context, 'header' | 'req'> & { readonly env: HttpEnv['Bindings'] }

export interface RateLimits {
  /**
   * Counts a key that this process must look up against its address, before that costs a read. Returns an answer if it
   * exceeds the limit.
   */
  readonly countLookup: (c: Counting) => Promise<Excess>
  /** Counts a look at an address that people share. Returns an answer if it exceeds the limit. */
  readonly countShare: (c: Counting) => Promise<Excess>
  /** Counts an order of a user. Returns an answer if there were as many as may be in the minute before it. */
  readonly countOrder: (c: Counting, order: Order, user: UserId) => Promise<Excess>
  /**
   * Passes requests within the limit per address. A request with a key that counts is limited by its user instead, as
   * often as an address is, over all keys of the user: a second key gives no user more.
   */
  readonly perAddress: MiddlewareHandler<HttpEnv>
  /** Passes requests within the limit of one route, in addition to the one above. Clients see the limit's name. */
  readonly perRoute: (name: string, perMinute: number) => MiddlewareHandler<HttpEnv>
}

export function createRateLimits({ perMinute, siteFactor, trustedProxies, rates }: RateLimitOptions): RateLimits {
  const isOff = perMinute === 0
  const countRequest = async (c: Counting, name: string, limit: number, user?: UserId): Promise<Excess> => {
    if (isOff) return null
    const caller = user ?? addressOf(c, trustedProxies)
    const [{ count, endsInMs }, site] = await Promise.all([rates.hit(name, caller, MINUTE_MS), hitSite(name, caller)])
    setHeaders(c, { name, quota: `q=${limit};w=60`, left: limit - count, inMs: endsInMs })
    if (count > limit) return tooMany(name, endsInMs)
    return site === null || site.count <= limit * siteFactor ? null : tooMany(name, site.endsInMs)
  }
  /** Of one site all its networks together, which are as many as an attacker needs. */
  const hitSite = async (name: string, caller: string) => {
    const site = siteFactor === 0 ? null : siteOf(caller)
    return site === null ? null : rates.hit(name, site, MINUTE_MS)
  }
  const countAddress = (c: Counting): Promise<Excess> => countRequest(c, 'global', perMinute)
  const passing =
    (count: (c: Counting) => Promise<Excess>): MiddlewareHandler<HttpEnv> =>
    async (c, next) => {
      const excess = await count(c)
      return excess === null ? next() : fail(c, excess)
    }

  return {
    countLookup: (c) => countRequest(c, 'key-lookups', KEY_LOOKUPS_PER_MINUTE),
    countShare: (c) => countRequest(c, 'shares', SHARES_PER_MINUTE),
    countOrder: async (c, order, user) => {
      if (isOff) return null
      const { allowed, left, inMs } = await rates.spend(order, user, ORDERS_PER_MINUTE)
      setHeaders(c, { name: order, quota: `q=${ORDERS_PER_MINUTE};w=60`, left, inMs })
      return allowed ? null : tooMany(order, inMs)
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
