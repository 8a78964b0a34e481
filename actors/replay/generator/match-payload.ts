/**
 * A simulated match as the provider would report it. Keeps the traps of the real feed: rows out of time order, the away
 * team first when the fixture id is odd, no rating in a player's first ten minutes, no zeros, nothing about an unused
 * bench, and two lists of periods that disagree about extra time.
 */
import { dateAt } from '../../kernel/calendar.ts'
import { type Instant, SECOND_MS } from '../../kernel/world.ts'
import { type PlayerRole, type Side, SIDES } from '../../market/fixture.ts'
import type { ClubInfo } from './club-info.ts'
import { detailsOf } from './match-details.ts'
import { EVENT, type Game, ordinal, type SimEvent, type SimPeriod, STAT } from './match-state.ts'
import type { SimPlayer } from './squads.ts'

export interface FixtureInfo {
  readonly fixtureId: number
  readonly league: string
  readonly kickOff: Instant
  readonly clubs: Readonly<Record<Side, ClubInfo>>
  /** Rows of the full-time result, as they were before kick-off. */
  readonly odds: readonly unknown[]
}

/** The provider's states that occur, by name. */
const STATES = {
  NS: { id: 1, name: 'Not Started', short: 'NS' },
  INPLAY_1ST_HALF: { id: 2, name: '1st Half', short: '1st' },
  HT: { id: 3, name: 'Half Time', short: 'HT' },
  BREAK: { id: 4, name: 'Regular time finished', short: 'BRK' },
  FT: { id: 5, name: 'Full Time', short: 'FT' },
  INPLAY_ET: { id: 6, name: 'Extra Time', short: 'et' },
  AET: { id: 7, name: 'After Extra Time', short: 'AET' },
  FT_PEN: { id: 8, name: 'After Penalties', short: 'FTP' },
  INPLAY_PENALTIES: { id: 9, name: 'Penalties', short: 'PEN' },
  EXTRA_TIME_BREAK: { id: 21, name: 'Extra Time Break', short: 'ETB' },
  INPLAY_2ND_HALF: { id: 22, name: '2nd Half', short: '2nd' },
  INPLAY_ET_2ND_HALF: { id: 23, name: 'Extra Time 2nd Half', short: '2et' },
  PEN_BREAK: { id: 25, name: 'Penalties Break', short: 'PENB' },
} as const

export type StateName = keyof typeof STATES

const OVER: ReadonlySet<StateName> = new Set(['FT', 'AET', 'FT_PEN'])

const teamId = ({ fixtureId }: FixtureInfo, side: Side): number => fixtureId * 10 + (side === 'home' ? 1 : 2)

/** The whole fixture as of now, one payload. */
export function payloadOf(game: Game, info: FixtureInfo, stateName: StateName): unknown {
  const { fixtureId, kickOff } = info
  const state = STATES[stateName]
  const order = fixtureId % 2 === 1 ? (['away', 'home'] as const) : SIDES
  return {
    id: fixtureId,
    sport_id: 1,
    league_id: 9_000,
    season_id: 90_000,
    stage_id: 900_000,
    group_id: null,
    aggregate_id: null,
    round_id: null,
    state_id: state.id,
    venue_id: null,
    name: `${info.clubs.home.name} vs ${info.clubs.away.name}`,
    starting_at: utcText(kickOff),
    result_info: null,
    leg: '1/1',
    details: null,
    length: 90,
    placeholder: false,
    has_odds: true,
    has_premium_odds: false,
    starting_at_timestamp: Math.trunc(kickOff / SECOND_MS),
    league: { id: 9_000, sport_id: 1, name: info.league, active: true },
    state: {
      id: state.id,
      state: stateName,
      name: state.name,
      short_name: state.short,
      developer_name: stateName === 'INPLAY_ET_2ND_HALF' ? 'INPLAY_ET_SECOND_HALF' : stateName,
    },
    participants: order.map((side) => participant(game, info, side, stateName)),
    scores: SIDES.flatMap((side) => scoresOf(game, info, side)),
    periods: plainPeriods(game.periods).map((p) => periodRow(info, p)),
    detailedperiods: game.periods.map((p) => periodRow(info, p)),
    events: game.events.toSorted((a, b) => shuffled(a.id) - shuffled(b.id)).map((e) => eventRow(game, info, e)),
    statistics: SIDES.flatMap((side) => teamRows(game, info, side)),
    lineups: game.players.map((p) => lineupRow(game, info, p)),
    odds: info.odds,
  }
}

/** A fixed disorder: rows keep their places from frame to frame but are not in the order in which they happened. */
const shuffled = (id: number): number => Math.imul(id, 0x9e3779b1) >>> 0

