/** Constants of trading, matches and community, and default rules. Relations between them are asserted on loading. */
import { assert } from './assert.ts'
import type { FixtureId } from './ids.ts'
import { type Lots, lots, type Money, money, MICROS_MAX, MICROS_PER_UNIT, type Price, price } from './micros.ts'
import { ALL_OPEN, type TradingModes } from './trading-mode.ts'
import { MINUTE_MS, SECOND_MS } from './world.ts'

const units = (n: number): number => n * MICROS_PER_UNIT

/** The owner of a position is warned once at each of these losses, in per cent of the margin. */
export const MARGIN_WARNINGS = [50, 80] as const
/** The balance of a new wallet (specification 1 and 8). */
export const STARTING_BALANCE: Money = money(units(10_000))
/** A main wallet with less can be refilled. */
export const REFILL_BELOW: Money = money(units(100))
/** Units of a player in one lot (specification 2.5). */
export const CONTRACT_SIZE = 5
/** Margin is notional ÷ 10 (specification 2.5). */
export const LEVERAGE = 10
/** No price falls below this. */
export const PRICE_MIN: Price = price(10_000)
/** The start price of a player without history, by role. */
export const ANCHOR_BY_ROLE = {
  GK: price(units(120)),
  DEF: price(units(150)),
  MID: price(units(200)),
  FWD: price(units(250)),
} as const

/** The most commands waiting for a match; one more is refused as busy. */
export const MAILBOX_MAX = 1_024
/** A command that waited longer is refused without effect: its caller has stopped waiting. */
export const COMMAND_DEADLINE_MS = 2 * SECOND_MS
/** The most commands committed together. 500 measured best: 1,000 is no faster, 100 is a quarter slower. */
export const BATCH_MAX = 500
/** After a larger batch than this, other matches of the process have their turn before the next. */
export const LARGE_BATCH = 50
/** The most attempts to commit one batch: again without who cannot pay, and again if a wallet has changed meanwhile. */
export const ROUNDS_MAX = 3
/** The longest idempotency key. */
export const KEY_LENGTH_MAX = 255
/** How long a one-time code is valid, how many attempts it allows, and the pause between two (specification 8). */
export const CODE_TTL_MS = 5 * MINUTE_MS
export const CODE_ATTEMPTS = 3
export const CODE_PAUSE_MS = MINUTE_MS
/** How long a nonce is remembered (specification 5). */
export const NONCE_TTL_MS = 300 * SECOND_MS
/** Fixture ids of replays are above this, far from any provider's and within 32 bits. */
export const REPLAY_FIXTURES_FROM = 4_000_000_000
/** Whether a fixture belongs to a replay. */
export const isReplayFixture = (id: FixtureId): boolean => id > REPLAY_FIXTURES_FROM
/** The most replays that play at once. */
export const REPLAYS_MAX = 16
/** The updates for which full time must hold in a replay: fifty seconds of play; recordings show it for a minute. */
export const REPLAY_CONFIRM_UPDATES = 5
/** How long a lease lasts without renewal. */
export const LEASE_TTL_MS = 5 * SECOND_MS
/** The most instruments one match lists: two squads of 23, and players added late. */
export const INSTRUMENTS_MAX = 80

/**
 * The rules an operator may change while a match runs. These values are the defaults of the settings of the same name.
 * A match reads them for every batch.
 */
export interface TradingRules {
  readonly lotMin: Lots
  readonly lotMax: Lots
  readonly lotStep: Lots
  readonly openPositionsMax: number
  /** The hold: how long after opening a user may not close (specification 2.5). */
  readonly holdMs: number
  /** How far `clientPrice` may be from the last published price, in parts per million (specification 7: 2.5 %). */
  readonly priceGuardPpm: number
  /** How far the imbalance may move a price from its base, in parts per million. */
  readonly impactCapPpm: number
  /** A match in play is suspended when the feed has not shown it for this long. */
  readonly feedStaleMs: number
  /** A match in play is suspended when its clock has stood still for this long. */
  readonly feedFrozenMs: number
  /** How long full time must hold before a match settles. */
  readonly settlementConfirmMs: number
  /** Protection against users who see the pitch before the feed does; null when it is off. */
  readonly protection: ProtectionRules | null
  /** Whether positions may be opened before kick-off. */
  readonly preMatch: boolean
  /** The operator's restrictions: on the platform, a match or a player. */
  readonly modes: TradingModes
}

/** The option `trading.protection` (actors/match/protection). All times are of the match clock. */
export interface ProtectionRules {
  /** A fill at most this long before news of its player moves with it. */
  readonly lateMs: number
  /** How long closes wait for list and statistics to agree about a player. */
  readonly newsHoldMs: number
  /** An update that moves a base this far is news without a hold, in parts per million. */
  readonly movePpm: number
}

