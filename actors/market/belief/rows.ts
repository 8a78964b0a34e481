/**
 * The rows of a list of events as facts: a fact counts once, however many rows and ids tell of it. Rows come twice, are
 * given another id, lose a name and are corrected to another player, so each is paired with what was known.
 */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixtureEvent, FixtureEventKind, FixturePlayer, FixtureSnapshot, Side } from '../fixture.ts'
import { minuteEnd } from '../play-time.ts'
import {
  counts,
  type Incident,
  type IncidentKind,
  isCancelledBy,
  isGoal,
  isListed,
  isVar,
  near,
  scoringSide,
  statedId,
  within,
} from '../incidents.ts'
import { STATISTIC } from '../scoring.ts'

/** A fact that the list tells of, or that is remembered. */
export interface Candidate {
  readonly row: Omit<Incident, 'standing'>
  readonly before: Incident | null
  readonly present: boolean
  readonly rescinded: boolean
  /** It is no longer listed because the provider has put something else in its place. */
  readonly isCorrected: boolean
}

type Relevant = FixtureEvent & { readonly kind: IncidentKind }

/** Kinds that tell of the same: a player is sent off once, and a goal may turn out to be a penalty or an own goal. */
export const family = (kind: FixtureEventKind): string =>
  isGoal(kind) ? 'goal' : kind === 'red' || kind === 'second_yellow' ? 'dismissal' : kind

/** A player is booked and sent off once in a match, whatever the minute. */
const isOnce = (kind: FixtureEventKind): boolean => kind === 'yellow' || family(kind) === 'dismissal'

/** Shoot-out kicks and cards for coaches move no price. Half of a substitution is one. */
function isRelevant(event: FixtureEvent, { periods }: Pick<FixtureSnapshot, 'periods'>): event is Relevant {
  if (event.kind === 'shootout_goal' || event.kind === 'shootout_miss' || event.kind === 'other') return false
  if (event.period !== null && periods.some((p) => p.order === event.period && p.kind === 'penalties')) return false
  if (event.kind === 'substitution' && event.relatedPlayerId !== null) return true
  return event.playerId !== null || isGoal(event.kind) || isVar(event.kind)
}

/** Pairs the facts of a list with those remembered. `secs` of play have been played. */
export function pairRows(
  snapshot: FixtureSnapshot,
  remembered: readonly Incident[],
  secs: number,
): readonly Candidate[] {
  const list = listOf(snapshot, remembered)
  if (list === null) {
    return remembered.map((before) => ({ ...UNLISTED, row: before, before, present: before.standing !== 'cancelled' }))
  }
  const sides = new Map(snapshot.players.map((p) => [p.playerId, p.side]))
  const facts = factsOf(list.map((event) => rowOf(event, sides, secs)))
  const pairs = pairsOf(facts, remembered)
  const here = facts.map(({ row, rescinded }): Candidate => {
    const before = pairs.get(row) ?? null
    // A row that is corrected to another player is as old as it was.
    const same = before ?? remembered.find((r) => r.id === row.id && family(r.kind) === family(row.kind))
    // What was taken back, and comes at another time, is new.
    const known = same?.standing === 'cancelled' && !near(same, row) ? undefined : same
    const since = known?.listedAt ?? Math.min(secs, minuteEnd(row, snapshot.periods, secs))
    const kind = kindOf(row, before, { snapshot, remembered })
    return { row: { ...carried(row, before, since), kind }, before, present: true, rescinded, isCorrected: false }
  })
  const paired = new Set(here.map(({ before }) => before))
  const told = new Map(list.map(({ id, kind }) => [id, kind]))
  const gone = remembered.filter((row) => !paired.has(row) && !isReplaced(row, here))
  return [...here, ...gone.map((row) => ({ ...UNLISTED, row, before: row, isCorrected: isCorrected(row, here, told) }))]
}

const UNLISTED = { present: false, rescinded: false, isCorrected: false } as const

/**
 * The rows that matter. A list that is empty while the score has goals, or that has lost several facts at once, is no
 * list: a provider takes back one at a time.
 */
