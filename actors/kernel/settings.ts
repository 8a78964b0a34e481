/**
 * The settings and flags that an operator may change while the server runs, with type, default, bounds and meaning. The
 * numbers of the price model are in `actors/market/scoring-settings.ts`.
 */
import { type FixtureId, fixtureId, type InstrumentId, instrumentId } from './ids.ts'
import {
  ADOPTION_MAX,
  DEFAULT_RULES,
  DRAW_CLOSES,
  DRAW_PLAYERS,
  DRAW_PLAYERS_MAX,
  REFERRAL_CLOSES,
  REFERRAL_DAYS,
  REFERRALS_WEEKLY_MAX,
  ROI_FLOOR,
  type TradingRules,
} from './limits.ts'
import { decimal, lots, microsNearest } from './micros.ts'
import { TRADING_MODES, type TradingMode, type TradingModes } from './trading-mode.ts'
import { SECOND_MS } from './world.ts'

export interface NumberSetting {
  readonly type: 'number'
  readonly default: number
  readonly min: number
  readonly max: number
  /** How many decimals a value may have; 0 for whole numbers. */
  readonly decimals: number
  readonly description: string
}

export interface BooleanSetting {
  readonly type: 'boolean'
  readonly default: boolean
  readonly description: string
}

export interface ChoiceSetting<Option extends string = string> {
  readonly type: 'choice'
  readonly default: Option
  readonly options: readonly Option[]
  /** The value used when the stored one is not an option: the safest option. */
  readonly whenUnreadable: Option
  readonly description: string
}

export type Setting = NumberSetting | BooleanSetting | ChoiceSetting
export type SettingValue = number | boolean | string

export const numberSetting = (
  value: number,
  [min, max, decimals]: readonly [min: number, max: number, decimals: number],
  description: string,
): NumberSetting => ({ type: 'number', default: value, min, max, decimals, description })

const booleanSetting = (value: boolean, description: string): BooleanSetting => ({
  type: 'boolean',
  default: value,
  description,
})

const modeSetting = (description: string): ChoiceSetting<TradingMode> => ({
  type: 'choice',
  default: 'open',
  options: TRADING_MODES,
  whenUnreadable: 'halted',
  description,
})

const PPM_PER_PERCENT = 10_000
const HOUR_SECS = 3_600
const secs = (ms: number): number => ms / SECOND_MS
const percent = (ppm: number): number => ppm / PPM_PER_PERCENT

const WHOLE = 0
/** Percentages are held in parts per million. */
const PERCENT_DECIMALS = 4
const LOT_DECIMALS = 6

