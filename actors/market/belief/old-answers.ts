/** Answers that are shown again long after they were true. */
import type { FixturePeriod, SaidFixture } from '../fixture.ts'
import { isRegularEnd, phaseOf } from '../phase.ts'

/** A half that a provider begins by mistake is taken back sooner, and extra time too. */
const BEGUN_SECS = 300
const EXTRA_SECS = 60

/**
 * What an answer says: nothing, where it shows a break, or the end of 90 minutes, and lacks what has been played since.
 * Its clock stands, so it cannot tell how old it is, and a second one would confirm what it lacks: goals, cards,
 * statistics. A minute of them would settle the match.
 */
export function withoutOld(said: SaidFixture, before: readonly FixturePeriod[]): SaidFixture {
  const { home, away, periods } = said
  const last = Math.max(0, ...periods.map(({ order }) => order))
  const isAfter = ({ order, elapsedSecs }: FixturePeriod): boolean => elapsedSecs > BEGUN_SECS && order > last
  const isExtra = ({ kind, elapsedSecs }: FixturePeriod): boolean => kind === 'extra_time' && elapsedSecs > EXTRA_SECS
  const isBreak = phaseOf({ ...said, periods }) === 'break' && before.some(isAfter)
  const isEnd = isRegularEnd(said) && periods.every(({ order }) => order <= REGULAR) && before.some(isExtra)
  const isOld = last > 0 && (isBreak || isEnd)
  if (!isOld) return said
  const silent = { state: null, stateId: null, periods: [], events: null, players: [], teamStats: null }
  return { ...said, ...silent, home: { ...home, goals: null }, away: { ...away, goals: null } }
}

/** The halves of 90 minutes. */
const REGULAR = 2
