/** A seeded football match, reported every ten seconds the way the provider reports a real one. */
import { assert } from '../../kernel/assert.ts'
import { ANCHOR_BY_ROLE } from '../../kernel/limits.ts'
import { decimal } from '../../kernel/micros.ts'
import type { Instant } from '../../kernel/world.ts'
import { type PlayerRole, type Side, SIDES } from '../../market/fixture.ts'
import { resultOf } from '../../market/match-result.ts'
import { type Chance, chanceFrom } from '../chance.ts'
import { annul, card, goal, playStep } from './match-game.ts'
import { type FixtureInfo, payloadOf, type StateName } from './match-payload.ts'
import type { ClubInfo } from './club-info.ts'
import {
  EVENT,
  type Game,
  isOn,
  keeperOf,
  onPitch,
  other,
  playedSecs,
  report,
  type SimEvent,
  STEP_SECS,
} from './match-state.ts'
import { playerNames, squadOf } from './squads.ts'

export interface ClubPlan extends ClubInfo {
  /** Average goals in 90 minutes. */
  readonly expectedGoals: number
}

/** Something that happens regardless of chance, at the start of a minute of the match clock. */
export interface Moment {
  readonly kind: 'red_card' | 'goal_disallowed'
  readonly minute: number
  readonly side: Side
  /** Seconds from the goal to its review. */
  readonly reviewAfterSecs?: number
}

/** Where the chance of a match comes from. A change to the names or the reviews must not change the match. */
export interface Chances {
  readonly match: Chance
  readonly names: Chance
  readonly referee: Chance
}

/** The chance of a seed of 32 bits: for matches that may be known beforehand. */
export const chancesFrom = (seed: number) => (): Chances => ({
  match: chanceFrom(seed),
  names: chanceFrom(seed + 1_000_000),
  referee: chanceFrom(seed + 2_000_000),
})

export interface MatchPlan {
  /** Gives the same chance at every call. */
  readonly chances: () => Chances
  readonly fixtureId: number
  readonly kickOff: Instant
  readonly league: string
  readonly home: ClubPlan
  readonly away: ClubPlan
  /** Extra time and, if needed, penalties follow a draw. */
  readonly knockout?: boolean
  /** How lively the match is from each of these minutes on; 1 is ordinary. */
  readonly tempo?: readonly { readonly fromMinute: number; readonly factor: number }[]
  readonly moments?: readonly Moment[]
  /** The part of the goals from open play that is reviewed and stands, within this many seconds. */
  readonly reviews?: { readonly share: number; readonly withinSecs: number }
}

/** Frames per kind of break. Half time is cut from fifteen minutes to two. */
const FRAMES = { preMatch: 5, halfTime: 12, fullTime: 6, fullTimeBeforeExtra: 2, break: 6, kick: 3 } as const

const SUBSTITUTIONS_MAX = 5
/** Seconds from a goal to its review, unless the plan says, and from there to the verdict. */
const REVIEW_AFTER_SECS = 40
const VERDICT_SECS = 70

interface Review {
  readonly event: SimEvent
  readonly sinceSecs: number
  readonly afterSecs: number
  readonly stands: boolean
  row: SimEvent | null
}

/** One match in progress: the game, and the seconds since kick-off. */
interface Simulation {
  readonly plan: MatchPlan
  readonly info: FixtureInfo
  readonly game: Game
  readonly changes: Record<Side, number>
  review: Review | null
  /** Decides which goals are reviewed. */
  readonly referee: Chance
  secs: number
}

/** All payloads of the match, from shortly before kick-off until shortly after the end. Equal plans, equal matches. */
export const simulateMatch = (plan: MatchPlan): readonly unknown[] => [...payloads(plan)]

/** The same, each made when it is taken: a whole match at once would hold up the event loop. */
export function* payloads(plan: MatchPlan): Generator<unknown, void> {
  const sim = begin(plan)
  for (const state of play(sim)) yield payloadOf(sim.game, sim.info, state)
}

/** The last payload of the same match, ten times as fast. */
export function simulateResult(plan: MatchPlan): unknown {
  const sim = begin(plan)
  let last: StateName = 'NS'
  for (const state of play(sim)) last = state
  return payloadOf(sim.game, sim.info, last)
}

