/** Answers that are shown again long after they were true. */
import type { FixturePeriod, SaidFixture } from '../fixture.ts'
import { phaseOf } from '../phase.ts'

/** A half that a provider begins by mistake is taken back sooner. */
const BEGUN_SECS = 300

/**
 * What an answer says: nothing, where it shows a break and lacks a period that has been played since. Its clock stands,
 * so it cannot tell how old it is, and a second one would confirm what it lacks: goals, cards, statistics.
 */
export function withoutOld(said: SaidFixture, before: readonly FixturePeriod[]): SaidFixture {
  const { home, away, periods } = said
  const isAfter = ({ order, elapsedSecs }: FixturePeriod): boolean =>
    elapsedSecs > BEGUN_SECS && periods.every((one) => one.order < order)
  const isOld = periods.length > 0 && phaseOf({ ...said, periods }) === 'break' && before.some(isAfter)
  if (!isOld) return said
  const silent = { state: null, stateId: null, periods: [], events: null, players: [], teamStats: null }
  return { ...said, ...silent, home: { ...home, goals: null }, away: { ...away, goals: null } }
}
