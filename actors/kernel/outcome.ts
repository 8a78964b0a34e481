/**
 * The result of a command: a value, or a refusal from one closed catalogue. Refusals are data: they cross rooms and
 * processes unchanged, and no code may replace one by a more general one.
 */
import type { PositionId } from './ids.ts'
import type { Lots, Money, Price } from './micros.ts'
import type { Instant } from './world.ts'

export type Outcome<T> = { readonly ok: true; readonly value: T } | Refused

export interface Refused {
  readonly ok: false
  readonly refusal: Refusal
  /** True when this is the stored answer to an earlier request with the same idempotency key. */
  readonly repeated: boolean
}

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value })
export const refused = (refusal: Refusal, repeated = false): Refused => ({ ok: false, refusal, repeated })

export const WINDOW_STATUSES = ['OPEN', 'SUSPENDED', 'CLOSED'] as const

/** Whether a match takes trades, and why not. */
export interface TradeWindow {
  readonly status: (typeof WINDOW_STATUSES)[number]
  readonly reason: string | null
}

export type Refusal =
  /** It does not exist or belongs to another user; the two must look alike. */
  | { readonly code: 'not_found'; readonly what: 'instrument' | 'position' | 'match' }
  | { readonly code: 'market_closed'; readonly window: TradeWindow }
  | { readonly code: 'market_suspended'; readonly window: TradeWindow }
  | { readonly code: 'lot_size_invalid'; readonly min: Lots; readonly max: Lots; readonly step: Lots }
  | { readonly code: 'price_moved'; readonly currentPrice: Price; readonly lastPublishedPrice: Price }
  | { readonly code: 'levels_invalid'; readonly currentPrice: Price }
  | { readonly code: 'position_limit'; readonly max: number }
  | {
      readonly code: 'insufficient_margin'
      readonly required: Money
      readonly available: Money
      readonly maxLots: Lots
    }
  /** An operator has frozen the account: it opens nothing. */
  | { readonly code: 'account_frozen' }
  /** The user's own pause has not ended. */
  | { readonly code: 'self_excluded'; readonly until: Instant }
  /** The user's own limit of a day's losses leaves no room for the margin; `OwnBounds` says what counts. */
  | {
      readonly code: 'limit_reached'
      readonly dailyLoss: Money
      readonly lostToday: Money
      readonly atStake: Money
      readonly required: Money
      /** When today's losses stop counting. */
      readonly freeAt: Instant
    }
  /** A position with an invalid record (open price zero). No money moves until an operator has checked it. */
  | { readonly code: 'position_corrupt' }
  | { readonly code: 'position_not_open'; readonly positionId: PositionId }
  | { readonly code: 'cooldown_active'; readonly retryAfterSecs: number; readonly closableAt: Instant }
  /** A command with the same idempotency key is being processed. */
  | { readonly code: 'key_in_flight' }
  /** The idempotency key belongs to another request body. */
  | { readonly code: 'key_reused' }
  /** The match is overloaded. The command had no effect. */
  | { readonly code: 'busy'; readonly retryAfterSecs: number }
  /** No answer in time; the command may have happened. Retrying with the same key finds out. */
  | { readonly code: 'unknown_outcome'; readonly retryAfterSecs: number }

export type RefusalCode = Refusal['code']
