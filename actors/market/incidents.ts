/**
 * The goals, cards and substitutions that count now. The provider's list is complete, but it may lose rows, change them
 * and bring them back. So it is compared with the rows seen before, and nothing is summed over time.
 */
import type { PlayerId } from '../kernel/ids.ts'
import type { FixtureEvent, FixtureEventKind, FixtureSnapshot, Side } from './fixture.ts'

/** News that suspends trading and is shown as the cause of the tick. */
export interface MatchNews {
  /** The provider's id of the event. */
  readonly eventId: number
  readonly kind: 'goal' | 'red_card' | 'penalty' | 'var' | 'goal_cancelled'
  readonly playerIds: readonly PlayerId[]
  /** The players it affects are not yet known. */
  readonly wholeMatch: boolean
}

type IncidentKind = Exclude<FixtureEventKind, 'shootout_goal' | 'shootout_miss' | 'other'>

/** A remembered row of the provider's list. */
export interface Incident {
  readonly id: number
  /** The id it was first listed under: a provisional row may become final under another. */
  readonly firstId: number
  readonly kind: IncidentKind
  readonly minute: number
  readonly extraMinute: number | null
  readonly period: number | null
  /** The side of the player's line-up; the provider's side only for players in neither line-up. */
  readonly side: Side | null
  readonly playerId: PlayerId | null
  readonly relatedPlayerId: PlayerId | null
  /** The provider's text, kept for VAR rows only. */
  readonly addition: string | null
  /**
   * `seen`: listed, but without effect (no player named yet, or ahead of the score). `missing`: counts, but was not in
   * the last list. `cancelled`: no longer counts; kept so that it is not news again.
   */
  readonly standing: 'seen' | 'counted' | 'missing' | 'cancelled'
}

interface Candidate {
  readonly row: Omit<Incident, 'standing'>
  readonly before: Incident | null
  readonly present: boolean
  readonly rescinded: boolean
}

/** A VAR row can refer to a goal or card up to this many minutes earlier. */
const VAR_REACH_MINUTES = 3

export const isGoal = (kind: FixtureEventKind): boolean =>
  kind === 'goal' || kind === 'own_goal' || kind === 'penalty_goal'
export const isCard = (kind: FixtureEventKind): boolean =>
  kind === 'yellow' || kind === 'red' || kind === 'second_yellow'
const isVar = (kind: FixtureEventKind): boolean => kind === 'var' || kind === 'var_card'
const clockMinute = (row: Pick<Incident, 'minute' | 'extraMinute'>): number => row.minute + (row.extraMinute ?? 0)

export const counts = (incident: Incident): boolean =>
  incident.standing === 'counted' || incident.standing === 'missing'

/** The side that a goal counts for. */
export function scoringSide(goal: Pick<Incident, 'kind' | 'side'>): Side | null {
  if (goal.kind !== 'own_goal' || goal.side === null) return goal.side
  return goal.side === 'home' ? 'away' : 'home'
}

interface Reconciled {
  readonly incidents: readonly Incident[]
  readonly news: readonly MatchNews[]
  /** The first ids of events that counted before and no longer do. */
  readonly cancelled: readonly number[]
}

/** The incidents after this snapshot, and the news among them. A snapshot without a list keeps the last one. */
export function reconcile(snapshot: FixtureSnapshot, remembered: readonly Incident[]): Reconciled {
  const candidates = match(snapshot, remembered)
  const annulled = annulledBy(candidates)
  const standing = candidates.filter((c) => stands(c, candidates) && !annulled.has(c))
  const counted = new Set(withinScore(standing, snapshot))
  const results = candidates.map((c) => ({
    before: c.before,
    now: {
      ...c.row,
      firstId: c.before?.firstId ?? c.row.id,
      standing: standingOf(c, counted.has(c), annulled.has(c)),
    },
  }))
  return {
    incidents: results.map((r) => r.now),
    news: results.flatMap((r) => newsOf(r.now, r.before)),
    cancelled: results.flatMap(({ now, before }) =>
      before !== null && counts(before) && !counts(now) ? [now.firstId] : [],
    ),
  }
}

/** Pairs listed rows with remembered ones: by id if the player agrees, else by kind, minute and player. */
function match(snapshot: FixtureSnapshot, remembered: readonly Incident[]): readonly Candidate[] {
  if (snapshot.events === null) {
    return remembered.map((before) => ({
      row: before,
      before,
      present: before.standing !== 'cancelled',
      rescinded: false,
    }))
  }
  const sides = new Map(snapshot.players.map((p) => [p.playerId, p.side]))
  const events = snapshot.events.filter((e) => isRelevant(e, snapshot))
  const left = new Set(remembered)
  const pair = (event: FixtureEvent, same: (r: Incident) => boolean): Incident | null => {
    const found = [...left].find((r) => family(r.kind) === family(event.kind) && same(r)) ?? null
    if (found !== null) left.delete(found)
    return found
  }
  const byId = new Map(events.map((e) => [e, pair(e, (r) => r.id === e.id && agrees(r, e))]))
  const here = events.map((event): Candidate => {
    const row = rowOf(event, sides)
    return {
      row,
      before: byId.get(event) ?? pair(event, (r) => sameKey(r, row)),
      present: true,
      rescinded: event.rescinded,
    }
  })
  return [...here, ...[...left].map((r): Candidate => ({ row: r, before: r, present: false, rescinded: false }))]
}

