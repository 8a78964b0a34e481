import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import {
  contradictionIn,
  FLAGS,
  readSetting,
  rulesFrom,
  type Setting,
  SETTINGS,
  type SettingValues,
} from '../../actors/kernel/settings.ts'
import { ALL_OPEN } from '../../actors/kernel/trading-mode.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { modelFrom, MULTIPLIER_KEYS, SCORING_SETTINGS } from '../../actors/market/scoring-settings.ts'
import { present } from '../../actors/kernel/assert.ts'

const ALL: readonly [string, Setting][] = [
  ...Object.entries(SETTINGS),
  ...Object.entries(FLAGS),
  ...SCORING_SETTINGS.entries(),
]

const DEFAULTS = Object.fromEntries(
  Object.entries(SETTINGS).map(([key, setting]) => [key, setting.default]),
) as SettingValues

const scoringDefault = (key: string): number => present(SCORING_SETTINGS.get(key), key).default

describe('the catalogue', () => {
  it('every default is valid for its setting, and every setting has a description', () => {
    for (const [key, setting] of ALL) {
      expect([key, readSetting(setting, setting.default)]).toEqual([key, { ok: true, value: setting.default }])
      expect([key, setting.description.length]).toEqual([key, expect.toSatisfy((length) => Number(length) > 20)])
    }
  })

  it('the defaults are the rules of the game', () => {
    expect(rulesFrom(DEFAULTS, ALL_OPEN)).toEqual(DEFAULT_RULES)
    expect(contradictionIn(DEFAULTS)).toBeNull()
  })

  it('the defaults are the price model, and every number of it is a setting of its own', () => {
    expect(modelFrom(scoringDefault)).toEqual(DEFAULT_MODEL)
    for (const key of SCORING_SETTINGS.keys()) {
      const moved = modelFrom((other) => scoringDefault(other) + (other === key ? 0.5 : 0))
      expect([key, differences(moved, DEFAULT_MODEL)]).toEqual([key, 1])
    }
  })

  it('there is a multiplier for each role and action', () => {
    const actions = Object.keys(DEFAULT_MODEL.base)
    const keys = ['GK', 'DEF', 'MID', 'FWD'].flatMap((at) =>
      actions.map((action) => `scoring.multiplier.${at}.${action}`),
    )
    expect(MULTIPLIER_KEYS.toSorted()).toEqual(keys.toSorted())
  })

  it.each([
    ['trading.hold_secs', [-1, 1.5, 3_601, '180', null, Number.NaN, Infinity, undefined, {}]],
    ['trading.lot_min', [0, 0.0000001, 101, -1, true]],
    ['trading.impact_cap_pct', [10, 0.00001, -0.1]],
    ['trading.pre_match', [0, 1, 'true', null]],
    ['trading.mode', ['OPEN', 'closed', '', null, 1, true]],
  ] as const)('%s takes none of %j', (key, values) => {
    for (const value of values) expect([value, readSetting(SETTINGS[key], value).ok]).toEqual([value, false])
  })

  it('[H18] every number has bounds within which the market lives', () => {
    const numbers = ALL.flatMap(([key, setting]) => (setting.type === 'number' ? [[key, setting] as const] : []))
    for (const [key, { min, max, default: value }] of numbers) {
      const known = BOUNDS.filter(([pattern]) => pattern.test(key))
      expect([key, known.length], 'one line of the table').toEqual([key, 1])
      const [, least, most] = present(known[0], key)
      expect([key, min >= least, max <= most, min <= value && value <= max]).toEqual([key, true, true, true])
    }
    for (const [pattern] of BOUNDS)
      expect([pattern, numbers.some(([key]) => pattern.test(key))]).toEqual([pattern, true])
  })

  it('the smallest position is a multiple of the step, and at most the largest', () => {
    expect(contradictionIn({ ...DEFAULTS, 'trading.lot_max': 0.009 })).toMatch(/lot_min \(0.01\) must not be above/)
    expect(contradictionIn({ ...DEFAULTS, 'trading.lot_step': 0.003 })).toMatch(/must be a whole number of/)
    expect(contradictionIn({ ...DEFAULTS, 'trading.lot_min': 0.3, 'trading.lot_step': 0.1 })).toBeNull()
    expect(rulesFrom({ ...DEFAULTS, 'trading.lot_max': 0.015 }, ALL_OPEN).lotMax).toBe(10_000)
  })
})

/**
 * What no operator may exceed by a slip of the keyboard. A single move below 10 % washes out no user who has just
 * opened; no user is kept from closing for hours, or until the next poll of a provider; no history is deleted that a
 * month's audit needs.
 */
const BOUNDS: readonly (readonly [key: RegExp, least: number, most: number])[] = [
  [/^trading\.lot_min$/, 0.0001, 100],
  [/^trading\.lot_max$/, 0.001, 1_000],
  [/^trading\.lot_step$/, 0.0001, 1],
  [/^trading\.open_positions_max$/, 1, 500],
  [/^trading\.hold_secs$/, 0, 3_600],
  [/^trading\.price_guard_pct$/, 0.1, 20],
  [/^trading\.impact_cap_pct$/, 0, 5],
  [/^trading\.late_secs$/, 0, 180],
  [/^trading\.news_hold_secs$/, 0, 300],
  [/^trading\.late_move_pct$/, 0.01, 10],
  [/^watch\.delay_secs$/, 0, 600],
  [/^feed\.stale_secs$/, 20, 600],
  [/^feed\.frozen_secs$/, 60, 3_600],
  [/^settlement\.confirm_secs$/, 0, 900],
  [/^trading\.adoption_(max|alert|day_max)$/, 0, 1_000_000_000],
  [/^boards\.roi_floor$/, 0, 1_000_000],
  [/^referrals\.closes_min$/, 0, 100],
  [/^referrals\.days_min$/, 0, 60],
  [/^referrals\.weekly_max$/, 0, 100],
  [/^rules\.max_move_pct$/, 0, 10],
  [/^auth\.session_max_days$/, 1, 400],
  [/^auth\.registrations_per_network_day$/, 0, 1_000_000],
  [/^privacy\.deletion_grace_days$/, 0, 30],
  [/^retention\.archive_days$/, 35, 3_650],
  [/^retention\.full_ticks_days$/, 7, 3_650],
  [/^retention\.(ticks|journal)_days$/, 30, 3_650],
  [/^scoring\.(base|par)\./, -8, 8],
  [/^scoring\.par_by\./, -15, 15],
  [/^scoring\.follows\.(rating\.|statistics\.|conceded\.|annulled$)/, -5, 5],
  [/^scoring\.(follows\.saved|review\.(share|stand))$/, 0, 1],
  [/^scoring\.(follows\.wait_|review\.)secs$/, 0, 600],
  [/^scoring\.multiplier\./, 0, 4],
  [/^scoring\.(expected\.|volume_gain$|rating\.weight$)/, 0, 5],
  [/^scoring\.rating\.(start|end\.)/, 1, 10],
  [/^scoring\.scale$/, 0.2, 5],
  [/^scoring\.bound$/, 0.1, 1],
  [/^scoring\.tick_cap$/, 0.005, 0.095],
]

/** How many numbers of two models differ. */
function differences(a: unknown, b: unknown): number {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b ? 0 : 1
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return [...left].reduce((sum, [key, value]) => sum + differences(value, right.get(key)), 0)
}