function participant(game: Game, info: FixtureInfo, side: Side, state: StateName): unknown {
  const lead = (score: Readonly<Record<Side, number>>): number =>
    side === 'home' ? score.home - score.away : score.away - score.home
  const { name, shortCode } = info.clubs[side]
  return {
    id: teamId(info, side),
    sport_id: 1,
    name,
    short_code: shortCode,
    type: 'domestic',
    placeholder: false,
    meta: {
      location: side,
      winner: OVER.has(state) ? lead(game.score) + lead(game.shootout) > 0 : null,
      position: null,
    },
  }
}

/** Before kick-off there is only an empty first half; extra time shows in the current score alone. */
function scoresOf(game: Game, info: FixtureInfo, side: Side): readonly unknown[] {
  const row = (typeId: number, description: string, goals: number): unknown => ({
    id: teamId(info, side) * 100_000 + typeId,
    fixture_id: info.fixtureId,
    type_id: typeId,
    participant_id: teamId(info, side),
    score: { goals, participant: side },
    description,
  })
  const goalsIn = (period: number): number =>
    game.events.filter((e) => e.side === side && e.period === period && isGoal(e)).length
  const [first, second] = [goalsIn(0), goalsIn(1)]
  return [
    row(1, '1ST_HALF', first),
    ...(game.periods.length > 0 ? [row(1_525, 'CURRENT', game.score[side])] : []),
    ...(game.periods.length > 1 ? [row(2, '2ND_HALF', first + second), row(48_996, '2ND_HALF_ONLY', second)] : []),
    ...(game.periods.some((p) => p.type === 5) ? [row(5, 'PENALTY_SHOOTOUT', game.shootout[side])] : []),
  ]
}

const isGoal = (e: SimEvent): boolean =>
  e.type === EVENT.goal || e.type === EVENT.penaltyGoal || e.type === EVENT.ownGoal

const EXTRA_TIME = { whole: 3, first: 5_314, second: 39 } as const

/** The plain list has one row for extra time, which becomes its second half. */
const plainPeriods = (periods: readonly SimPeriod[]): readonly SimPeriod[] =>
  periods
    .filter((p) => p.type !== EXTRA_TIME.first || !periods.some((q) => q.type === EXTRA_TIME.second))
    .map((p) => (p.type === EXTRA_TIME.first || p.type === EXTRA_TIME.second ? { ...p, type: EXTRA_TIME.whole } : p))

const PERIOD_ORDER = [1, 2, EXTRA_TIME.first, EXTRA_TIME.second, 5]
const PERIOD_TEXT: Readonly<Record<number, string>> = {
  1: '1st-half',
  2: '2nd-half',
  3: 'extra-time',
  5314: 'extra-time-1st-half',
  39: 'extra-time-2nd-half',
  5: 'penalties',
}

function periodRow(info: FixtureInfo, p: SimPeriod): unknown {
  const started = Math.trunc(info.kickOff / SECOND_MS) + p.startsAt
  const whole = p.type === EXTRA_TIME.whole
  return {
    id: info.fixtureId * 10 + (whole ? 9 : PERIOD_ORDER.indexOf(p.type)),
    fixture_id: info.fixtureId,
    type_id: p.type,
    started,
    ended: p.ticking ? null : started + p.elapsed,
    counts_from: p.countsFrom,
    ticking: p.ticking,
    sort_order: whole ? (p.countsFrom === 90 ? 3 : 4) : PERIOD_ORDER.indexOf(p.type) + 1,
    description: PERIOD_TEXT[p.type],
    time_added: p.added,
    period_length: p.length,
    minutes: p.countsFrom + Math.floor(p.elapsed / 60),
    seconds: p.elapsed % 60,
    has_timer: true,
  }
}

const EVENT_NAME: Readonly<Record<number, string>> = {
  [EVENT.var]: 'VAR',
  [EVENT.goal]: 'Goal',
  [EVENT.ownGoal]: 'Own Goal',
  [EVENT.penaltyGoal]: 'Penalty',
  [EVENT.penaltyMissed]: 'Missed Penalty',
  [EVENT.substitution]: 'Substitution',
  [EVENT.yellow]: 'Yellowcard',
  [EVENT.red]: 'Redcard',
  [EVENT.secondYellow]: 'Yellow/Red card',
  [EVENT.shootoutMiss]: 'Penalty Shootout Miss',
  [EVENT.shootoutGoal]: 'Penalty Shootout Goal',
}