export const SETTINGS = {
  'trading.mode': modeSetting(
    'What users may do: `open` (everything), `reduce_only` (close only) or `halted` (nothing, not even level ' +
      'changes). Stop-losses, take-profits, washouts and settlement work in every mode.',
  ),
  'trading.pre_match': booleanSetting(DEFAULT_RULES.preMatch, 'Whether positions may be opened before kick-off.'),
  'trading.lot_min': numberSetting(
    decimal(DEFAULT_RULES.lotMin),
    [0.000_1, 100, LOT_DECIMALS],
    'The smallest position, in lots. A multiple of `trading.lot_step`.',
  ),
  'trading.lot_max': numberSetting(
    decimal(DEFAULT_RULES.lotMax),
    [0.001, 1_000, LOT_DECIMALS],
    'The largest position, in lots.',
  ),
  'trading.lot_step': numberSetting(
    decimal(DEFAULT_RULES.lotStep),
    [0.000_1, 1, LOT_DECIMALS],
    'The size of a position is a multiple of this, in lots.',
  ),
  'trading.open_positions_max': numberSetting(
    DEFAULT_RULES.openPositionsMax,
    [1, 500, WHOLE],
    'The most open positions a user may hold, over all matches.',
  ),
  'trading.hold_secs': numberSetting(
    secs(DEFAULT_RULES.holdMs),
    [0, HOUR_SECS, WHOLE],
    'Seconds after opening during which the owner may not close. Open positions keep the hold they were opened with.',
  ),
  'trading.price_guard_pct': numberSetting(
    percent(DEFAULT_RULES.priceGuardPpm),
    [0.1, 20, PERCENT_DECIMALS],
    'How far the price a client saw may be from the last published one, in per cent.',
  ),
  'trading.impact_cap_pct': numberSetting(
    percent(DEFAULT_RULES.impactCapPpm),
    [0, 5, PERCENT_DECIMALS],
    'How far the imbalance may move a price from its base, in per cent. Always less than a washout takes.',
  ),
  'trading.level_distance_pct': numberSetting(
    percent(DEFAULT_RULES.levelDistancePpm),
    [0, 9, PERCENT_DECIMALS],
    'How far from the price a stop-loss or take-profit must be while the hold of its position runs, in per cent. More ' +
      'than the crowd alone can swing a price, which is twice its cap.',
  ),
  'trading.news_hold_secs': numberSetting(
    secs(DEFAULT_RULES.newsHoldMs),
    [0, 300, WHOLE],
    'How long after news a player stays suspended while list of events and statistics differ, in seconds. Opens wait up ' +
      'to 300. Replays count match time.',
  ),
  'trading.late_void_secs': numberSetting(
    secs(DEFAULT_RULES.lateVoidMs),
    [0, 180, WHOLE],
    'What was opened or closed this long before news of its player is late: opens are void, closes are corrected, and ' +
      'what closes pay is locked for this long plus a minute. 0 switches that off. Replays count match time.',
  ),
  'trading.late_lock_secs': numberSetting(
    secs(DEFAULT_RULES.lateLockMs),
    [0, 900, WHOLE],
    'How long a credit by a late correction stays locked, in seconds: as long it is taken back when the news is ' +
      'cancelled. Replays count match time.',
  ),
  'trading.late_move_pct': numberSetting(
    percent(DEFAULT_RULES.lateMovePpm),
    [0.05, 10, PERCENT_DECIMALS],
    'An update that moves the base of a player this far, in per cent, is news without a suspension.',
  ),
  'feed.stale_secs': numberSetting(
    secs(DEFAULT_RULES.feedStaleMs),
    [5, 600, WHOLE],
    'A match in play is suspended when its feed is older than this, in seconds.',
  ),
  'settlement.confirm_secs': numberSetting(
    secs(DEFAULT_RULES.settlementConfirmMs),
    [0, 900, WHOLE],
    'How long full time must hold before a match settles, in seconds. Replays count updates instead.',
  ),
  'replays.practice': booleanSetting(
    false,
    'Whether recordings are practice: users trade them with a purse of its own, and what they win counts on the practice ' +
      'boards alone. On by default in production, and where there is a live provider. A match that has begun keeps its ' +
      'purse.',
  ),
  'trading.adoption_max': numberSetting(
    decimal(ADOPTION_MAX),
    [0, 1_000_000_000, WHOLE],
    'The most that a balance changed from outside in the fast store may add to a wallet at once, in units. One that adds ' +
      'more is not adopted, and is recorded.',
  ),
  'boards.roi_floor': numberSetting(
    decimal(ROI_FLOOR),
    [0, 1_000_000, WHOLE],
    'The least margin that a return is measured against on the ROI boards and in the weekly draw, in units. A change ' +
      're-ranks everybody.',
  ),
  'boards.bots': booleanSetting(
    false,
    'Whether bots, accounts that have sent an order by a key, are ranked on the boards and in the weekly draw. Their ' +
      'entries are marked. A change re-ranks everybody.',
  ),
  'spinner.closes_min': numberSetting(
    DRAW_CLOSES,
    [1, 100, WHOLE],
    'How many positions opened in the week a user must have closed to be in its draw.',
  ),
  'spinner.players_min': numberSetting(
    DRAW_PLAYERS,
    [1, DRAW_PLAYERS_MAX, WHOLE],
    'On how many different players these must be.',
  ),
  'referrals.closes_min': numberSetting(
    REFERRAL_CLOSES,
    [1, 100, WHOLE],
    'How many positions a referred user must have closed before the referrer is credited.',
  ),
  'referrals.days_min': numberSetting(REFERRAL_DAYS, [1, 60, WHOLE], 'On how many different days (UTC) these must be.'),
  'referrals.weekly_max': numberSetting(
    REFERRALS_WEEKLY_MAX,
    [0, 100, WHOLE],
    'The most credits to one referrer in a week from Monday 00:00 UTC. Further ones wait for a close of the referred ' +
      'user in a later week.',
  ),
  'rules.max_move_pct': numberSetting(
    2,
    [0, 10, PERCENT_DECIMALS],
    'How far a change of a setting may move a running price, in per cent. One that moves any further is refused unless it ' +
      'is forced.',
  ),
  'auth.session_max_days': numberSetting(
    60,
    [1, 400, WHOLE],
    'Days after which a session ends, whatever it refreshes. Counts from the next refresh of each session.',
  ),
  'auth.new_device_mail': booleanSetting(
    true,
    'Whether a user gets a mail when they sign in from a device that none of their other sessions came from.',
  ),
  'auth.registrations_per_network_day': numberSetting(
    20,
    [1, 1_000_000, WHOLE],
    'How many users may register from one network (IPv4 by /24, IPv6 by /48) on a UTC day.',
  ),
  'privacy.deletion_grace_days': numberSetting(
    7,
    [0, 30, WHOLE],
    'Days between a user deleting their account and its erasing, in which signing in cancels it. Counts for later wishes.',
  ),
  'retention.archive_days': numberSetting(
    35,
    [35, 3_650, WHOLE],
    'Days after its settlement for which the positions and events of a match stay in the current tables. Then they are ' +
      'moved to the archive, which is partitioned by months. Users see them as before.',
  ),
  'retention.full_ticks_days': numberSetting(
    30,
    [7, 3_650, WHOLE],
    'Days for which every price tick is kept. Older ones are thinned to one per minute and player, except those of ' +
      'in-game events.',
  ),
  'retention.ticks_days': numberSetting(
    365,
    [30, 3_650, WHOLE],
    'Days for which price ticks are kept. The first tick of a player is never deleted.',
  ),
  'tape.recordings': booleanSetting(
    false,
    'Whether anybody may download what ended live matches heard, the payloads of the provider included, to derive ' +
      'their prices again. Ask your provider first. Replays are always open.',
  ),
  'retention.journal_days': numberSetting(
    365,
    [30, 3_650, WHOLE],
    'Days for which the journal of a match is kept: every update that it heard, and its tape.',
  ),
} as const satisfies Record<string, Setting>

