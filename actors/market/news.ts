/**
 * News: what the list of events or the statistics show first about a player. The provider seldom tells both at once,
 * and until they agree the price does not hold all that is known.
 */
import type { PlayerId } from '../kernel/ids.ts'
import type { PlayerRole, Side } from './fixture.ts'
import { counts, type Incident, isGoal, type MatchNews, scoringSide } from './incidents.ts'
import type { Counts, DiscreteAction } from './scoring.ts'

/** What an update shows about a player that was not known before. */
export interface PlayerNews {
  /** The provider's id of the event; 0 when no row of the list is behind it. */
  readonly eventId: number
  /** The ids that the rows behind it were first listed under. */
  readonly firstIds: readonly number[]
  /** Seconds of play since the minute of the event began; 0 when that is not known. */
  readonly ageSecs: number
  /** Milliseconds of a break since then, in which no clock of play ran. */
  readonly pausedMs: number
  /** False for a review or a goal without a name: it may concern any player. */
  readonly names: boolean
  /** A penalty is behind it, which is seen long before it is taken. */
  readonly isPenalty: boolean
}

/** By name of the statistic: how many the list has more than the statistics. Never 0. */
export type Differences = Readonly<Record<string, number>>

/**
 * The counts that list and statistics both tell. A player is booked and sent off once at most: providers disagree about
 * what a second yellow card adds to either. Goals conceded are counted for keepers; their team-mates wait with them.
 */
interface Compared {
  readonly name: string
  readonly actions: readonly DiscreteAction[]
  readonly once?: true
  readonly role?: PlayerRole
}

const COMPARED: readonly Compared[] = [
  { name: 'goals', actions: ['goal', 'penalty_goal'] },
  { name: 'assists', actions: ['assist'] },
  { name: 'ownGoals', actions: ['own_goal'] },
  { name: 'bookings', actions: ['yellow'], once: true },
  { name: 'dismissals', actions: ['red', 'second_yellow'], once: true },
  { name: 'conceded', actions: ['conceded'], role: 'GK' },
]
const comparedOf = (role: PlayerRole): readonly Compared[] =>
  COMPARED.filter((one) => one.role === undefined || one.role === role)
const COMPARED_OF: Readonly<Record<PlayerRole, readonly Compared[]>> = {
  GK: comparedOf('GK'),
  DEF: comparedOf('DEF'),
  MID: comparedOf('MID'),
  FWD: comparedOf('FWD'),
}

/** A player's counts in the list of events and in the statistics. */
export interface ReportedCounts {
  readonly listed: Counts
  readonly stated: Counts
  /** Differences that outlived their hold. */
  readonly excused: Differences
}

/**
 * The differences that are waited for. One that outlived its hold is not, and neither is a count that was missing from
 * the statistics then and still is: a provider that never sends it must not hold a player for ever.
 */
export function differencesOf(role: PlayerRole, { listed, stated, excused }: ReportedCounts): Differences {
  const waited: Record<string, number> = {}
  for (const { name, inStatistics, difference } of compared(role, listed, stated)) {
    const before = excused[name] ?? 0
    const isSilent = inStatistics === 0 && difference > 0 && before > 0
    if (difference !== 0 && difference !== before && !isSilent) waited[name] = difference
  }
  return waited
}

/** The differences that exist, which is what an expired hold excuses. */
export function excuseFor(role: PlayerRole, { listed, stated }: Omit<ReportedCounts, 'excused'>): Differences {
  const existing = compared(role, listed, stated).filter(({ difference }) => difference !== 0)
  return Object.fromEntries(existing.map(({ name, difference }) => [name, difference]))
}

/** Excuses hold only while their difference exists: once both have agreed, the next one is waited for. */
export function stillExcused(role: PlayerRole, reported: ReportedCounts): Differences {
  if (Object.keys(reported.excused).length === 0) return reported.excused
  const existing = excuseFor(role, reported)
  return Object.fromEntries(Object.entries(reported.excused).filter(([name]) => existing[name] !== undefined))
}

function compared(role: PlayerRole, listed: Counts, stated: Counts) {
  return COMPARED_OF[role].map(({ name, actions, once }) => {
    const inStatistics = countOf(stated, actions, once === true)
    return { name, inStatistics, difference: countOf(listed, actions, once === true) - inStatistics }
  })
}

function countOf(from: Counts, actions: readonly DiscreteAction[], once: boolean): number {
  let sum = 0
  for (const action of actions) sum += from[action] ?? 0
  return once ? Math.min(1, sum) : sum
}

/** Whether an update shows something new about a player: a listed count, or a difference, has changed. */
export function isNews(role: PlayerRole, before: ReportedCounts, now: ReportedCounts): boolean {
  if (!sameCounts(movedBy(role, before.listed), movedBy(role, now.listed))) return true
  const differences = differencesOf(role, now)
  return Object.keys(differences).length > 0 && !sameCounts(differencesOf(role, before), differences)
}

/** All players on the pitch concede a goal together, but no forward is marked down for it. */
export const concedes = (role: PlayerRole): boolean => role !== 'FWD'

function movedBy(role: PlayerRole, { conceded, ...own }: Counts): Counts {
  return conceded === undefined || !concedes(role) ? own : { ...own, conceded }
}

type AnyCounts = Readonly<Record<string, number | undefined>>

function sameCounts(a: AnyCounts, b: AnyCounts): boolean {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => (a[key] ?? 0) === (b[key] ?? 0))
}

/** A player as news sees them. */
export interface Concerned {
  readonly playerId: PlayerId
  readonly role: PlayerRole
  readonly side: Side
}

/** The rows about a player. */
interface RowsBehind {
  /** Those that this update added or changed, earliest first. */
  readonly changed: readonly Incident[]
  readonly latest: Incident | null
}

/** The rows behind a player's news. `named` is the news that names the player or no player; null if there is none. */
export function rowsBehind(
  player: Concerned,
  named: MatchNews | null,
  incidents: readonly Incident[],
  remembered: readonly Incident[],
): RowsBehind {
  const known = new Set(remembered.map(signatureOf))
  const own = incidents
    .filter((incident) => concerns(incident, player) || incident.id === named?.eventId)
    .toSorted((a, b) => (a.minute ?? 0) - (b.minute ?? 0) || (a.extraMinute ?? 0) - (b.extraMinute ?? 0))
  return { changed: own.filter((incident) => !known.has(signatureOf(incident))), latest: own.at(-1) ?? null }
}

function concerns(incident: Incident, { playerId, role, side }: Concerned): boolean {
  if (incident.kind === 'substitution') return false
  if (incident.playerId === playerId) return true
  if (!isGoal(incident.kind)) return false
  return incident.relatedPlayerId === playerId || (concedes(role) && scoringSide(incident) !== side)
}

const signatureOf = (incident: Incident): string =>
  [incident.id, incident.playerId, incident.relatedPlayerId, counts(incident)].join()

/** The players that a row of the list names, or all players when it names none. */
export function namedBy(news: readonly MatchNews[], playerId: PlayerId): MatchNews | null {
  return news.findLast((item) => item.playerIds.includes(playerId)) ?? news.findLast((item) => item.wholeMatch) ?? null
}
