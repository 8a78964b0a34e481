/** How often who may ask for what, and the headers that say how often he still may. */
import type { Context, MiddlewareHandler } from 'hono'
import type { UserId } from '../../actors/kernel/ids.ts'
import { MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { type Answer, answerWith, fail, type HttpEnv } from './answers.ts'
import { clientAddress } from './client-address.ts'
import type { Rates } from './ports.ts'

/** Requests a minute from one address, of routes that have a limit besides the common one. */
const ROUTE_LIMITS = {
  google: 20,
  complete: 10,
  'verify-otp': 10,
  'resend-otp': 5,
  'check-username': 60,
  'referral-validate': 10,
  'own-referral-validate': 30,
  'referral-invites': 30,
} as const
export type LimitedRoute = keyof typeof ROUTE_LIMITS

/** What a user may do to positions sixty times a minute each, and ten times at once. */
export type LimitedAction = 'open' | 'close' | 'change'
const PER_ACTION = { everyMs: SECOND_MS, burst: 10 } as const
const ACTION_QUOTA = `q=${MINUTE_MS / PER_ACTION.everyMs};w=60;burst=${PER_ACTION.burst}`

export interface RateLimitOptions {
  /** Requests a minute from one address, all routes together; 0 switches every limit off. */
  readonly perMinute: number
  /** Proxies of ours that a request has come through. */
  readonly trustedProxies: number
  readonly rates: Rates
}

type Excess = Answer<429> | null

/** As much of a context as counting takes, whatever its gates have put into it. */
type Counting = Pick<Context, 'header' | 'req'> & { readonly env: HttpEnv['Bindings'] }

export interface RateLimits {
  /** Counts a request against its address; an answer when it was one too many. */
  readonly countAddress: (c: Counting) => Promise<Excess>
  /** Counts what a user does; an answer when it was one too many. */
  readonly countAction: (c: Counting, action: LimitedAction, user: UserId) => Promise<Excess>
  /** Lets requests pass that their address is still allowed. */
  readonly perAddress: MiddlewareHandler<HttpEnv>
  /** The same for one route. */
  readonly perRoute: (route: LimitedRoute) => MiddlewareHandler<HttpEnv>
}

export function createRateLimits({ perMinute, trustedProxies, rates }: RateLimitOptions): RateLimits {
  const isOff = perMinute === 0
  const addressOf = (c: Counting): string => {
    const peer = c.env?.incoming?.socket.remoteAddress
    return clientAddress({ peer, forwardedFor: c.req.header('x-forwarded-for') }, trustedProxies)
  }

  const countRequest = async (c: Counting, name: string, limit: number): Promise<Excess> => {
    if (isOff) return null
    const { count, endsInMs } = await rates.hit(name, addressOf(c), MINUTE_MS)
    tell(c, { name, quota: `q=${limit};w=60`, left: limit - count, inMs: endsInMs })
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
    countAction: async (c, action, user) => {
      if (isOff) return null
      const { allowed, left, inMs } = await rates.spend(action, user, PER_ACTION)
      tell(c, { name: action, quota: ACTION_QUOTA, left, inMs })
      return allowed ? null : tooMany(action, inMs)
    },
    perAddress: passing(countAddress),
    perRoute: (route) => passing((c) => countRequest(c, route, ROUTE_LIMITS[route])),
  }
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / SECOND_MS))

const tooMany = (limit: string, inMs: number): Answer<429> =>
  answerWith('RATE_LIMITED', { facts: { limit }, retryAfterSecs: seconds(inMs) })

interface Told {
  readonly name: string
  readonly quota: string
  readonly left: number
  /** Until there is more to be had. */
  readonly inMs: number
}

/** The IETF's RateLimit headers: a list, with one member for each limit that a request counts against. */
function tell(c: Counting, { name, quota, left, inMs }: Told): void {
  c.header('RateLimit-Policy', `"${name}";${quota}`, { append: true })
  c.header('RateLimit', `"${name}";r=${Math.max(0, left)};t=${seconds(inMs)}`, { append: true })
}