export type SettingKey = keyof typeof SETTINGS
type ValueOf<S> = S extends NumberSetting ? number : S extends BooleanSetting ? boolean : TradingMode
export type SettingValues = { readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]> }

/** Switches for the whole server, shown publicly by `GET /api/flags`. */
export const FLAGS = {
  coming_soon: booleanSetting(
    false,
    'Protected routes answer 503 to all users but admins, and their sockets are closed.',
  ),
} as const satisfies Record<string, BooleanSetting>

export type FlagKey = keyof typeof FLAGS
export type Flags = Readonly<Record<FlagKey, boolean>>

/** The trading mode of one match or player. It has its own key, which is removed when the mode returns to `open`. */
const MATCH_MODE = modeSetting('The trading mode of one match; the strictest that applies counts.')
const INSTRUMENT_MODE = modeSetting('The trading mode of one player; the strictest that applies counts.')
const MATCH_KEY = /^trading\.mode\.match\.([1-9]\d{0,9})$/
const INSTRUMENT_KEY = /^trading\.mode\.instrument\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** The match or player that the key of a trading mode names, or null. */
export function scopeOf(key: string): { readonly matchId: FixtureId } | { readonly instrumentId: InstrumentId } | null {
  const [, match] = MATCH_KEY.exec(key) ?? []
  if (match !== undefined) return { matchId: fixtureId(Number(match)) }
  const [, instrument] = INSTRUMENT_KEY.exec(key) ?? []
  return instrument === undefined ? null : { instrumentId: instrumentId(instrument) }
}

