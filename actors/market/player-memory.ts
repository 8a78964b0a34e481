/** What is remembered of a player's statistics, and how an update changes it. */
import { canFollow } from './belief/plausible.ts'
import type { FixturePlayer, PlayerRole } from './fixture.ts'
import type { Differences } from './news.ts'
import { type Counts, DISCRETE, type ScoringModel, STATISTIC, volumePoints } from './scoring.ts'
import { countsIn } from './stated-counts.ts'

/** A player as last seen, for updates without the player's statistics. */
export interface PlayerMemory {
  /** Points of the running statistics. */
  readonly volume: number
  readonly rating: number | null
  /** The first rating that they were given, and their minutes on the pitch by then. */
  readonly first: { readonly rating: number; readonly minutes: number } | null
  /** Discrete actions according to the statistics. */
  readonly counts: Counts
  /** Discrete actions according to the list of events. */
  readonly listed: Counts
  /** What the list has taken back, and the statistics have not. */
  readonly takenBack: Counts
  /** Differences between the two that no longer hold anything up. */
  readonly excused: Differences
}

/** A player before the first statistics. */
export const UNSEEN: PlayerMemory = {
  volume: 0,
  rating: null,
  first: null,
  counts: {},
  listed: {},
  takenBack: {},
  excused: {},
}

/** The player after an update. Without new statistics nothing changes, and a rating once given stays. */
export function refresh(
  before: PlayerMemory,
  details: FixturePlayer['details'],
  { role, minutes }: { readonly role: PlayerRole; readonly minutes: number },
  model: ScoringModel,
): PlayerMemory {
  if (details === null) return before
  const rating = details[STATISTIC.rating] ?? before.rating
  const counts = countsIn(details, role)
  const isFirst = before.first === null || isFirstWrong(before, { rating, counts, minutes })
  return {
    ...before,
    volume: rounded(volumePoints(model, role, details)),
    rating,
    first: rating !== null && isFirst ? { rating, minutes: rounded(minutes) } : before.first,
    counts,
  }
}

/** A first rating that leaps within this many minutes of play was wrong: a mistake, or a number for no rating yet. */
const FIRST_MINUTES = 3

function isFirstWrong(
  { first, rating: last, counts: known }: PlayerMemory,
  { rating, counts, minutes }: Pick<PlayerMemory, 'rating' | 'counts'> & { readonly minutes: number },
): boolean {
  if (first === null || last === null || rating === null || minutes - first.minutes > FIRST_MINUTES) return false
  const withNews = DISCRETE.some((action) => known[action] !== counts[action])
  return !canFollow(STATISTIC.rating, last, rating, { withNews, minutes: 0 })
}

/** Rounds to millionths of a point, so that stored memory is short and equals the values used. */
const rounded = (points: number): number => Math.round(points * 1e6) / 1e6
