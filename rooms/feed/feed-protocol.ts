/** The control messages of the price feed, `feed.v1`: what a socket may say, and what it is told. Prices are not among them. */
import type { RawData } from 'ws'
import { z } from 'zod'

export const SUBPROTOCOL = 'feed.v1'
/** Ids that one message may name: so many UUIDs fit it. Whoever follows more names the rest in another. */
export const INSTRUMENTS_PER_MESSAGE_MAX = 400

const correlation = z.int().nonnegative().optional()
const instrumentIds = z.array(z.string().max(64)).min(1).max(INSTRUMENTS_PER_MESSAGE_MAX)
/** The newest frame of one match that the client has: it gets what came after, not a snapshot. */
const since = z.object({ epoch: z.int().nonnegative(), seq: z.int().nonnegative() }).optional()

/** What follows `type` and `id` in a request, and all there is to a message of the match room. */
export const Follow = z.object({ instrumentIds, since })
export const Unfollow = z.object({ instrumentIds })
/** The marker of the last account event that the client has; without one it gets a snapshot of its open positions. */
export const ListenToAccount = z.object({
  since: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a marker')
    .optional(),
})

export const FeedRequest = z.discriminatedUnion('type', [
  z.object({ type: z.literal('subscribe'), id: correlation, ...Follow.shape }),
  z.object({ type: z.literal('unsubscribe'), id: correlation, ...Unfollow.shape }),
  z.object({ type: z.literal('account'), id: correlation, ...ListenToAccount.shape }),
  z.object({ type: z.literal('ping'), id: correlation }),
])

/** `id` is the client's own and comes back with the answer. */
export type FeedRequest = z.infer<typeof FeedRequest>

/**
 * `not_found`: nobody publishes such an instrument, now or on demand. `limit`: the socket follows 500 already. `busy`: nobody
 * can say yet how it stands, because its match is being taken over, or because the socket has named too many at once that
 * nobody publishes; ask again in a second.
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
   * What happened to the user's positions up to `marker`, as `GET /api/account/changes` shows it. `id` is that of the
   * request in the answer to it, and absent in what follows.
   */
  | { readonly type: 'account'; readonly id: number | undefined; readonly [field: string]: unknown }
  /** The server is about to restart; come back after this long, not at once like everybody else. */
  | { readonly type: 'shutdown'; readonly reconnectInMs: number }
  | {
      readonly type: 'error'
      readonly id: number | undefined
      readonly code: 'bad_message' | 'unavailable' | 'busy'
      readonly message: string
    }

/** What makes no sense: why, and under which id it was asked where that can be read. */
export interface InvalidRequest {
  readonly wrong: string
  readonly id?: number | undefined
}
const Identified = z.object({ id: correlation })

/** The request in a text message, or what is wrong with it. */
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
  const wrong = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
  return { wrong, id: Identified.safeParse(json).data?.id }
}

// `ws` hands over one Buffer, several, or an ArrayBuffer, whatever its `binaryType`.
function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('utf8') : data.toString('utf8')
}