/** The setting of a key that names a match or a player, or null. */
export function scopedSetting(key: string): ChoiceSetting<TradingMode> | null {
  if (MATCH_KEY.test(key)) return MATCH_MODE
  return INSTRUMENT_KEY.test(key) ? INSTRUMENT_MODE : null
}

/** The value in the form of the setting, or what is wrong with it. */
export function readSetting(
  setting: Setting,
  value: unknown,
): { readonly ok: true; readonly value: SettingValue } | { readonly ok: false; readonly problem: string } {
  switch (setting.type) {
    case 'boolean':
      return typeof value === 'boolean' ? { ok: true, value } : { ok: false, problem: 'must be true or false' }
    case 'choice':
      return typeof value === 'string' && setting.options.includes(value)
        ? { ok: true, value }
        : { ok: false, problem: `must be one of ${setting.options.join(', ')}` }
    case 'number': {
      const { min, max, decimals } = setting
      const fits = typeof value === 'number' && value >= min && value <= max
      if (fits && Number(value.toFixed(decimals)) === value) return { ok: true, value }
      const form = decimals === 0 ? 'a whole number' : `a number with at most ${decimals} decimals`
      return { ok: false, problem: `must be ${form} from ${min} to ${max}` }
    }
  }
}

/** Why these values contradict each other, or null. Each is within its own bounds. */
export function contradictionIn(values: SettingValues): string | null {
  const [min, max, step] = [values['trading.lot_min'], values['trading.lot_max'], values['trading.lot_step']]
  if (min > max) return `trading.lot_min (${min}) must not be above trading.lot_max (${max})`
  if (microsNearest(min) % microsNearest(step) === 0) return null
  return `trading.lot_min (${min}) must be a whole number of trading.lot_step (${step})`
}

/** The trading modes in force, from the platform's mode and the scoped keys. */
export function modesFrom(platform: TradingMode, scoped: ReadonlyMap<string, TradingMode>): TradingModes {
  const matches = new Map<FixtureId, TradingMode>()
  const instruments = new Map<InstrumentId, TradingMode>()
  for (const [key, mode] of scoped) {
    const scope = scopeOf(key)
    if (scope === null) continue
    if ('matchId' in scope) matches.set(scope.matchId, mode)
    else instruments.set(scope.instrumentId, mode)
  }
  return { platform, matches, instruments }
}

/** The rules with these values. */
export function rulesFrom(values: SettingValues, modes: TradingModes): TradingRules {
  const ppm = (pct: number): number => Math.round(pct * PPM_PER_PERCENT)
  return {
    lotMin: lots(microsNearest(values['trading.lot_min'])),
    lotMax: lots(microsNearest(values['trading.lot_max'])),
    lotStep: lots(microsNearest(values['trading.lot_step'])),
    openPositionsMax: values['trading.open_positions_max'],
    holdMs: values['trading.hold_secs'] * SECOND_MS,
    priceGuardPpm: ppm(values['trading.price_guard_pct']),
    impactCapPpm: ppm(values['trading.impact_cap_pct']),
    levelDistancePpm: ppm(values['trading.level_distance_pct']),
    feedStaleMs: values['feed.stale_secs'] * SECOND_MS,
    newsHoldMs: values['trading.news_hold_secs'] * SECOND_MS,
    lateVoidMs: values['trading.late_void_secs'] * SECOND_MS,
    lateLockMs: values['trading.late_lock_secs'] * SECOND_MS,
    lateMovePpm: ppm(values['trading.late_move_pct']),
    settlementConfirmMs: values['settlement.confirm_secs'] * SECOND_MS,
    preMatch: values['trading.pre_match'],
    modes,
  }
}

/** Whether a change of this setting can move prices of running matches. */
export const movesPrices = (key: string): boolean => key === 'trading.impact_cap_pct' || key.startsWith('scoring.')