function listOf(snapshot: FixtureSnapshot, remembered: readonly Incident[]): readonly Relevant[] | null {
  const { events, players, home, away } = snapshot
  const known = remembered.filter((row) => counts(row) && isListed(row)).length
  const hasGoals = (home.goals ?? 0) + (away.goals ?? 0) > 0
  const list = events
    ?.map((event) => dated(named(event, remembered), remembered))
    .filter((event) => isRelevant(event, snapshot))
  const isStrange = ({ kind, side, playerId }: FixtureEvent): boolean =>
    (side === null || playerId !== null) && !isVar(kind) && !players.some((player) => player.playerId === playerId)
  const isEmptied = list?.filter(isListed).every(isStrange) === true && (known > 1 || (known === 1 && hasGoals))
  return isEmptied ? null : (list ?? null)
}

/** The list, with the dismissals that only the statistics tell: those of players whom no row has ever sent off. */
export function withStatedDismissals(
  events: readonly FixtureEvent[],
  players: readonly FixturePlayer[],
  known: readonly Incident[],
): readonly FixtureEvent[] {
  const told = new Set([...events, ...known].map((row) => family(row.kind) === 'dismissal' && row.playerId))
  const stated = players.flatMap(({ playerId, name, side, details }): readonly FixtureEvent[] => {
    const isSecond = (details?.[STATISTIC.secondYellow] ?? 0) > 0
    if (told.has(playerId) || !(isSecond || (details?.[STATISTIC.red] ?? 0) > 0)) return []
    const row = {
      id: statedId(playerId),
      kind: isSecond ? 'second_yellow' : 'red',
      side,
      playerId,
      playerName: name,
    } as const
    return isCancelledBy({ ...UNDATED, ...row }, events) ? [] : [{ ...UNDATED, ...row }]
  })
  return stated.length === 0 ? events : [...events, ...stated]
}

const UNDATED = {
  minute: null,
  extraMinute: null,
  period: null,
  relatedPlayerId: null,
  relatedPlayerName: null,
  result: null,
  addition: null,
  rescinded: false,
} as const

/** A row that has lost its player keeps the one it named before. */
function named<T extends FixtureEvent>(event: T, remembered: readonly Incident[]): T {
  if (event.playerId !== null || event.kind === 'substitution' || isVar(event.kind)) return event
  const before = remembered.find((r) => r.id === event.id && r.kind === event.kind && counts(r))
  return before === undefined
    ? event
    : { ...event, playerId: before.playerId, relatedPlayerId: event.relatedPlayerId ?? before.relatedPlayerId }
}

/** A row that has lost its minute keeps the one it had before. */
function dated<T extends FixtureEvent>(event: T, remembered: readonly Incident[]): T {
  if (event.minute !== null) return event
  const before = remembered.find((r) => r.id === event.id && r.kind === event.kind)
  if (before === undefined) return event
  const { minute, extraMinute, period } = before
  return { ...event, minute, extraMinute, period: event.period ?? period }
}

function rowOf(e: Relevant, sides: ReadonlyMap<PlayerId, Side>, listedAt: number): Listed {
  // An own goal by a player in no line-up: the provider files it under the side it counts for.
  const filed = e.kind === 'own_goal' && e.side !== null ? (e.side === 'home' ? 'away' : 'home') : e.side
  const player = e.playerId ?? (e.kind === 'substitution' ? e.relatedPlayerId : null)
  const side = (player === null ? undefined : sides.get(player)) ?? filed
  const related = e.relatedPlayerId === null ? undefined : sides.get(e.relatedPlayerId)
  // No opponent gives an assist.
  const isOpponent = e.kind === 'goal' && related !== undefined && side !== null && related !== side
  const row = {
    id: e.id,
    firstId: e.id,
    kind: e.kind,
    minute: e.minute,
    extraMinute: e.extraMinute,
    period: e.period,
    sortOrder: e.sortOrder ?? null,
    side,
    playerId: e.playerId,
    relatedPlayerId: isOpponent ? null : e.relatedPlayerId,
    addition: isVar(e.kind) ? e.addition : null,
    listedAt,
    isRelatedLost: false,
  }
  return { row, rescinded: e.rescinded }
}

