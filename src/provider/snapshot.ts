/**
 * Turns a payload of the provider into a fixture snapshot. The provider's type numbers and quirks are known only here.
 */
import { fixtureId, type InstrumentId, type PlayerId, playerId } from '../../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type {
  FixtureEvent,
  FixtureEventKind,
  FixtureSnapshot,
  PeriodKind,
  SaidFixture,
  SaidPeriod,
  Side,
} from '../../actors/market/fixture.ts'
import { stateBeside } from '../../actors/market/belief/periods.ts'
import { clockMinute, isCancelledBy, near } from '../../actors/market/incidents.ts'
import { hasShootout, isKnownState } from '../../actors/market/phase.ts'
import { goalsByOdds } from './odds.ts'
import { namedIn, playersOf } from './players.ts'
import { sidesOf } from './sides.ts'
import type { Skipped } from './fields.ts'
import { type EventRow, type FixturePayload, type PeriodRow, readPayload, type ScoreRow } from './payload.ts'
import { STATISTIC } from '../../actors/market/scoring.ts'
import { TEAM_STATISTIC } from '../../actors/market/statistic-names.ts'

export interface ParseOptions {
  readonly instrumentIdOf: (playerId: PlayerId) => InstrumentId
  /** The provider does not date its payloads, so a payload is dated when it was received. */
  readonly receivedAt: Instant
}

export type Parsed =
  /** `skipped`: what could not be read, by field, and how often. */
  | { readonly ok: true; readonly snapshot: SaidFixture; readonly skipped: Skipped }
  | { readonly ok: false; readonly reason: string }

/** The snapshot in a fixture payload, or the reason why it cannot be read. Never throws. */
export function parseFixture(payload: unknown, options: ParseOptions): Parsed {
  const { fixture, skipped } = readPayload(payload)
  if (fixture === null) return { ok: false, reason: whyNot(payload) }
  const home = fixture.participants?.find((p) => p.meta.location === 'home')
  const away = fixture.participants?.find((p) => p.meta.location === 'away')
  if (home === undefined || away === undefined || home.id === away.id) {
    return { ok: false, reason: `fixture ${fixture.id} does not name a home and an away team` }
  }
  const sideIn = sidesOf(fixture, home.id, away.id)
  // Only a line-up means a team without saying which.
  const sideOf = (team: number | null): Side | null => (team === null ? null : sideIn(team))
  const scoreOf = (side: Side, kind: ScoreKind): number | null =>
    goalsIn(fixture, (row) => (sideOf(row.participant_id) ?? row.score.participant) === side && isOf(row, kind))
  const periods = periodsOf(fixture, options.receivedAt)
  const told = periods.map(({ period }) => period)
  const state = stateBeside({ state: stateOf(fixture), stateId: fixture.state_id }, told)
  const isShootout = hasShootout({ ...state, periods: told })
  const players = playersOf(fixture, sideIn, options.instrumentIdOf)
  const current = { home: scoreOf('home', 'CURRENT'), away: scoreOf('away', 'CURRENT') }
  const total = (current.home ?? 0) + (current.away ?? 0)
  const named = namedIn(players)
  const rows = fixture.events?.map((row) => named(row, sideOf(row.participant_id))).filter(isFact)
  const listed = rows?.map((row) => eventOf(row, periods, { total, isShootout, side: sideOf(row.participant_id) }))
  const events = listed === undefined ? null : withDismissals(listed, players)
  const kicks = events?.filter(({ kind }) => kind === 'shootout_goal' || kind === 'shootout_miss') ?? []
  const scored = (side: Side): number | null => scoreOf(side, 'PENALTY_SHOOTOUT')
  const isCounted = kicks.length > 0 || scored('home') !== null || scored('away') !== null
  // Its own score counts; until the provider shows one, the kicks do.
  const shootoutOf = (side: Side): { readonly shootout?: number } =>
    isCounted ? { shootout: scored(side) ?? goalsAmong(kicks, side) } : {}
  const shootout = { home: shootoutOf('home'), away: shootoutOf('away') }
  const goals = withoutShootout(current, shootout)
  return {
    ok: true,
    snapshot: {
      fixtureId: fixtureId(fixture.id),
      name: fixture.name ?? (home.name === null || away.name === null ? null : `${home.name} vs ${away.name}`),
      league: fixture.league?.name ?? (fixture.league_id === null ? null : `League ${fixture.league_id}`),
      startsAt: startOf(fixture),
      ...state,
      home: { id: home.id, name: home.name, goals: goals.home, ...shootout.home },
      away: { id: away.id, name: away.name, goals: goals.away, ...shootout.away },
      periods: told,
      events,
      players,
      teamStats: teamStatsOf(fixture, sideOf),
      expectedGoals: goalsByOdds(fixture),
      sourceAt: options.receivedAt,
    },
    skipped,
  }
}