function eventRow(game: Game, info: FixtureInfo, e: SimEvent): unknown {
  const period = game.periods[e.period]
  const detailed = info.fixtureId * 10 + PERIOD_ORDER.indexOf(period?.type ?? 1)
  const inExtraTime = period?.type === EXTRA_TIME.first || period?.type === EXTRA_TIME.second
  const name = EVENT_NAME[e.type] ?? ''
  const isCard = e.type === EVENT.yellow || e.type === EVENT.red || e.type === EVENT.secondYellow
  const nth = game.events.filter((o) => o.type === e.type && o.id <= e.id).length
  return {
    id: e.id,
    fixture_id: info.fixtureId,
    period_id: inExtraTime ? info.fixtureId * 10 + 9 : detailed,
    participant_id: teamId(info, e.side),
    type_id: e.type,
    section: 'event',
    player_id: e.player.id,
    related_player_id: e.related?.id ?? null,
    player_name: e.player.name,
    related_player_name: e.related?.name ?? null,
    result: e.result,
    info: null,
    addition: e.addition ?? `${ordinal(nth)} ${name}`,
    minute: e.minute,
    extra_minute: e.extraMinute,
    injured: null,
    on_bench: false,
    coach_id: null,
    sub_type_id: null,
    detailed_period_id: detailed,
    rescinded: isCard ? false : null,
    sort_order: nth,
    type: { id: e.type, name, code: name.toLowerCase().replaceAll(' ', '-'), model_type: 'event', stat_group: null },
  }
}

const TEAM_SUMS: readonly (readonly [number, string, number])[] = [
  [41, 'Shots Off Target', STAT.offTarget],
  [42, 'Shots Total', STAT.shots],
  [51, 'Offsides', STAT.offsides],
  [56, 'Fouls', STAT.fouls],
  [57, 'Saves', STAT.saves],
  [78, 'Tackles', STAT.tackles],
  [80, 'Passes', STAT.passes],
  [81, 'Successful Passes', STAT.accuratePasses],
  [83, 'Redcards', STAT.red],
  [84, 'Yellowcards', STAT.yellow],
  [86, 'Shots On Target', STAT.onTarget],
  [100, 'Interceptions', STAT.interceptions],
]

function teamRows(game: Game, info: FixtureInfo, side: Side): readonly unknown[] {
  if (game.periods.length === 0) return []
  const sum = (of: Side, type: number): number =>
    game.players.filter((p) => p.side === of).reduce((n, p) => n + (p.stats.get(type) ?? 0), 0)
  const passes = sum('home', STAT.passes) + sum('away', STAT.passes)
  const possession = passes === 0 ? 50 : Math.round((100 * sum('home', STAT.passes)) / passes)
  const rows: readonly (readonly [number, string, number])[] = [
    [34, 'Corners', game.corners[side]],
    [45, 'Ball Possession %', side === 'home' ? possession : 100 - possession],
    ...TEAM_SUMS.map(([type, name, of]) => [type, name, sum(side, of)] as const),
    [52, 'Goals', game.score[side]],
  ]
  return rows.map(([type, name, value]) => ({
    id: teamId(info, side) * 1_000 + type,
    fixture_id: info.fixtureId,
    type_id: type,
    participant_id: teamId(info, side),
    data: { value },
    location: side,
    type: { id: type, name, developer_name: name.toUpperCase().replaceAll(' ', '_').replace('_%', '') },
  }))
}

const POSITION_ID: Readonly<Record<PlayerRole, number>> = { GK: 24, DEF: 25, MID: 26, FWD: 27 }

function lineupRow(game: Game, info: FixtureInfo, p: SimPlayer): unknown {
  const used = p.onAt !== null
  return {
    id: info.fixtureId * 1_000 + (p.id % 1_000),
    sport_id: 1,
    fixture_id: info.fixtureId,
    player_id: p.id,
    team_id: teamId(info, p.side),
    position_id: POSITION_ID[p.role],
    formation_field: p.field,
    type_id: p.starter ? 11 : 12,
    formation_position: p.starter ? p.jersey : null,
    player_name: p.name,
    jersey_number: p.jersey,
    details: used && game.periods.length > 0 ? detailsOf(game, p) : [],
  }
}

/** "YYYY-MM-DD HH:MM:SS" in UTC. */
function utcText(at: Instant): string {
  const secs = Math.trunc(at / SECOND_MS)
  const { year, month, day } = dateAt(at)
  const time = [Math.floor(secs / 3_600) % 24, Math.floor(secs / 60) % 60, secs % 60].map(two).join(':')
  return `${year}-${two(month)}-${two(day)} ${time}`
}

const two = (n: number): string => String(n).padStart(2, '0')
