/** Every constant and bound of the game in one place, with the relations between them asserted when the module loads. */
import { assert } from './assert.ts'
import type { FixtureId } from './ids.ts'
import { type Lots, lots, type Money, money, MICROS_PER_UNIT, type Price, price } from './micros.ts'
import { ALL_OPEN, type TradingModes } from './trading-mode.ts'
import { MINUTE_MS, SECOND_MS } from './world.ts'

const units = (n: number): number => n * MICROS_PER_UNIT

/** A position's owner is warned when so many per cent of its margin are lost, once each. */
export const MARGIN_WARNINGS = [50, 80] as const
/** What a new wallet holds (specification 1 and 8). */
export const STARTING_BALANCE: Money = money(units(10_000))
/** Units of a player in one lot (specification 2.5). */
export const CONTRACT_SIZE = 5
/** Margin is notional ÷ 10 (specification 2.5). */
export const LEVERAGE = 10
/** No price falls below this, whatever base and imbalance say. */
export const PRICE_MIN: Price = price(10_000)
/** A new player without history starts here, by position, until he has a price of his own. */
export const ANCHOR_BY_ROLE = {
  GK: price(units(120)),
  DEF: price(units(150)),
  MID: price(units(200)),
  FWD: price(units(250)),
} as const

/** Commands that wait for a match; one more is refused as busy. */
export const MAILBOX_MAX = 1_024
/** A command that waited longer than this is refused undone: its caller has stopped waiting. */
export const COMMAND_DEADLINE_MS = 2 * SECOND_MS
/** Commands committed together. 500 measured best: 1,000 is no faster, 100 is a quarter slower. */
export const BATCH_MAX = 500
/** An idempotency key's longest form. */
export const KEY_LENGTH_MAX = 255
/** How long a one-time code is good for, how often it may be guessed, and how soon another is sent (specification 8). */
export const CODE_TTL_MS = 5 * MINUTE_MS
export const CODE_ATTEMPTS = 3
export const CODE_PAUSE_MS = MINUTE_MS
/** How long a nonce is remembered (specification 5). */
export const NONCE_TTL_MS = 300 * SECOND_MS
/** Fixtures of replays are numbered from here on, far above any provider's and still 32 bits wide. */
export const REPLAY_FIXTURES_FROM = 4_000_000_000
/** Whether a fixture is a replay's, not one of the world. */
export const isReplayFixture = (id: FixtureId): boolean => id > REPLAY_FIXTURES_FROM
/** Replays that play at once. */
export const REPLAYS_MAX = 16
/** How many updates full time must hold in a replay: fifty seconds of play, and a recording shows it for a minute. */
export const REPLAY_CONFIRM_UPDATES = 5
/** How long a match belongs to a process that has stopped saying so. */
export const LEASE_TTL_MS = 5 * SECOND_MS
/** Instruments one match can list: two squads of 23 and whoever comes late. */
export const INSTRUMENTS_MAX = 80

/**
 * The rules an operator may change while a match runs. The values here are the defaults of the settings of the same
 * name; a match reads them anew for every command.
 */
export interface TradingRules {
  readonly lotMin: Lots
  readonly lotMax: Lots
  readonly lotStep: Lots
  readonly openPositionsMax: number
  /** How long after opening a user may not close (specification 2.5). */
  readonly holdMs: number
  /** How far `clientPrice` may be from the last published price, in parts per million (specification 7: 2.5 %). */
  readonly priceGuardPpm: number
  /** How far the crowd may push a price from its base, in parts per million. */
  readonly impactCapPpm: number
  /** A live feed older than this suspends trading. */
  readonly feedStaleMs: number
  /** The longest an in-game event keeps an instrument suspended. */
  readonly eventSuspensionMs: number
  /** How long full time must hold before a match settles. */
  readonly settlementConfirmMs: number
  /** Whether positions may be opened before kick-off. */
  readonly preMatch: boolean
  /** What an operator has restricted: everywhere, in a match, or for a player. */
  readonly modes: TradingModes
}

export const DEFAULT_RULES: TradingRules = {
  lotMin: lots(10_000),
  lotMax: lots(units(100)),
  lotStep: lots(10_000),
  openPositionsMax: 100,
  holdMs: 180 * SECOND_MS,
  priceGuardPpm: 25_000,
  impactCapPpm: 10_000,
  feedStaleMs: 25 * SECOND_MS,
  eventSuspensionMs: 15 * SECOND_MS,
  settlementConfirmMs: 60 * SECOND_MS,
  preMatch: false,
  modes: ALL_OPEN,
}

/** At most this many price frames a second for one instrument: 20. */
export const PUBLISH_INTERVAL_MS = 50
/** Ticks of match data and trades are stored at most this often per instrument; ticks of in-game events always are. */
export const TICK_STORE_INTERVAL_MS = SECOND_MS

/** XP for opening a position, for closing one at a profit, and once for the first trade of a day (specification 3.4). */
export const XP_PER_OPEN = 10
export const XP_PER_WIN = 25
export const XP_FIRST_TRADE_OF_DAY = 50
/** What a referrer is credited when somebody he brought opens a first position. */
export const REFERRAL_REWARD: Money = money(units(100))
/** A win of so much, or a washout, is told to everybody. */
export const BIG_WIN: Money = money(units(500))
/** A legacy trade is told to everybody from this quantity or this total on (specification 6). */
export const NOTED_LEGACY_QUANTITY: Lots = lots(units(10))
export const NOTED_LEGACY_TOTAL: Money = money(units(2_000))

assert(BATCH_MAX <= MAILBOX_MAX, 'a batch must fit the mailbox')
assert(DEFAULT_RULES.lotMin >= DEFAULT_RULES.lotStep, 'the smallest lot must be at least one step')
assert(DEFAULT_RULES.lotMin % DEFAULT_RULES.lotStep === 0, 'the smallest lot must be a whole number of steps')
assert(DEFAULT_RULES.impactCapPpm < 1_000_000 / LEVERAGE, 'the crowd alone must never be able to wash a position out')
