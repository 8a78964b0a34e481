/** The goals, cards and substitutions of a match, as they are remembered. */
import type { PlayerId } from '../kernel/ids.ts'
import type { FixtureEvent, FixtureEventKind, Side } from './fixture.ts'

/** News that suspends trading and is shown as the cause of the tick. */
export interface MatchNews {
  /** The provider's id of the event. */
  readonly eventId: number
  readonly kind: 'goal' | 'red_card' | 'penalty' | 'var' | 'goal_cancelled'
  readonly playerIds: readonly PlayerId[]
  /** The players it affects are not yet known. */
  readonly wholeMatch: boolean
}

export type IncidentKind = Exclude<FixtureEventKind, 'shootout_goal' | 'shootout_miss' | 'other'>

/** A remembered row of the provider's list. */
export interface Incident {
  readonly id: number
  /** The id it was first listed under: a provisional row may become final under another. */
  readonly firstId: number
  readonly kind: IncidentKind
  /** Null while no list has said when: then it is as old as its first listing. */
  readonly minute: number | null
  readonly extraMinute: number | null
  readonly period: number | null
  /** The provider's place among the rows of its kind in one minute. */
  readonly sortOrder: number | null
  /** The side of the player's line-up; the provider's side only for players in neither line-up. */
  readonly side: Side | null
  readonly playerId: PlayerId | null
  readonly relatedPlayerId: PlayerId | null
  /** The provider's text, kept for VAR rows only. */
  readonly addition: string | null
  /** Seconds of play when it was first listed, or when the minute ended that it had then: whichever came first. */
  readonly listedAt: number
  /** The last list no longer named the assist or substitute. They count until another list says so. */
  readonly isRelatedLost: boolean
  /**
   * `seen`: listed, but without effect (no player named yet, or ahead of the score). `missing`: counts, but was not in
   * the last list. `cancelled`: no longer counts; kept so that it is not news again.
   */
  readonly standing: 'seen' | 'counted' | 'missing' | 'cancelled'
}

type Dated = Pick<Incident, 'minute' | 'extraMinute'>

/** A VAR row can refer to a goal or card up to this many minutes earlier. */
const VAR_REACH_MINUTES = 3

export const isGoal = (kind: FixtureEventKind): boolean =>
  kind === 'goal' || kind === 'own_goal' || kind === 'penalty_goal'
export const isVar = (kind: FixtureEventKind): boolean => kind === 'var' || kind === 'var_card'
export const clockMinute = (row: Dated): number => (row.minute ?? 0) + (row.extraMinute ?? 0)

/** The same fact may be dated this many minutes apart. */
const REDATED_MINUTES = 2

/** Whether two rows may tell of the same minute. An unknown minute may be any. */
export const near = (a: Dated, b: Dated, minutes = REDATED_MINUTES): boolean =>
  a.minute === null || b.minute === null || Math.abs(clockMinute(a) - clockMinute(b)) <= minutes

/** Ids of rows that no list has: what only the statistics of a player tell. No provider counts so far. */
const PLAYERS = 4_294_967_296
const STATED_FROM = Number.MAX_SAFE_INTEGER - PLAYERS
export const statedId = (player: PlayerId): number => STATED_FROM + (player % PLAYERS)
export const isListed = ({ id }: Pick<FixtureEvent, 'id'>): boolean => id < STATED_FROM

export const counts = (incident: Incident): boolean =>
  incident.standing === 'counted' || incident.standing === 'missing'

/** Whether a row may affect anyone: a review that is under way, or one that names no player. */
export const concernsAll = ({ kind, playerId, addition }: Pick<Incident, 'kind' | 'playerId' | 'addition'>): boolean =>
  playerId === null || (isVar(kind) && (addition === null || /review/i.test(addition)))

/** The side that a goal counts for. */
export function scoringSide(goal: Pick<Incident, 'kind' | 'side'>): Side | null {
  if (goal.kind !== 'own_goal' || goal.side === null) return goal.side
  return goal.side === 'home' ? 'away' : 'home'
}

/** Whether a review may be about a row: it is dated in the minutes after it. */
export const within = (review: Dated, row: Dated): boolean => {
  if (review.minute === null || row.minute === null) return false
  const later = clockMinute(review) - clockMinute(row)
  return later >= 0 && later <= VAR_REACH_MINUTES
}

/** Whether a row says that something no longer counts. */
export const isTakenBack = ({ kind, addition, rescinded }: FixtureEvent): boolean =>
  rescinded || (isVar(kind) && isDisallowed(addition))

/** Seconds of play after which a review has said all it will. */
export const REVIEW_SECS = 300

/** Whether a review says that a goal stands. */
export const isUpheld = ({ kind, addition }: Pick<Incident, 'kind' | 'addition'>): boolean =>
  kind === 'var' && /goal (?:confirmed|awarded|stands)/i.test(addition ?? '')

export const isDisallowed = (addition: string | null): boolean => /^goal (disallowed|cancelled)\b/i.test(addition ?? '')

/** Whether one of the rows is a review that takes back the dismissal of this row, which may stay listed as it was. */
export const isCancelledBy = (row: FixtureEvent, rows: readonly FixtureEvent[]): boolean =>
  (row.kind === 'red' || row.kind === 'second_yellow') &&
  rows.some(
    ({ kind, addition, ...review }) =>
      isVar(kind) &&
      /^red ?card (?:cancell?ed|overturned)\b/i.test(addition ?? '') &&
      review.playerId === row.playerId &&
      (row.minute === null || within(review, row)),
  )

/** What reviews have said of a goal: the row of one that is under way, or that it stands. */
export function reviewOf(goal: Incident, incidents: readonly Incident[]): { stands: boolean; open: Incident | null } {
  const rows = incidents.filter(
    (row) =>
      row.kind === 'var' &&
      (row.standing === 'counted' || row.standing === 'seen') &&
      (row.playerId === null || row.playerId === goal.playerId) &&
      within(row, goal),
  )
  return {
    stands: rows.some(isUpheld),
    open: rows.find(({ addition }) => /goal.*review/i.test(addition ?? '')) ?? null,
  }
}