/** The scores that are read, by their description, and by the type of a row without one. */
const SCORE = { CURRENT: 1525, PENALTY_SHOOTOUT: 5 } as const
type ScoreKind = keyof typeof SCORE

const isOf = ({ description, type_id: type }: ScoreRow, kind: ScoreKind): boolean =>
  description === null ? type === SCORE[kind] : description === kind

/** Of two rows of a score the one that the provider made last counts. */
function goalsIn({ scores }: FixturePayload, isWanted: (row: ScoreRow) => boolean): number | null {
  const rows = scores?.filter(isWanted) ?? []
  const newest = rows.toSorted((a, b) => (a.id ?? 0) - (b.id ?? 0) || (a.score.goals ?? 0) - (b.score.goals ?? 0))
  return newest.findLast(({ score }) => score.goals !== null)?.score.goals ?? null
}

type Goals = Readonly<Record<Side, number | null>>

/** Some providers count the goals of a shoot-out in the current score. A match that has one was level before it. */
function withoutShootout(current: Goals, kicks: Readonly<Record<Side, { readonly shootout?: number }>>): Goals {
  const { home, away } = current
  if (home === null || away === null || home === away) return current
  const [level, other] = [home - (kicks.home.shootout ?? 0), away - (kicks.away.shootout ?? 0)]
  return level === other && level >= 0 ? { home: level, away: level } : current
}

/** The first of its two names that is known, else the first: an unknown one freezes the match. */
function stateOf({ state }: FixturePayload): string | null {
  const names = [state?.state ?? null, state?.developer_name ?? null].filter((name) => name !== null)
  return names.find(isKnownState) ?? names[0] ?? null
}

const goalsAmong = (kicks: readonly FixtureEvent[], by: Side): number =>
  kicks.filter(({ kind, side, rescinded }) => kind === 'shootout_goal' && side === by && !rescinded).length

function whyNot(payload: unknown): string {
  if (typeof payload !== 'object' || payload === null) return 'the payload is not an object'
  if ('message' in payload && typeof payload.message === 'string') return `the provider answered: ${payload.message}`
  return 'the payload has no fixture id'
}

function startOf({ starting_at_timestamp: seconds, starting_at: date }: FixturePayload): Instant | null {
  if (seconds !== null) return instant(seconds * SECOND_MS)
  return date === null ? null : instant(date)
}

interface KnownPeriod {
  readonly period: SaidPeriod
  /** Its rows in the provider's two lists of periods. */
  readonly rowIds: readonly number[]
}

const PERIOD: Readonly<Record<number, { kind: PeriodKind; order: number; countsFrom: number; length: number }>> = {
  1: { kind: 'first_half', order: 1, countsFrom: 0, length: 45 },
  2: { kind: 'second_half', order: 2, countsFrom: 45, length: 45 },
  5314: { kind: 'extra_time', order: 3, countsFrom: 90, length: 15 },
  39: { kind: 'extra_time', order: 4, countsFrom: 105, length: 15 },
  // The plain list has one row for all of extra time. From its second half on that row counts from 105, but its
  // minutes never restart: counted from 90 it is one period of 30 minutes.
  3: { kind: 'extra_time', order: 3, countsFrom: 90, length: 30 },
  5: { kind: 'penalties', order: 5, countsFrom: 120, length: 0 },
}

/**
 * `detailedperiods` tells the halves of extra time apart; old recordings do not have it, and it may lag behind. Of
 * several rows of a period the one whose clock is ahead counts.
 */
function periodsOf(fixture: FixturePayload, now: Instant): readonly KnownPeriod[] {
  const [detailed, plain] = [fixture.detailedperiods ?? [], fixture.periods ?? []]
  const isSplit = detailed.some(({ type_id: type }) => type === 5314 || type === 39)
  const found = new Map<number, KnownPeriod>()
  for (const row of [...detailed, ...plain]) {
    const period = isSplit && row.type_id === 3 ? null : periodOf(row, now)
    if (period === null || !hasBegun(period)) continue
    const other = found.get(row.type_id)
    const rowIds = [row.id, ...twins(row, plain), ...(other?.rowIds ?? [])].filter((id) => id !== null)
    const isAhead = other === undefined || (period.elapsedSecs ?? -Infinity) > (other.period.elapsedSecs ?? -Infinity)
    found.set(row.type_id, { period: isAhead ? period : other.period, rowIds })
  }
  return [...found.values()].toSorted((a, b) => a.period.order - b.period.order)
}

