/**
 * The control messages of the price feed, `feed.v1`: requests and replies. Prices are binary frames, see
 * `price-frame.ts`.
 */
import type { RawData } from 'ws'
import { z } from 'zod'

/** Ids in one message: as many UUIDs as fit. A client that follows more sends several messages. */
export const INSTRUMENTS_PER_MESSAGE_MAX = 400

const PROBLEMS_MAX = 5

const correlation = z.int().nonnegative().optional()
const instrumentIds = z.array(z.string().max(64)).min(1).max(INSTRUMENTS_PER_MESSAGE_MAX)
/** The newest frame of a match that the client has: it gets the moves after it, not a snapshot. */
const since = z.object({ epoch: z.int().nonnegative(), seq: z.int().nonnegative() }).optional()

/** A request without `type` and `id`, which is also the payload of the match room's message of that type. */
export const Follow = z.object({ instrumentIds, since })
export const Unfollow = z.object({ instrumentIds })
export type Unfollow = z.infer<typeof Unfollow>
/** The marker of the last account event that the client has; without one it gets a snapshot of its open positions. */
export const FollowAccount = z.object({
  since: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a marker')
    .optional(),
})
export type FollowAccount = z.infer<typeof FollowAccount>

export const FeedRequest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('subscribe'), id: correlation, ...Follow.shape }),
  z.object({ type: z.literal('unsubscribe'), id: correlation, ...Unfollow.shape }),
  z.object({ type: z.literal('account'), id: correlation, ...FollowAccount.shape }),
  z.object({ type: z.literal('ping'), id: correlation }),
])

/** The client chooses `id`, and the answer repeats it. */
export type FeedRequest = z.infer<typeof FeedRequest>

/**
 * `not_found`: no match publishes the instrument, now or on demand. `limit`: the socket follows 500 already. `busy`:
 * the price is not available yet, because another process is taking over the match or because the socket has named too
 * many unpublished instruments at once; ask again in a second.
 */
export type RejectionCode = 'not_found' | 'limit' | 'busy'

export interface Rejection {
  readonly instrumentId: string
  readonly code: RejectionCode
}

export type FeedReply =
  | {
      readonly type: 'subscribed'
      readonly id: number | undefined
      readonly instrumentIds: readonly string[]
      readonly rejected: readonly Rejection[]
    }
  | { readonly type: 'unsubscribed'; readonly id: number | undefined; readonly instrumentIds: readonly string[] }
  | { readonly type: 'pong'; readonly id: number | undefined; readonly serverTime: string }
  | { readonly type: 'heartbeat'; readonly serverTime: string }
  /**
   * The events of the user's positions up to `marker`, as in `GET /api/account/changes`. The answer to the request has
   * its `id`, the later messages have none.
   */
  | { readonly type: 'account'; readonly id: number | undefined; readonly [field: string]: unknown }
  /** The server is about to restart; reconnect after this time, which differs from client to client. */
  | { readonly type: 'shutdown'; readonly reconnectInMs: number }
  | {
      readonly type: 'error'
      readonly id: number | undefined
      readonly code: 'bad_message' | 'unavailable' | 'busy'
      readonly message: string
    }

/** Why a request is invalid, and its id if that can be read. */
export interface InvalidRequest {
  readonly wrong: string
  readonly id?: number | undefined
}
const Identified = z.object({ id: correlation })

/** The request in a text message, or why it is invalid. */
export function parseRequest(data: RawData, isBinary: boolean): FeedRequest | InvalidRequest {
  if (isBinary) return { wrong: 'control messages are JSON text' }
  let json: unknown
  try {
    json = JSON.parse(textOf(data))
  } catch {
    return { wrong: 'not JSON' }
  }
  const parsed = FeedRequest.safeParse(json)
  if (parsed.success) return parsed.data
  return { wrong: problemsIn(parsed.error), id: Identified.safeParse(json).data?.id }
}

/** What is wrong with a message: the first problems, so that no answer is many times as long as its message. */
export function problemsIn({ issues }: z.ZodError): string {
  const told = issues.slice(0, PROBLEMS_MAX).map(({ path, message }) => `${path.join('.')}: ${message}`)
  const left = issues.length - told.length
  return left === 0 ? told.join('; ') : `${told.join('; ')}; and ${left} more`
}

// `ws` passes one Buffer, several, or an ArrayBuffer, depending on its `binaryType`.
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8')
}