const family = (kind: FixtureEventKind): string => (isGoal(kind) ? 'goal' : kind)

const agrees = (r: Incident, e: FixtureEvent): boolean =>
  isVar(r.kind)
    ? r.addition === e.addition && r.playerId === e.playerId
    : r.playerId === null || r.playerId === e.playerId

const sameKey = (r: Incident, row: Candidate['row']): boolean =>
  r.playerId === row.playerId && clockMinute(r) === clockMinute(row) && r.addition === row.addition

/** Shoot-out kicks and cards for coaches move no price. */
function isRelevant(event: FixtureEvent, { periods }: FixtureSnapshot): event is FixtureEvent & { kind: IncidentKind } {
  if (event.kind === 'shootout_goal' || event.kind === 'shootout_miss' || event.kind === 'other') return false
  if (event.period !== null && periods.some((p) => p.order === event.period && p.kind === 'penalties')) return false
  return event.playerId !== null || isGoal(event.kind) || isVar(event.kind)
}

function rowOf(e: FixtureEvent & { kind: IncidentKind }, sides: ReadonlyMap<PlayerId, Side>): Candidate['row'] {
  // An own goal by a player in no line-up: the provider files it under the side it counts for.
  const filed = e.kind === 'own_goal' && e.side !== null ? (e.side === 'home' ? 'away' : 'home') : e.side
  return {
    id: e.id,
    firstId: e.id,
    kind: e.kind,
    minute: e.minute,
    extraMinute: e.extraMinute,
    period: e.period,
    side: (e.playerId === null ? undefined : sides.get(e.playerId)) ?? filed,
    playerId: e.playerId,
    relatedPlayerId: e.relatedPlayerId,
    addition: isVar(e.kind) ? e.addition : null,
  }
}

/** A row counts while it is listed. A vanished row counts for one more list, unless a VAR row explains it. */
function stands(c: Candidate, all: readonly Candidate[]): boolean {
  if (c.rescinded || c.row.playerId === null) return false
  if (c.present) return true
  if (c.before === null || c.before.standing !== 'counted') return false
  return !all.some((v) => v.present && isVar(v.row.kind) && within(v.row, c.row))
}

const within = (review: Candidate['row'], row: Candidate['row']): boolean => {
  const later = clockMinute(review) - clockMinute(row)
  return later >= 0 && later <= VAR_REACH_MINUTES
}

/** A VAR row that disallows a goal means the latest goal of its player, whether or not that is still listed. */
function annulledBy(all: readonly Candidate[]): ReadonlySet<Candidate> {
  const annulled = new Set<Candidate>()
  for (const review of all) {
    const text = review.row.addition?.toLowerCase()
    if (!review.present || (text !== 'goal disallowed' && text !== 'goal cancelled')) continue
    const latest = all
      .filter((c) => isGoal(c.row.kind) && c.row.playerId !== null && c.row.playerId === review.row.playerId)
      .filter((c) => within(review.row, c.row))
      .toSorted((a, b) => clockMinute(b.row) - clockMinute(a.row) || Number(a.present) - Number(b.present))[0]
    if (latest !== undefined) annulled.add(latest)
  }
  return annulled
}

/** Keeps each side's goals within the current score: vanished rows are dropped first, then the latest. */
function withinScore(standing: readonly Candidate[], { home, away }: FixtureSnapshot): readonly Candidate[] {
  const goals = standing.filter((c) => isGoal(c.row.kind))
  const capped = [home, away].flatMap(({ goals: score }, index) => {
    const side = index === 0 ? 'home' : 'away'
    const own = goals
      .filter((c) => scoringSide(c.row) === side)
      .toSorted((a, b) => Number(b.present) - Number(a.present) || clockMinute(a.row) - clockMinute(b.row))
    return score === null ? own : own.slice(0, score)
  })
  return [...standing.filter((c) => !isGoal(c.row.kind)), ...capped]
}

function standingOf(c: Candidate, counted: boolean, annulled: boolean): Incident['standing'] {
  if (counted) return c.present ? 'counted' : 'missing'
  const without = c.before === null || c.before.standing === 'seen'
  return without && c.present && !c.rescinded && !annulled ? 'seen' : 'cancelled'
}

function newsOf(now: Incident, before: Incident | null): readonly MatchNews[] {
  const wasThere = before !== null && before.standing !== 'cancelled'
  const news = (kind: MatchNews['kind'], wholeMatch = false): readonly MatchNews[] => {
    const players = [now.playerId, now.kind === 'goal' ? now.relatedPlayerId : null]
    return [{ eventId: now.id, kind, playerIds: players.filter((id) => id !== null), wholeMatch }]
  }
  if (isVar(now.kind)) return before === null ? news('var', concernsAll(now)) : []
  if (now.standing === 'cancelled') {
    return isGoal(now.kind) && before !== null && counts(before) ? news('goal_cancelled') : []
  }
  if (isGoal(now.kind)) {
    const named = wasThere && before.playerId === null && now.playerId !== null
    return !wasThere || named ? news('goal', now.playerId === null) : []
  }
  if (wasThere) return []
  if (now.kind === 'red' || now.kind === 'second_yellow') return news('red_card')
  return now.kind === 'penalty_missed' ? news('penalty') : []
}

/** A review that is under way or names no player may affect anyone. */
const concernsAll = (review: Incident): boolean =>
  review.playerId === null || review.addition === null || /review/i.test(review.addition)
