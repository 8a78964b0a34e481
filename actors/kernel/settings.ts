/**
 * The settings and flags that an operator may change while the server runs, with type, default, bounds and meaning. The
 * numbers of the price model are in `actors/market/scoring-settings.ts`.
 */
import { type FixtureId, fixtureId, type InstrumentId, instrumentId } from './ids.ts'
import {
  AHEAD_EARNS,
  ADOPTION_ALERT,
  ADOPTION_MAX,
  DEFAULT_PROTECTION,
  DEFAULT_RULES,
  REFERRALS_WEEKLY_MAX,
  ROI_FLOOR,
  type TradingRules,
} from './limits.ts'
import { decimal, lots, microsNearest } from './micros.ts'
import {
  booleanSetting,
  type BooleanSetting,
  choiceSetting,
  type ChoiceSetting,
  numberSetting,
  type NumberSetting,
  type Setting,
  type SettingValue,
} from './setting.ts'
import { TRADING_MODES, type TradingMode, type TradingModes } from './trading-mode.ts'
import { SECOND_MS } from './world.ts'

const modeSetting = (description: string): ChoiceSetting<TradingMode> =>
  choiceSetting('open', TRADING_MODES, 'halted', description)

export { type NumberSetting, numberSetting, type Setting, type SettingValue } from './setting.ts'

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
  'trading.protection': choiceSetting(
    'off',
    ['off', 'on'],
    'off',
    'Protection against users who see the pitch before the feed does. `off`: every fill is immediate and final, and ' +
      `${AHEAD_EARNS}. \`on\`: a fill shortly before news of its player moves with it, what is cancelled later is ` +
      'taken back, and trading of the player waits until the list of events and the statistics agree.',
  ),
  'trading.late_secs': numberSetting(
    secs(DEFAULT_PROTECTION.lateMs),
    [0, 180, WHOLE],
    'With protection: fills this long before news of their player move with it, in seconds; before a penalty 180. ' +
      'Replays count match time.',
  ),
  'trading.news_hold_secs': numberSetting(
    secs(DEFAULT_PROTECTION.newsHoldMs),
    [0, 300, WHOLE],
    'With protection: how long closes wait after news while the list of events and the statistics differ, in seconds. ' +
      'Opens wait up to 300. Replays count match time.',
  ),
  'trading.late_move_pct': numberSetting(
    percent(DEFAULT_PROTECTION.movePpm),
    [0.01, 10, PERCENT_DECIMALS],
    'With protection: an update that moves the base of a player this far, in per cent, is news without a wait.',
  ),
  'feed.stale_secs': numberSetting(
    secs(DEFAULT_RULES.feedStaleMs),
    [20, 600, WHOLE],
    'A match in play is suspended when no poll of the provider has shown it for this long, in seconds.',
  ),
  'feed.frozen_secs': numberSetting(
    secs(DEFAULT_RULES.feedFrozenMs),
    [60, 3_600, WHOLE],
    'A match in play is suspended when its clock has stood still for this long, in seconds. Breaks and shoot-outs have ' +
      'no clock.',
  ),
  'settlement.confirm_secs': numberSetting(
    secs(DEFAULT_RULES.settlementConfirmMs),
    [0, 900, WHOLE],
    'How long full time must hold before a match settles, in seconds. Replays count updates instead.',
  ),
  'replays.practice': booleanSetting(
    false,
    'Whether replays are practice unless the operator who starts one says otherwise: users trade them with practice ' +
      'money, which counts on the practice boards alone. Turn this on where there is a live provider: a user who knows a ' +
      'recording knows its outcome. A replay that was started before keeps its purse.',
  ),
  'trading.adoption_max': numberSetting(
    decimal(ADOPTION_MAX),
    [0, 1_000_000_000, WHOLE],
    'The most that a balance changed from outside in the fast store may add to a wallet at once, in units. One that adds ' +
      'more is not adopted, and is recorded. The default is the most that a wallet can hold: no bound.',
  ),
  'trading.adoption_alert': numberSetting(
    decimal(ADOPTION_ALERT),
    [0, 1_000_000_000, WHOLE],
    'An alert is raised when a balance changed from outside in the fast store adds more than this to a wallet at once, ' +
      'in units. Every adoption is in the audit log.',
  ),
  'trading.adoption_day_max': numberSetting(
    decimal(ADOPTION_MAX),
    [0, 1_000_000_000, WHOLE],
    'A user is frozen when balances changed from outside in the fast store have added more than this to their wallet on ' +
      'a day (UTC), in units. The default is no bound, whatever they add up to.',
  ),
  'watch.delay_secs': numberSetting(
    45,
    [0, 600, WHOLE],
    'How late visitors who are not signed in see a match, in seconds.',
  ),
  'boards.roi_floor': numberSetting(
    decimal(ROI_FLOOR),
    [0, 1_000_000, WHOLE],
    'The least margin that a return is measured against on the ROI boards and in the weekly draw, in units. A change ' +
      're-ranks all users.',
  ),
  'boards.bots': booleanSetting(
    false,
    'Whether bots, accounts that have sent an order by a key, are ranked on the boards and in the weekly draw. Their ' +
      'entries are marked. A change re-ranks all users.',
  ),
  'referrals.closes_min': numberSetting(
    0,
    [0, 100, WHOLE],
    'How many positions a referred user, who has traded, must also have closed before the referrer is credited.',
  ),
  'referrals.days_min': numberSetting(
    0,
    [0, 60, WHOLE],
    'On how many different days (UTC) a referred user must have closed positions.',
  ),
  'referrals.weekly_max': numberSetting(
    REFERRALS_WEEKLY_MAX,
    [0, 100, WHOLE],
    'The most credits to one referrer in a week from Monday 00:00 UTC. Further ones wait for a later week.',
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
    'Days after which a session ends, refreshed or not. Counts from the next refresh of each session.',
  ),
  'auth.new_device_mail': booleanSetting(
    true,
    'Whether a user gets a mail when they sign in from a device that none of their other sessions came from.',
  ),
  'auth.registrations_per_network_day': numberSetting(
    0,
    [0, 1_000_000, WHOLE],
    'How many users may register from one network (IPv4 by /24, IPv6 by /48) on a UTC day; 0 for any number. Every 50 ' +
      'from one network are an alert.',
  ),
  'privacy.deletion_grace_days': numberSetting(
    7,
    [0, 30, WHOLE],
    'Days from a deletion request to the erasure; signing in before cancels it. Applies to later requests.',
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
  'retention.journal_days': numberSetting(
    365,
    [30, 3_650, WHOLE],
    'Days for which the journal of a match is kept: every update that it heard, and its tape.',
  ),
} as const satisfies Record<string, Setting>

