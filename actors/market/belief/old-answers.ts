/** Empties answers that were true long ago, and statistics that a provider has reset. */
import type { FixturePeriod, FixturePlayer, SaidFixture } from '../fixture.ts'
import { isRegularEnd, phaseOf } from '../phase.ts'
import { type Details, isCount } from './plausible.ts'

/** A half, or extra time, that a provider began by mistake is taken back before this. */
const BEGUN_SECS = 300
const EXTRA_SECS = 60

/**
 * The answer, emptied if it is old: if it shows a break, or the end of 90 minutes, and lacks a period that has been
 * played since. Its clock stands still, so it does not show its age, and a second such answer would confirm what the
 * first one lacks: goals, cards, statistics. A minute of them would settle the match.
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

/** Both teams together: from this many actions on, a statistic that is zero for all is a reset. */
const RESET_FROM = 20

/**
 * An answer without its counts where many were known and each is zero now, or all are the same times what they were: a
 * provider has reset them, or joined its rows more than once.
 */
export function withoutReset(said: SaidFixture, squad: readonly Counted[]): SaidFixture {
  if ((countsIn(squad) ?? 0) < RESET_FROM || (countsIn(said.players) !== 0 && !isMultiplied(said, squad))) return said
  const players = said.players.map((player) => ({ ...player, details: player.details && uncounted(player.details) }))
  return { ...said, players }
}

type Counted = Pick<FixturePlayer, 'playerId' | 'details'>

const TIMES_MIN = 1.4
/** Together, counts that were multiplied are so far from it: a provider rounds, and play has gone on. */
const APART = 0.15

function isMultiplied({ players }: SaidFixture, squad: readonly Counted[]): boolean {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  const pairs = players.flatMap(({ playerId, details }) => {
    const before = known.get(playerId) ?? {}
    const types = Object.keys({ ...before, ...details })
      .map(Number)
      .filter(isCount)
    return types.map((type) => [before[type] ?? 0, details?.[type] ?? before[type] ?? 0] as const)
  })
  const [was, is] = [0, 1].map((n) => pairs.reduce((sum, pair) => sum + (pair[n] ?? 0), 0)) as [number, number]
  const times = was === 0 ? 0 : is / was
  if (times < TIMES_MIN || is - was < RESET_FROM) return false
  return pairs.reduce((apart, [before, now]) => apart + Math.abs(now / times - before), 0) <= APART * was
}

/** The sum of all counts; null where there is none. */
function countsIn(players: readonly Pick<Counted, 'details'>[]): number | null {
  const counts = players.flatMap(({ details }) =>
    Object.entries(details ?? {}).filter(([type]) => isCount(Number(type))),
  )
  return counts.length === 0 ? null : counts.reduce((sum, [, value]) => sum + value, 0)
}

const uncounted = (details: Details): Details =>
  Object.fromEntries(Object.entries(details).filter(([type]) => !isCount(Number(type))))