/** What being ahead of the feed earns without protection: `npm run ops -- market`, docs/measured.md. */
export const AHEAD_EARNS =
  'opening 5 s ahead of goals and cards earns 30 % of margin a trade, closing ahead of them 15 %'

export const DEFAULT_PROTECTION: ProtectionRules = {
  lateMs: 45 * SECOND_MS,
  newsHoldMs: 90 * SECOND_MS,
  movePpm: 1_000,
}

export const DEFAULT_RULES: TradingRules = {
  lotMin: lots(10_000),
  lotMax: lots(units(100)),
  lotStep: lots(10_000),
  openPositionsMax: 100,
  holdMs: 180 * SECOND_MS,
  priceGuardPpm: 25_000,
  impactCapPpm: 2_000,
  feedStaleMs: 60 * SECOND_MS,
  feedFrozenMs: 180 * SECOND_MS,
  settlementConfirmMs: 60 * SECOND_MS,
  protection: null,
  preMatch: false,
  modes: ALL_OPEN,
}

/** Protection: how long opens wait, at most, for list and statistics to agree about a player. */
export const NEWS_OPENS_HOLD_MS = 300 * SECOND_MS
/** Protection: users see a penalty up to this long before the feed shows how it ended. */
export const PENALTY_LATE_MS = 180 * SECOND_MS
/** Protection: the longest after a fill that news without a cancellation reaches it. */
export const LATE_REACH_MS = PENALTY_LATE_MS
/** Protection: how long after trading reopened a cancellation still moves what the event has moved. */
export const NEWS_CANCELLED_WITHIN_MS = 300 * SECOND_MS
/** Protection: the most closes that a match remembers. With more the earliest are forgotten, and become final. */
export const MOVABLE_CLOSES_MAX = 50_000
/** The interval between two price frames of an instrument: at most 20 a second. */
export const PUBLISH_INTERVAL_MS = 50
/**
 * A match in play publishes a price that has not moved for this long again. Its clock ticks about once a second, so
 * every price is published at least every 10 s.
 */
export const REPUBLISH_MS = 9 * SECOND_MS
/** The shortest interval between stored ticks of an instrument. Ticks of in-game events are always stored. */
export const TICK_STORE_INTERVAL_MS = SECOND_MS
/**
 * After this long a price that has not moved is stored as a tick again: with a commit that comes anyway, and without
 * one just before the minute is over.
 */
export const TICK_REPEAT_MS = { withCommit: 50 * SECOND_MS, alone: 58 * SECOND_MS } as const

/** XP for opening a position, for closing one with a profit, and for the first trade of a day (specification 3.4). */
export const XP_PER_OPEN = 10
export const XP_PER_WIN = 25
export const XP_FIRST_TRADE_OF_DAY = 50
/** What a referrer is credited for a friend. */
export const REFERRAL_REWARD: Money = money(units(100))
/** The most credits to one referrer in a week, by default. */
export const REFERRALS_WEEKLY_MAX = 10
/** An admin who does what cannot be undone must have signed in at most this long ago. */
export const FRESH_MS = 15 * MINUTE_MS
/** The most that a balance changed from outside in the fast store adds to a wallet at once, by default: no bound. */
export const ADOPTION_MAX: Money = money(MICROS_MAX)
/** A balance changed from outside by more than this raises an alert, by default. */
export const ADOPTION_ALERT: Money = money(units(10_000))
/** Returns are measured against at least this much margin, by default. */
export const ROI_FLOOR: Money = money(units(10_000))
/** The most players that a draw may require: no more are stored of a user's week. */
export const DRAW_PLAYERS_MAX = 20
/** A win of this size, like every washout, appears in the activity feed. */
export const BIG_WIN: Money = money(units(500))
/** A legacy trade of this quantity or total appears in the activity feed (specification 6). */
export const NOTED_LEGACY_QUANTITY: Lots = lots(units(10))
export const NOTED_LEGACY_TOTAL: Money = money(units(2_000))

assert(BATCH_MAX <= MAILBOX_MAX, 'a batch must fit the mailbox')
assert(DEFAULT_RULES.lotMin >= DEFAULT_RULES.lotStep, 'the smallest lot must be at least one step')
assert(DEFAULT_RULES.lotMin % DEFAULT_RULES.lotStep === 0, 'the smallest lot must be a whole number of steps')
assert(DEFAULT_RULES.impactCapPpm < 1_000_000 / LEVERAGE, 'the impact alone must never wash out a position')

/** The most private leagues, running or upcoming, that a user takes part in at a time. */
export const LEAGUES_MAX = 25
/** The most users who ever join a private league. */
export const MEMBERS_MAX = 1_000
/** The most users who can enter a tournament. Its table is read as a whole. */
export const ENTRANTS_MAX = 10_000
/** The most tournaments that are not decided yet. */
export const TOURNAMENTS_MAX = 20
