/** Which settings and flags there are: those of the game, of the price model and of features. */
import { FLAGS, isFlagKey, OWN_FLAG, scopedSetting, type Setting, SETTINGS } from '../actors/kernel/settings.ts'
import { SCORING_SETTINGS } from '../actors/market/scoring-settings.ts'

export type Declared = Readonly<Record<string, Setting>>

export const FLAG_PREFIX = 'flags.'
export const flagKey = (key: string): string => `${FLAG_PREFIX}${key}`

/** Every setting and built-in flag by key. */
export type Catalogue = ReadonlyMap<string, Setting>

export const catalogueWith = (declared: Declared): Catalogue =>
  new Map<string, Setting>([
    ...Object.entries(SETTINGS),
    ...Object.entries(declared),
    ...SCORING_SETTINGS,
    ...Object.entries(FLAGS).map(([key, flag]) => [flagKey(key), flag] as const),
  ])

/** The setting or flag of a key. Operators name flags of their own. */
export function settingOf(catalogue: Catalogue, key: string): Setting | undefined {
  if (key.startsWith(FLAG_PREFIX) && isFlagKey(key.slice(FLAG_PREFIX.length))) return catalogue.get(key) ?? OWN_FLAG
  return catalogue.get(key) ?? scopedSetting(key) ?? undefined
}
