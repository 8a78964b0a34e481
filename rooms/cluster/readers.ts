/**
 * Readers of the game's values in messages from other processes. A reader checks every field, and returns a value of
 * this program's own types or nothing. Unknown fields are dropped: a newer version may send more.
 */
import { z } from 'zod'
import { FixtureId, Instant, InstrumentId, Snapshot } from '../../actors/codec/fixture.ts'
import { leagueId, positionId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { MARGIN_WARNINGS } from '../../actors/kernel/limits.ts'
import { lots, MICROS_MAX, money, price } from '../../actors/kernel/micros.ts'
import { type Outcome, type Refusal, type TradeWindow, WINDOW_STATUSES } from '../../actors/kernel/outcome.ts'
import type { OwnBounds } from '../../actors/kernel/own-limits.ts'
import { type Purse as PurseName, purseNamed } from '../../actors/kernel/purse.ts'
import type { FeedUpdate, Trade, UserCommand } from '../../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { RuleEffect } from '../../actors/match/rule-change.ts'
import { DIRECTIONS, type Position } from '../../actors/position/position.ts'

const micros = z.int().min(-MICROS_MAX).max(MICROS_MAX)
const Money = micros.transform(money)
const Price = micros.transform(price)
const Lots = micros.transform(lots)
const id = z.string().min(1).max(64)
export const PositionId = id.transform(positionId)
export const UserId = id.transform(userId)
export const SessionId = id.transform(sessionId)
const League = z.guid().transform(leagueId)
const Purse: z.ZodType<PurseName, string> = z
  .string()
  .max(36)
  .transform((name, ctx) => {
    const purse = purseNamed(name)
    if (purse !== null) return purse
    ctx.addIssue({ code: 'custom', message: 'is no purse' })
    return z.NEVER
  })
const Direction = z.enum(DIRECTIONS)

const Position: z.ZodType<Position> = z.object({
  id: PositionId,
  partOf: PositionId.exactOptional(),
  userId: UserId,
  purse: Purse,
  instrumentId: InstrumentId,
  fixtureId: FixtureId,
  direction: Direction,
  lots: Lots,
  openPrice: Price,
  openBase: Price,
  margin: Money,
  openedAt: Instant,
  closableAt: Instant,
  stopLoss: Price.nullable(),
  takeProfit: Price.nullable(),
  warned: z.literal([0, ...MARGIN_WARNINGS]),
  parted: z.object({ lots: Lots, margin: Money, pnl: Money, baseMove: Money }).exactOptional(),
  close: z
    .object({
      price: Price,
      base: Price,
      pnl: Money,
      at: Instant,
      by: z.enum(['user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void', 'admin']),
      voidReason: z.enum(['operator']).nullable(),
    })
    .nullable(),
  moved: z
    .array(
      z.object({
        fill: z.enum(['open', 'close']),
        at: Instant,
        by: z.int(),
        reason: z.enum(['event', 'statistics']),
        from: Price,
      }),
    )
    .exactOptional(),
})

const TradeWindow: z.ZodType<TradeWindow> = z.object({
  status: z.enum(WINDOW_STATUSES),
  reason: z.string().nullable(),
})

const Bounds: z.ZodType<OwnBounds> = z.object({
  until: Instant.nullable(),
  dailyLoss: Money.nullable(),
  lostToday: Money,
  atStake: Money,
})

const retryAfterSecs = z.number().nonnegative()

const Refusal: z.ZodType<Refusal> = z.discriminatedUnion('code', [
  z.object({ code: z.literal('not_found'), what: z.enum(['instrument', 'position', 'match']) }),
  z.object({ code: z.literal(['market_closed', 'market_suspended']), window: TradeWindow }),
  z.object({ code: z.literal('lot_size_invalid'), min: Lots, max: Lots, step: Lots }),
  z.object({ code: z.literal('price_moved'), currentPrice: Price, lastPublishedPrice: Price }),
  z.object({ code: z.literal('levels_invalid'), currentPrice: Price }),
  z.object({ code: z.literal('position_limit'), max: z.int() }),
  z.object({ code: z.literal('insufficient_margin'), required: Money, available: Money, maxLots: Lots }),
  z.object({ code: z.literal(['account_frozen', 'position_corrupt', 'key_in_flight', 'key_reused']) }),
  z.object({ code: z.literal('self_excluded'), until: Instant }),
  z.object({
    code: z.literal('limit_reached'),
    dailyLoss: Money,
    lostToday: Money,
    atStake: Money,
    required: Money,
    freeAt: Instant,
  }),
  z.object({ code: z.literal('position_not_open'), positionId: PositionId }),
  z.object({ code: z.literal('cooldown_active'), retryAfterSecs, closableAt: Instant }),
  z.object({ code: z.literal(['busy', 'unknown_outcome']), retryAfterSecs }),
])

const outcomeOf = <T>(value: z.ZodType<T>): z.ZodType<Outcome<T>> =>
  z.discriminatedUnion('ok', [
    z.object({ ok: z.literal(true), value }),
    z.object({ ok: z.literal(false), refusal: Refusal, repeated: z.boolean() }),
  ])

export const TradeOutcome: z.ZodType<Outcome<Trade>> = outcomeOf(
  z.object({
    position: Position,
    price: Price,
    exitPrice: Price,
    rest: z.object({ position: Position, exitPrice: Price }).exactOptional(),
    wallet: z.object({ balance: Money, locked: Money.exactOptional(), marginUsed: Money, unrealizedPnl: Money }),
    repeated: z.boolean(),
  }),
)

export const QuoteQueryMessage: z.ZodType<QuoteQuery> = z.object({
  instrumentId: InstrumentId,
  league: League.optional(),
  direction: Direction,
  lots: Lots,
  clientPrice: Price.optional(),
  stopLoss: Price.nullable(),
  takeProfit: Price.nullable(),
  means: z.record(
    Purse,
    z.object({ available: Money, openPositions: z.int(), frozen: z.boolean().optional(), bounds: Bounds.optional() }),
  ),
})

export const QuoteOutcome: z.ZodType<Outcome<QuoteAnswer>> = outcomeOf(
  z.object({
    fillPrice: Price,
    exitPrice: Price,
    impact: Price,
    currentPrice: Price,
    margin: Money,
    washoutPrice: Price.nullable(),
    pnlAtStopLoss: Money.nullable(),
    pnlAtTakeProfit: Money.nullable(),
    maxLots: Lots,
    refusal: Refusal.nullable(),
  }),
)

export const RuleEffectMessage: z.ZodType<RuleEffect> = z.object({
  matchId: FixtureId,
  known: z.boolean(),
  moves: z.array(z.object({ instrumentId: InstrumentId, name: z.string(), from: Price, to: Price })),
  closes: z.int().nonnegative(),
})

const traced = { requestId: z.string().exactOptional(), trace: z.string().exactOptional() }
const idempotency = z.object({ id, fingerprint: z.string() }).nullable()

export const Command: z.ZodType<UserCommand> = z.discriminatedUnion('kind', [
  z.object({
    ...traced,
    kind: z.literal('open_position'),
    userId: UserId,
    league: League.optional(),
    instrumentId: InstrumentId,
    direction: Direction,
    lots: Lots,
    clientPrice: Price,
    stopLoss: Price.nullable(),
    takeProfit: Price.nullable(),
    idempotency,
  }),
  z
    .object({
      ...traced,
      kind: z.literal('change_levels'),
      userId: UserId,
      positionId: PositionId,
      // JSON leaves out a level that is to stay as it is.
      stopLoss: Price.nullish(),
      takeProfit: Price.nullish(),
    })
    .transform(({ stopLoss, takeProfit, ...rest }) => ({ ...rest, stopLoss, takeProfit })),
  z.object({
    ...traced,
    kind: z.literal('close_position'),
    userId: UserId,
    positionId: PositionId,
    idempotency,
  }),
  z.object({
    ...traced,
    kind: z.literal('close_part'),
    userId: UserId,
    positionId: PositionId,
    lots: Lots,
    idempotency,
  }),
])

export const FeedUpdateMessage: z.ZodType<FeedUpdate> = z.object({
  kind: z.literal('feed_update'),
  seq: z.int().nonnegative(),
  snapshot: Snapshot,
  speed: z.number().positive().optional(),
  source: z.object({ payload: z.unknown(), players: z.string() }).optional(),
})