/** Some providers list the periods that may follow: they count once they tick, or have a clock. */
const hasBegun = ({ ticking, elapsedSecs }: SaidPeriod): boolean => ticking || (elapsedSecs ?? 0) > 0

/** The plain list has one row for all of extra time; the second half of extra time shares it. */
const twins = (row: PeriodRow, plain: readonly PeriodRow[]): readonly (number | null)[] =>
  row.type_id === 39 ? plain.filter((p) => p.type_id === 3).map((p) => p.id) : []

/** No period lasts this many minutes longer than it should, nor does a shoot-out. */
const BEYOND_MAX = 60

/** A clock is at most this far before the first minute of its period: else it counts from the start of the period. */
const EARLY_SECS = 300

function periodOf(row: PeriodRow, now: Instant): SaidPeriod | null {
  const known = PERIOD[row.type_id]
  if (known === undefined) return null
  const whole = row.type_id === 3
  const countsFrom = whole || !isOfItsMinutes(row, known) ? known.countsFrom : (row.counts_from ?? known.countsFrom)
  const length = whole ? known.length : (row.period_length ?? known.length)
  const isPossible = row.minutes !== null && row.minutes <= countsFrom + length + BEYOND_MAX
  const stamped = whole ? null : secsBetween(row, now, (length + BEYOND_MAX) * 60)
  const clock = isPossible ? row.minutes * 60 + (row.seconds ?? 0) - countsFrom * 60 : stamped
  return {
    id: row.id ?? 0,
    kind: known.kind,
    // The provider's own numbers have been seen to change, and to be the same for two periods.
    order: known.order,
    countsFrom,
    length,
    elapsedSecs: clock !== null && clock < -EARLY_SECS ? clock + countsFrom * 60 : clock,
    ticking: row.ticking ?? false,
  }
}

/** A period without minutes has lasted since it began; null where it cannot have, as in a recording. */
function secsBetween({ started, ended, ticking }: PeriodRow, now: Instant, most: number): number | null {
  const until = ended ?? (ticking === true ? Math.floor(now / SECOND_MS) : null)
  const secs = started === null || until === null ? -1 : until - started
  return secs >= 0 && secs <= most ? secs : null
}

/** Minutes go on through the match: a later period counts from none, and none is before the first of its period. */
function isOfItsMinutes({ counts_from: from, minutes }: PeriodRow, { countsFrom }: { countsFrom: number }): boolean {
  if (from === null || minutes === null || from === countsFrom) return true
  return countsFrom > 0 && from > 0 && minutes >= from
}

const EVENT_KIND: Readonly<Record<number, FixtureEventKind>> = {
  10: 'var',
  14: 'goal',
  15: 'own_goal',
  16: 'penalty_goal',
  17: 'penalty_missed',
  18: 'substitution',
  19: 'yellow',
  20: 'red',
  21: 'second_yellow',
  22: 'shootout_miss',
  23: 'shootout_goal',
  1697: 'var_card',
}

/** What a row is whose text contradicts its type: the text has `info` and `addition` in a line each. */
const TEXT_KIND: readonly (readonly [type: number, text: RegExp, kind: FixtureEventKind])[] = [
  [14, /\bmiss(?:ed)?\b[^]*\bpenalty\b|\bpenalty\b[^]*\bmiss(?:ed)?\b/i, 'penalty_missed'],
  [14, /\bmiss(?:ed)?\b/i, 'other'],
  [14, /^own goal$/im, 'own_goal'],
  [14, /^penalty$/im, 'penalty_goal'],
  [16, /\bmiss(?:ed)?\b|^(?:penalty )?saved$/im, 'penalty_missed'],
  // The second one of its player: `2nd Yellowcard` is that of the match.
  [19, /^second yellow(?: ?card)?$/im, 'second_yellow'],
]

function kindOf({ type_id: type, coach_id: coach, info, addition }: EventRow): FixtureEventKind {
  const said = TEXT_KIND.find(([of, text]) => of === type && text.test(`${info}\n${addition}`))
  const kind = said?.[2] ?? (type === null ? undefined : EVENT_KIND[type]) ?? 'other'
  // A coach may have been a player, and have their number.
  return coach !== null && CARDS.has(kind) ? 'other' : kind
}

const CARDS: ReadonlySet<FixtureEventKind> = new Set(['yellow', 'red', 'second_yellow'])

interface Around {
  /** The goals of both sides. */
  readonly total: number
  readonly isShootout: boolean
  /** Of the row. */
  readonly side: Side | null
}

