/** What a seed determines: users, rules and the probability of faults. */
import { type InstrumentId, userId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { type Money, money, type Price, price } from '../../actors/kernel/micros.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import type { Chance } from '../../actors/replay/chance.ts'
import { HABITS, type SimulatedUser } from './simulated-users.ts'
import { instrumentOf } from './football.ts'

export interface Plan {
  readonly users: readonly (SimulatedUser & { readonly grant: Money })[]
  /** All users are rich and trade in one direction, so that the price's share from trading reaches its cap. */
  readonly herd: boolean
  readonly rules: TradingRules
  readonly model: ScoringModel
  readonly anchors: ReadonlyMap<InstrumentId, Price>
  /** The probability of each way in which a call to the store can fail. */
  readonly storm: number
}

/** Footballers per slot. The fourth plays in both, one match at a time. */
export const SQUADS: readonly (readonly number[])[] = [
  [1, 2, 3, 4],
  [4, 5, 6, 7],
]

const user = (n: number): UserId => userId(`bbbbbbbb-0000-7000-8000-${n.toString().padStart(12, '0')}`)

export function planFor(chance: Chance): Plan {
  const oneOf = <T>(first: T, ...rest: readonly T[]): T => rest[chance.below(rest.length + 1) - 1] ?? first
  const herd = chance.happens(0.5)
  const grants = herd ? [1_000_000] : [100, 10_000, 10_000, 1_000_000]
  const users = Array.from({ length: 4 + chance.below(5) }, (_, n) => ({
    userId: user(n + 1),
    habit: oneOf(...HABITS),
    grant: money((grants[chance.below(grants.length)] ?? 0) * 1_000_000),
  }))
  const rules: TradingRules = {
    ...DEFAULT_RULES,
    holdMs: oneOf(180_000, 3_000, 500),
    impactCapPpm: oneOf(10_000, 10_000, 90_000, 500),
    settlementConfirmMs: oneOf(8_000, 2_000, 0),
    openPositionsMax: oneOf(100, 5),
    feedStaleMs: oneOf(60_000, 5_000),
    feedFrozenMs: oneOf(180_000, 10_000),
    preMatch: chance.happens(0.3),
  }
  return { users, herd, rules, model: wild(chance), anchors: anchors(chance), storm: oneOf(0, 0.01, 0.03) }
}

/** A model under which prices jump, so that positions wash out and gaps are wide. */
function wild(chance: Chance): ScoringModel {
  const times = 1 + chance.below(6)
  const base = Object.fromEntries(
    Object.entries(DEFAULT_MODEL.base).map(([action, points]) => [action, points * times]),
  )
  return { ...DEFAULT_MODEL, base: { ...DEFAULT_MODEL.base, ...base }, bound: 0.6, tickCap: 0.25 }
}

/** Almost worthless and extremely expensive players, in addition to ordinary ones. */
function anchors(chance: Chance): ReadonlyMap<InstrumentId, Price> {
  const units = [0.02, 0.7, 3.333333, 200, 4_999.999999]
  const found = new Map<InstrumentId, Price>()
  for (const player of SQUADS.flat()) {
    const anchor = units[chance.below(units.length * 2)]
    if (anchor !== undefined) found.set(instrumentOf(player), price(Math.round(anchor * 1_000_000)))
  }
  return found
}