interface Listed {
  readonly row: Candidate['row']
  readonly rescinded: boolean
}

/** One of the rows that tell the same: the one that says most, then the one that was given its id first. */
function factsOf(listed: readonly Listed[]): readonly Listed[] {
  const facts = new Set<Listed>()
  const weight = ({ row, rescinded }: Listed): number =>
    (rescinded ? 4 : 0) + (row.kind === 'red' ? 2 : 0) + (row.playerId === null || row.relatedPlayerId === null ? 1 : 0)
  for (const one of listed.toSorted((a, b) => weight(a) - weight(b) || a.row.id - b.row.id)) {
    // The score tells whether a player has scored twice in two minutes.
    const isTold = !isGoal(one.row.kind) && !isVar(one.row.kind) && [...facts].some((fact) => isSame(fact.row, one.row))
    if (!isTold) facts.add(one)
  }
  return listed.filter((one) => facts.has(one))
}

type Row = Pick<FixtureEvent, 'kind' | 'playerId' | 'relatedPlayerId' | 'minute' | 'extraMinute' | 'addition'>

/** Whether two rows tell the same of the same players. */
export function isSame(a: Row, b: Row): boolean {
  if (family(a.kind) !== family(b.kind)) return false
  if (a.kind === 'substitution') {
    const isOn = a.playerId !== null && a.playerId === b.playerId
    const isOff = a.relatedPlayerId !== null && a.relatedPlayerId === b.relatedPlayerId
    return near(a, b) && (isOn || isOff)
  }
  if (a.playerId !== b.playerId) return false
  if (isVar(a.kind)) return a.addition === b.addition && near(a, b, 0)
  return a.playerId !== null && (isOnce(a.kind) || near(a, b))
}

/** Whether a list no longer tells of a fact that counts. */
export const losesFacts = (events: FixtureSnapshot['events'], remembered: readonly Incident[]): boolean =>
  remembered.some((fact) => counts(fact) && events?.some((row) => row.id === fact.id || isSame(fact, row)) === false)

/** What each fact was before: by id, then by what it tells, then as a goal that had no name or has lost it. */
function pairsOf(facts: readonly Listed[], remembered: readonly Incident[]): ReadonlyMap<Candidate['row'], Incident> {
  const pairs = new Map<Candidate['row'], Incident>()
  const left = new Set(remembered)
  const isFree = (row: Candidate['row']): boolean => {
    const before = pairs.get(row)
    return before === undefined || !counts(before)
  }
  /** Whether a row repeats another that is listed and counts, rather than this one. */
  const isNearerToAnother = (row: Candidate['row'], before: Incident): boolean =>
    facts.some((fact) => {
      const known = fact.row === row ? undefined : pairs.get(fact.row)
      return known !== undefined && counts(known) && isSame(fact.row, row) && apart(fact.row, row) < apart(before, row)
    })
  const pair = (row: Candidate['row'], before: Incident): void => {
    pairs.set(row, before)
    left.delete(before)
  }
  const byId = new Map(remembered.filter((r) => r.standing !== 'cancelled').map((r) => [r.id, r]))
  for (const r of remembered) if (!byId.has(r.id)) byId.set(r.id, r)
  for (const { row } of facts) {
    const before = byId.get(row.id)
    if (before !== undefined && family(before.kind) === family(row.kind) && agrees(before, row)) pair(row, before)
  }
  for (const isPair of [isSame, isNamedNow]) {
    // What counts comes first: a row that was seen beside it, and is left alone now, goes on as the same fact.
    for (const before of [...left].toSorted((a, b) => Number(counts(b)) - Number(counts(a)))) {
      const isOpen = (row: Candidate['row']): boolean => (counts(before) ? isFree(row) : !pairs.has(row))
      const open = facts.filter(({ row }) => isOpen(row) && isPair(before, row) && !isNearerToAnother(row, before))
      const [closest] = open.toSorted((a, b) => apart(before, a.row) - apart(before, b.row))
      if (closest !== undefined) pair(closest.row, before)
    }
  }
  return pairs
}

