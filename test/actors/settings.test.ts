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
    ['trading.hold_secs', [-1, 1.5, 86_401, '180', null, Number.NaN, Infinity, undefined, {}]],
    ['trading.lot_min', [0, 0.0000001, 10_001, -1, true]],
    ['trading.impact_cap_pct', [10, 0.00001, -0.1]],
    ['trading.pre_match', [0, 1, 'true', null]],
    ['trading.mode', ['OPEN', 'closed', '', null, 1, true]],
  ] as const)('%s takes none of %j', (key, values) => {
    for (const value of values) expect([value, readSetting(SETTINGS[key], value).ok]).toEqual([value, false])
  })

  it('the smallest position is a multiple of the step, and at most the largest', () => {
    expect(contradictionIn({ ...DEFAULTS, 'trading.lot_max': 0.009 })).toMatch(/lot_min \(0.01\) must not be above/)
    expect(contradictionIn({ ...DEFAULTS, 'trading.lot_step': 0.003 })).toMatch(/must be a whole number of/)
    expect(contradictionIn({ ...DEFAULTS, 'trading.lot_min': 0.3, 'trading.lot_step': 0.1 })).toBeNull()
  })
})

/** How many numbers of two models differ. */
function differences(a: unknown, b: unknown): number {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b ? 0 : 1
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  return [...left].reduce((sum, [key, value]) => sum + differences(value, right.get(key)), 0)
}