/** Plays on from one update to the next, and yields the state that it reports. */
function* play(sim: Simulation): Generator<StateName, void> {
  const { plan, game } = sim
  const draw = (): boolean => game.score.home === game.score.away
  sim.secs = -FRAMES.preMatch * STEP_SECS
  yield* show(sim, 'NS', FRAMES.preMatch)
  yield* half(sim, { state: 'INPLAY_1ST_HALF', type: 1, countsFrom: 0, length: 45, added: 1 + game.chance.below(4) })
  yield* show(sim, 'HT', FRAMES.halfTime)
  yield* half(sim, { state: 'INPLAY_2ND_HALF', type: 2, countsFrom: 45, length: 45, added: 2 + game.chance.below(5) })
  if (plan.knockout !== true || !draw()) return yield* show(sim, 'FT', FRAMES.fullTime)
  yield* show(sim, 'FT', FRAMES.fullTimeBeforeExtra)
  yield* show(sim, 'BREAK', FRAMES.break)
  yield* half(sim, { state: 'INPLAY_ET', type: 5_314, countsFrom: 90, length: 15, added: game.chance.below(2) })
  yield* show(sim, 'EXTRA_TIME_BREAK', FRAMES.break)
  yield* half(sim, { state: 'INPLAY_ET_2ND_HALF', type: 39, countsFrom: 105, length: 15, added: game.chance.below(3) })
  if (!draw()) return yield* show(sim, 'AET', FRAMES.fullTime)
  yield* show(sim, 'PEN_BREAK', FRAMES.break)
  yield* shootout(sim)
  return yield* show(sim, 'FT_PEN', FRAMES.fullTime)
}

/**
 * The starting price of each player of the match by player id, in whole units: the anchor of the role, more for a good
 * player than for an ordinary one. The best are worth about twice the average, the weakest a little under half of it.
 */
export function anchorsOf(plan: MatchPlan): Readonly<Record<number, number>> {
  const worth = begin(plan).game.players.map(({ id, role, skill }) => {
    const units = decimal(ANCHOR_BY_ROLE[role]) * skill * Math.sqrt(skill)
    return [id, Math.round(units)] as const
  })
  return Object.fromEntries(worth)
}

/** What a bookmaker offers who knows the goals that both sides are expected to score, and keeps a twentieth. */
function oddsOf({ fixtureId, home, away }: MatchPlan): readonly unknown[] {
  const { wins, draws, losses } = resultOf(home.expectedGoals, away.expectedGoals)
  const rows = [
    ['Home', wins],
    ['Draw', draws],
    ['Away', losses],
  ] as const
  return rows.map(([label, probability], n) => ({
    id: fixtureId * 10 + n,
    fixture_id: fixtureId,
    market_id: 1,
    bookmaker_id: 2,
    label,
    market_description: 'Match Winner',
    value: (1 / (probability * BOOK)).toFixed(2),
  }))
}

/** The sum of the probabilities that a bookmaker's odds imply. */
const BOOK = 1.05

function begin(plan: MatchPlan): Simulation {
  const { match: chance, names: named, referee } = plan.chances()
  const names = playerNames(named)
  const firstId = plan.fixtureId * 100
  const game: Game = {
    chance,
    players: [...squadOf('home', firstId + 1, names, chance), ...squadOf('away', firstId + 51, names, chance)],
    expectedGoals: { home: plan.home.expectedGoals, away: plan.away.expectedGoals },
    periods: [],
    events: [],
    score: { home: 0, away: 0 },
    shootout: { home: 0, away: 0 },
    corners: { home: 0, away: 0 },
    momentum: 0,
    nextEventId: plan.fixtureId * 1_000,
  }
  const { fixtureId, league, kickOff, home, away } = plan
  const info: FixtureInfo = { fixtureId, league, kickOff, clubs: { home, away }, odds: oddsOf(plan) }
  return { plan, info, game, changes: { home: 0, away: 0 }, review: null, referee, secs: 0 }
}

/** Reports the current state of the match for this many frames. */
function* show(sim: Simulation, state: StateName, frames: number): Generator<StateName, void> {
  for (let n = 0; n < frames; n += 1) {
    yield state
    sim.secs += STEP_SECS
  }
}

interface Half {
  readonly state: StateName
  readonly type: number
  readonly countsFrom: number
  readonly length: number
  /** Whole minutes; the whistle comes a little later. */
  readonly added: number
}

function* half(sim: Simulation, { state, type, countsFrom, length, added }: Half): Generator<StateName, void> {
  const { game, plan } = sim
  const period = {
    type,
    countsFrom,
    length,
    startsAt: sim.secs,
    added: null as number | null,
    elapsed: 0,
    ticking: true,
  }
  game.periods.push(period)
  const whistle = (length + added) * 60 + game.chance.below(30)
  if (type === 2) substitute(sim, 0.5)
  for (let elapsed = 0; elapsed < whistle; elapsed += STEP_SECS) {
    period.elapsed = elapsed
    const minute = countsFrom + elapsed / 60
    if (elapsed === length * 60) period.added = added
    const before = game.events.length
    if (elapsed > 0) playStep(game, tempoAt(plan, minute))
    for (const event of game.events.slice(before)) mayReview(sim, event)
    for (const moment of plan.moments ?? []) if (moment.minute === minute) force(sim, moment)
    continueReview(sim)
    if (minute > 55 && elapsed % 60 === 0) substitute(sim, 0.055)
    yield* show(sim, state, 1)
  }
  period.elapsed = whistle
  period.ticking = false
}