function eventOf(row: EventRow, periods: readonly KnownPeriod[], around: Around): FixtureEvent {
  const find = (id: number | null) => periods.find((p) => id !== null && p.rowIds.includes(id))?.period
  const period = find(row.detailed_period_id) ?? find(row.period_id)
  const kind = kindOf(row)
  const related = row.related_player_id === row.player_id ? null : row.related_player_id
  return {
    id: row.id ?? madeUpId(row),
    kind: isShootoutKick(row, around, period?.kind ?? null) ? shootoutKind(kind) : kind,
    minute: row.minute?.minute ?? null,
    extraMinute: row.minute === null ? null : (row.extra_minute ?? row.minute.extra),
    ...(row.sort_order === null ? {} : { sortOrder: row.sort_order }),
    period: period?.order ?? null,
    side: around.side,
    playerId: row.player_id === null ? null : playerId(row.player_id),
    playerName: row.player_name,
    relatedPlayerId: related === null ? null : playerId(related),
    relatedPlayerName: related === row.related_player_id ? row.related_player_name : null,
    result: row.result,
    addition: row.addition,
    rescinded: row.rescinded ?? false,
  }
}

/**
 * A booking that comes minutes after another of its player dismisses them, where the statistics count two. A dismissal
 * that a review cancels is rescinded, although its row does not say so.
 */
function withDismissals(events: readonly FixtureEvent[], players: SaidFixture['players']): readonly FixtureEvent[] {
  const isSecond = (row: FixtureEvent): boolean => {
    const details = players.find(({ playerId: id }) => id === row.playerId)?.details ?? {}
    const { yellow, secondYellow, red } = STATISTIC
    const isRed = events.some((one) => one.kind === 'red' && one.playerId === row.playerId)
    const cards = [yellow, secondYellow, ...(isRed ? [] : [red])].reduce((sum, type) => sum + (details[type] ?? 0), 0)
    const isFirst = (one: FixtureEvent): boolean =>
      one.kind === 'yellow' && one.playerId === row.playerId && clockMinute(one) < clockMinute(row) && !near(one, row)
    return cards > 1 && events.some(isFirst)
  }
  return events
    .map((row): FixtureEvent => (row.kind === 'yellow' && isSecond(row) ? { ...row, kind: 'second_yellow' } : row))
    .map((row) => (isCancelledBy(row, events) ? { ...row, rescinded: true } : row))
}

/** A row without an id that can be read is one where it says of whom it tells what. */
const isFact = ({ id, type_id: type, player_id: player, related_player_id: related }: EventRow): boolean =>
  id !== null || (type !== null && type in EVENT_KIND && (player ?? related) !== null)

/** Made-up ids are larger than a provider's: places for a player, a minute, a kind, and this. */
const PLAYERS = 4_294_967_296
const MINUTES = 256
const KINDS = 2_048
const MADE_UP = PLAYERS * MINUTES * KINDS

/** For a row without an id that can be read: the same for what tells the same. */
function madeUpId({ type_id: type, minute, player_id: player, related_player_id: related }: EventRow): number {
  const when = ((type ?? 0) % KINDS) * MINUTES + (minute?.minute ?? 0)
  return MADE_UP + when * PLAYERS + ((player ?? related ?? 0) % PLAYERS)
}

const GOAL = 14
const KICKS: ReadonlySet<number> = new Set([GOAL, 16, 17])

/**
 * Kicks of a shoot-out have been seen as goals of its period, and as ordinary penalties with a minute of extra time and
 * a running result that counts the shoot-out. Neither is possible for a penalty of the match once there is a shoot-out.
 */
function isShootoutKick(row: EventRow, { total, isShootout }: Around, kind: PeriodKind | null): boolean {
  if (row.type_id === null || !KICKS.has(row.type_id)) return false
  if (kind === 'penalties') return true
  // A goal of the last minute may be why there is a shoot-out.
  if (!isShootout || row.type_id === GOAL) return false
  if (kind === null && (row.minute?.minute ?? 0) >= 120) return true
  const running = row.result?.match(/^(\d+)-(\d+)$/)
  return running !== null && running !== undefined && Number(running[1]) + Number(running[2]) > total
}

const shootoutKind = (kind: FixtureEventKind): FixtureEventKind =>
  kind === 'penalty_missed' ? 'shootout_miss' : 'shootout_goal'

type TeamStats = Record<Side, Record<string, number>>

function teamStatsOf(
  fixture: FixturePayload,
  sideOf: (team: number | null) => Side | null,
): FixtureSnapshot['teamStats'] {
  const stats: TeamStats = { home: {}, away: {} }
  let any = false
  for (const row of fixture.statistics ?? []) {
    const side = sideOf(row.participant_id)
    const name = row.type?.name ?? TEAM_STATISTIC[row.type_id]
    const value = row.data
    if (side === null || name === undefined || value === null) continue
    stats[side][name] = value
    any = true
  }
  return any ? stats : null
}