const agrees = (r: Incident, row: Candidate['row']): boolean => {
  if (isVar(r.kind)) return r.addition === row.addition && r.playerId === row.playerId
  if (r.kind !== 'substitution') return r.playerId === null || r.playerId === row.playerId
  return (
    (r.playerId !== null && r.playerId === row.playerId) ||
    (r.relatedPlayerId !== null && r.relatedPlayerId === row.relatedPlayerId) ||
    isExchanged(r, row)
  )
}

/** Whether two rows tell of the same two players the other way round. */
export const isExchanged = (a: Row, b: Row): boolean =>
  a.playerId !== null && a.playerId === b.relatedPlayerId && b.playerId === a.relatedPlayerId

/** A goal of a side whose scorer one of two rows does not name, or neither. */
const isNamedNow = (before: Incident, row: Candidate['row']): boolean =>
  isGoal(before.kind) &&
  isGoal(row.kind) &&
  (before.playerId === null || row.playerId === null) &&
  before.side === row.side &&
  near(before, row)

const apart = (a: Row, b: Row): number => Math.abs((a.minute ?? b.minute ?? 0) - (b.minute ?? a.minute ?? 0))

/**
 * A row with what it does not say this time. An assist or a substitute that goes missing waits for a second list.
 * Another minute makes a fact neither older nor younger: it is of second `since` of play.
 */
function carried(row: Candidate['row'], before: Incident | null, since: number): Candidate['row'] {
  if (before === null) return { ...row, listedAt: since }
  const isDated = row.minute !== null
  const isRelatedLost = row.relatedPlayerId === null && before.relatedPlayerId !== null && !before.isRelatedLost
  return {
    ...row,
    firstId: before.firstId,
    listedAt: since,
    minute: isDated ? row.minute : before.minute,
    extraMinute: isDated ? row.extraMinute : before.extraMinute,
    period: row.period ?? (isDated ? null : before.period),
    side: row.side ?? before.side,
    playerId: row.playerId ?? before.playerId,
    relatedPlayerId: isRelatedLost ? before.relatedPlayerId : row.relatedPlayerId,
    isRelatedLost: isRelatedLost || (before.isRelatedLost && row.relatedPlayerId === null),
  }
}

/** A goal that would count for the other side is what it was, while that side has no more goals than it had. */
function kindOf(
  row: Candidate['row'],
  before: Incident | null,
  { snapshot, remembered }: { readonly snapshot: FixtureSnapshot; readonly remembered: readonly Incident[] },
): IncidentKind {
  const side = scoringSide(row)
  if (before === null || !counts(before) || !isGoal(row.kind) || side === null) return row.kind
  const of = remembered.filter((goal) => counts(goal) && isGoal(goal.kind) && scoringSide(goal) === side)
  return (snapshot[side].goals ?? Infinity) > of.length || of.includes(before) ? row.kind : before.kind
}

/** A row that only waited beside the one that goes on as its fact. */
const isReplaced = (row: Incident, here: readonly Candidate[]): boolean =>
  row.standing === 'seen' && isGoal(row.kind) && here.some((c) => c.row.id === row.id && isGoal(c.row.kind))

/**
 * Whether its id now tells another fact, or another player of its side has got the card instead. Of a goal that is no
 * longer called one the score decides.
 */
function isCorrected(row: Incident, here: readonly Candidate[], told: ReadonlyMap<number, IncidentKind>): boolean {
  const now = told.get(row.id)
  if (now !== undefined) return isGoal(now) || !isGoal(row.kind)
  if (!isOnce(row.kind)) return false
  return here.some((c) => c.before === null && c.row.kind === row.kind && c.row.side === row.side && near(c.row, row))
}

/** Whether a review that is listed explains why a row is gone. */
export const isReviewed = (row: Candidate['row'], all: readonly Candidate[]): boolean =>
  all.some(
    (review) =>
      review.present &&
      isVar(review.row.kind) &&
      !/confirmed|awarded|stands|review|penalty/i.test(review.row.addition ?? '') &&
      within(review.row, row),
  )