export type SettingKey = keyof typeof SETTINGS
/** What a setting of this type holds. */
export type ValueOf<S> = S extends NumberSetting
  ? number
  : S extends BooleanSetting
    ? boolean
    : S extends ChoiceSetting<infer Option>
      ? Option
      : never
export type SettingValues = { readonly [Key in SettingKey]: ValueOf<(typeof SETTINGS)[Key]> }

/** Switches for the whole server, shown publicly by `GET /api/flags`. */
export const FLAGS = {
  coming_soon: booleanSetting(
    false,
    'Protected routes answer 503 to all users but admins, and their sockets are closed.',
  ),
} as const satisfies Record<string, BooleanSetting>

export type FlagKey = keyof typeof FLAGS
/** The built-in flags, and those that operators have created. */
export type Flags = Readonly<Record<FlagKey, boolean>> & Readonly<Record<string, boolean>>

/** A flag that an operator has created. The server itself does nothing with it. */
export const OWN_FLAG = booleanSetting(false, 'A flag of your own, for clients: the server only keeps it.')
/** How many of these there may be. */
export const FLAGS_MAX = 200

export const isFlagKey = (key: string): boolean => FLAG_KEY.test(key)
const FLAG_KEY = /^[a-z0-9][a-z0-9_.-]{0,63}$/

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
  const [step, most] = [microsNearest(values['trading.lot_step']), microsNearest(values['trading.lot_max'])]
  return {
    lotMin: lots(microsNearest(values['trading.lot_min'])),
    // The largest that can be ordered.
    lotMax: lots(most - (most % step)),
    lotStep: lots(step),
    openPositionsMax: values['trading.open_positions_max'],
    holdMs: values['trading.hold_secs'] * SECOND_MS,
    priceGuardPpm: ppm(values['trading.price_guard_pct']),
    impactCapPpm: ppm(values['trading.impact_cap_pct']),
    feedStaleMs: values['feed.stale_secs'] * SECOND_MS,
    feedFrozenMs: values['feed.frozen_secs'] * SECOND_MS,
    settlementConfirmMs: values['settlement.confirm_secs'] * SECOND_MS,
    protection:
      values['trading.protection'] === 'on'
        ? {
            lateMs: values['trading.late_secs'] * SECOND_MS,
            newsHoldMs: values['trading.news_hold_secs'] * SECOND_MS,
            movePpm: ppm(values['trading.late_move_pct']),
          }
        : null,
    preMatch: values['trading.pre_match'],
    modes,
  }
}

/** Whether a change of this setting can move prices of running matches. */
export const movesPrices = (key: string): boolean =>
  key === 'trading.impact_cap_pct' || key === 'trading.protection' || key.startsWith('scoring.')