const tempoAt = ({ tempo }: MatchPlan, minute: number): number =>
  tempo?.findLast((t) => t.fromMinute <= minute)?.factor ?? 1

const OUTFIELD: readonly PlayerRole[] = ['DEF', 'MID', 'FWD']

/** With this probability for each side, replaces a tired player with one of the same role from the bench. */
function substitute({ game, changes }: Simulation, probability: number): void {
  for (const side of SIDES) {
    if (changes[side] >= SUBSTITUTIONS_MAX || !game.chance.happens(probability)) continue
    const off = game.chance.pick(onPitch(game, side), (p) => (OUTFIELD.includes(p.role) && p.starter ? 1 : 0))
    const bench = game.players.filter((p) => p.side === side && p.onAt === null && p.role === off?.role)
    const on = game.chance.pick(bench, () => 1)
    if (off === null || on === null) continue
    off.offAt = playedSecs(game)
    on.onAt = playedSecs(game)
    changes[side] += 1
    report(game, { type: EVENT.substitution, side, player: on, related: off })
  }
}

/** A goal that stands may be reviewed, one at a time. */
function mayReview(sim: Simulation, event: SimEvent): void {
  const { plan, referee, secs } = sim
  if (plan.reviews === undefined || event.type !== EVENT.goal || !referee.happens(plan.reviews.share)) return
  const afterSecs = STEP_SECS * (1 + referee.below(plan.reviews.withinSecs / STEP_SECS))
  sim.review ??= { event, sinceSecs: secs, afterSecs, stands: true, row: null }
}

function force(sim: Simulation, { kind, side, reviewAfterSecs = REVIEW_AFTER_SECS }: Moment): void {
  const { game } = sim
  const outfield = onPitch(game, side).filter((p) => p.role !== 'GK')
  if (kind === 'red_card') {
    const offender = game.chance.pick(outfield, (p) => (p.role === 'DEF' ? 3 : 1))
    if (offender !== null) card(game, offender, 'red')
    return
  }
  const scorer = game.chance.pick(outfield, (p) => (p.role === 'FWD' ? 4 : 1))
  const assist = game.chance.pick(outfield, (p) => (p === scorer ? 0 : 1))
  assert(scorer !== null, 'a side without outfield players cannot score')
  const event = goal(game, scorer, assist)
  sim.review = { event, sinceSecs: sim.secs, afterSecs: reviewAfterSecs, stands: false, row: null }
}

/** The review's row appears, and becomes the verdict, with which the goal's row may go; its minute is one later. */
function continueReview(sim: Simulation): void {
  const { game, review, secs } = sim
  if (review === null) return
  if (review.row === null && secs - review.sinceSecs >= review.afterSecs) {
    const { side, player } = review.event
    review.row = report(game, { type: EVENT.var, side, player, addition: 'Goal under review' })
  }
  if (review.row !== null && secs - review.sinceSecs >= review.afterSecs + VERDICT_SECS) {
    review.row.addition = review.stands ? 'Goal confirmed' : 'Goal Disallowed'
    review.row.minute = review.event.minute + 1
    if (!review.stands) annul(game, review.event)
    sim.review = null
  }
}

const KICKS = 5

/** Five kicks each while they can still decide the shoot-out, then one each until one side leads. */
function* shootout(sim: Simulation): Generator<StateName, void> {
  const { game } = sim
  const period = { type: 5, countsFrom: 120, length: 0, startsAt: sim.secs, added: null, elapsed: 0, ticking: true }
  game.periods.push(period)
  const takers = { home: takersOf(game, 'home'), away: takersOf(game, 'away') }
  const taken = { home: 0, away: 0 }
  const decided = (): boolean => {
    const { home, away } = game.shootout
    const rounds = Math.max(KICKS, taken.home, taken.away)
    return home - away > rounds - taken.away || away - home > rounds - taken.home
  }
  for (let side: Side = game.chance.happens(0.5) ? 'home' : 'away'; !decided(); side = other(side)) {
    const player = takers[side][taken[side] % takers[side].length]
    assert(player !== undefined, 'a side without players cannot take penalties')
    taken[side] += 1
    const hit = game.chance.happens(0.75)
    if (hit) game.shootout[side] += 1
    const result = `${game.shootout.home}-${game.shootout.away}`
    report(game, { type: hit ? EVENT.shootoutGoal : EVENT.shootoutMiss, side, player, result })
    for (let n = 0; n < FRAMES.kick; n += 1) {
      yield* show(sim, 'INPLAY_PENALTIES', 1)
      period.elapsed += STEP_SECS
    }
  }
  period.ticking = false
}

/** Players on the pitch, the best first, the keeper last. */
const takersOf = (game: Game, side: Side) =>
  game.players
    .filter((p) => p.side === side && isOn(p))
    .toSorted((a, b) => Number(a === keeperOf(game, side)) - Number(b === keeperOf(game, side)) || b.skill - a.skill)
