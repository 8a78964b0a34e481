/**
 * The football in a simulated match: who shoots, passes, fouls and scores in the next ten seconds. Rates are per player
 * and 90 minutes, close to those of real matches, so that an average player ends at the value that the price model
 * expects.
 */
import { type PlayerRole, type Side, SIDES } from '../../market/fixture.ts'
import {
  count,
  EVENT,
  type Game,
  keeperOf,
  onPitch,
  ordinal,
  other,
  playedSecs,
  report,
  type SimEvent,
  STAT,
  STEP_SECS,
} from './match-state.ts'
import type { SimPlayer } from './squads.ts'

const STEPS_PER_MATCH = 5_400 / STEP_SECS

type ByRole = Readonly<Record<PlayerRole, number>>

/** What a player does in 90 minutes, and what it does to an opponent. */
interface Act {
  readonly type: number
  readonly rate: ByRole
  readonly victim?: { readonly type: number; readonly share: number; readonly weight: ByRole }
}

const ACTS: readonly Act[] = [
  {
    type: STAT.tackles,
    rate: { GK: 0, DEF: 2, MID: 1.9, FWD: 0.8 },
    victim: { type: STAT.dispossessed, share: 0.7, weight: { GK: 0, DEF: 0.4, MID: 1.2, FWD: 1.9 } },
  },
  {
    type: STAT.dribbles,
    rate: { GK: 0, DEF: 0.4, MID: 1, FWD: 3.6 },
    victim: { type: STAT.dribbledPast, share: 1, weight: { GK: 0, DEF: 1.1, MID: 1.1, FWD: 0.4 } },
  },
  {
    type: STAT.aerialsWon,
    rate: { GK: 0.1, DEF: 1.6, MID: 0.6, FWD: 1.3 },
    victim: { type: STAT.aerialsLost, share: 1, weight: { GK: 0, DEF: 0.8, MID: 0.8, FWD: 1.6 } },
  },
  { type: STAT.interceptions, rate: { GK: 0.05, DEF: 1.5, MID: 1, FWD: 0.4 } },
  { type: STAT.clearances, rate: { GK: 0.6, DEF: 3.4, MID: 0.8, FWD: 0.3 } },
  { type: STAT.recoveries, rate: { GK: 5, DEF: 4, MID: 4, FWD: 2 } },
  { type: STAT.offsides, rate: { GK: 0, DEF: 0.05, MID: 0.1, FWD: 0.6 } },
  { type: STAT.accurateCrosses, rate: { GK: 0, DEF: 0.7, MID: 0.7, FWD: 0.8 } },
]

const PASSES: ByRole = { GK: 26, DEF: 55, MID: 58, FWD: 32 }
const ACCURACY: ByRole = { GK: 0.76, DEF: 0.87, MID: 0.86, FWD: 0.79 }
const FOULS: ByRole = { GK: 0.05, DEF: 1, MID: 1.3, FWD: 1 }
const FOULED: ByRole = { GK: 0.1, DEF: 0.7, MID: 1.4, FWD: 1.8 }
const SHOOTS: ByRole = { GK: 0, DEF: 0.35, MID: 1, FWD: 3.2 }
const CREATES: ByRole = { GK: 0.02, DEF: 0.5, MID: 1.5, FWD: 1.8 }
const DEFENDS: ByRole = { GK: 0, DEF: 1.6, MID: 0.5, FWD: 0.1 }

/** Shots in 90 minutes of a side that is expected to score this many goals. */
const shotsFor = (expectedGoals: number): number => 7.5 + 4.2 * expectedGoals
const ON_TARGET = 0.4
const CREATED = 0.75
/** The rest are penalties and own goals, and what added time and good shooters contribute. */
const OPEN_PLAY_SHARE = 0.83

/** Ten seconds of play. `tempo` 1 is an ordinary match; it scales what happens before the goals. */
export function playStep(game: Game, tempo: number): void {
  game.momentum = Math.max(-1, Math.min(1, 0.985 * game.momentum + 0.12 * (game.chance.uniform() - 0.5)))
  for (const side of SIDES) {
    for (const player of onPitch(game, side)) act(game, player, tempo)
    const pressure = (side === 'home' ? 1 : -1) * game.momentum
    const strength = onPitch(game, side).length / onPitch(game, other(side)).length
    const mean = shotsFor(game.expectedGoals[side]) * tempo * (1 + 0.6 * pressure) * strength * strength * strength
    for (let n = game.chance.times(mean / STEPS_PER_MATCH); n > 0; n -= 1) shoot(game, side)
    if (game.chance.happens((0.12 * tempo) / STEPS_PER_MATCH)) penalty(game, side)
    if (game.chance.happens(0.03 / STEPS_PER_MATCH)) ownGoal(game, side)
  }
}

function act(game: Game, player: SimPlayer, tempo: number): void {
  const { chance } = game
  const { role, skill } = player
  for (let n = chance.times(PASSES[role] / STEPS_PER_MATCH); n > 0; n -= 1) {
    count(player, STAT.passes)
    if (chance.happens(Math.min(0.96, ACCURACY[role] + 0.15 * (skill - 1)))) count(player, STAT.accuratePasses)
  }
  for (const { type, rate, victim } of ACTS) {
    const lively = type === STAT.dribbles ? tempo : 1
    if (!chance.happens((rate[role] * skill * lively) / STEPS_PER_MATCH)) continue
    count(player, type)
    if (type === STAT.dribbles) count(player, STAT.dribbleAttempts, 1 + chance.below(2))
    if (type === STAT.accurateCrosses) count(player, STAT.crosses, 1 + chance.below(4))
    if (victim === undefined || !chance.happens(victim.share)) continue
    const opponents = onPitch(game, other(player.side))
    count(
      chance.pick(opponents, (o) => victim.weight[o.role] * (2 - o.skill)),
      victim.type,
    )
  }
  if (chance.happens((FOULS[role] * (2 - skill)) / STEPS_PER_MATCH)) foul(game, player)
}

function foul(game: Game, player: SimPlayer): void {
  count(player, STAT.fouls)
  count(
    game.chance.pick(onPitch(game, other(player.side)), (o) => FOULED[o.role] * o.skill),
    STAT.fouled,
  )
  const booked = player.stats.has(STAT.yellow)
  if (game.chance.happens(booked ? 0.05 : 0.16)) card(game, player, booked ? 'secondYellow' : 'yellow')
  else if (game.chance.happens(0.004)) card(game, player, 'red')
}

/** Shows a card; the red ones send the player off. */
export function card(game: Game, player: SimPlayer, kind: 'yellow' | 'red' | 'secondYellow'): void {
  count(player, STAT[kind])
  report(game, { type: EVENT[kind], side: player.side, player })
  if (kind !== 'yellow') player.offAt = playedSecs(game)
}

function shoot(game: Game, side: Side): void {
  const { chance } = game
  const own = onPitch(game, side)
  const shooter = chance.pick(own, (p) => SHOOTS[p.role] * p.skill)
  if (shooter === null) return
  const creator = chance.happens(CREATED)
    ? chance.pick(own, (p) => (p === shooter ? 0 : CREATES[p.role] * p.skill))
    : null
  const expected = game.expectedGoals[side]
  const scoring = (OPEN_PLAY_SHARE * expected) / (shotsFor(expected) * ON_TARGET)
  if (chance.happens(ON_TARGET)) {
    if (chance.happens(scoring * Math.sqrt(shooter.skill))) {
      goal(game, shooter, creator)
      return
    }
    count(shooter, STAT.onTarget)
    count(keeperOf(game, other(side)), STAT.saves)
    if (chance.happens(0.5)) game.corners[side] += 1
  } else if (chance.happens(0.45)) {
    count(
      chance.pick(onPitch(game, other(side)), (p) => DEFENDS[p.role]),
      STAT.blocks,
    )
    if (chance.happens(0.4)) game.corners[side] += 1
  } else count(shooter, STAT.offTarget)
  count(shooter, STAT.shots)
  count(creator, STAT.keyPasses)
}

/** A goal from open play. */
export function goal(game: Game, scorer: SimPlayer, assist: SimPlayer | null): SimEvent {
  for (const type of [STAT.goals, STAT.shots, STAT.onTarget]) count(scorer, type)
  count(assist, STAT.assists)
  return scored(game, scorer.side, { type: EVENT.goal, player: scorer, related: assist })
}

function scored(
  game: Game,
  side: Side,
  event: { type: number; player: SimPlayer; related?: SimPlayer | null },
): SimEvent {
  game.score[side] += 1
  count(keeperOf(game, other(side)), STAT.conceded)
  game.momentum = 0
  const goals = game.score.home + game.score.away
  const result = `${game.score.home}-${game.score.away}`
  return report(game, { ...event, side, result, addition: `${ordinal(goals)} Goal` })
}

function penalty(game: Game, side: Side): void {
  const taker = game.chance.pick(onPitch(game, side), (p) => SHOOTS[p.role] * p.skill * p.skill * p.skill * p.skill)
  if (taker === null) return
  count(taker, STAT.shots)
  if (game.chance.happens(0.77)) {
    for (const type of [STAT.goals, STAT.penaltiesScored, STAT.onTarget]) count(taker, type)
    scored(game, side, { type: EVENT.penaltyGoal, player: taker })
    return
  }
  count(taker, STAT.penaltiesMissed)
  report(game, { type: EVENT.penaltyMissed, side, player: taker })
  if (game.chance.happens(0.7)) {
    count(taker, STAT.onTarget)
    for (const type of [STAT.saves, STAT.penaltiesSaved]) count(keeperOf(game, other(side)), type)
  } else count(taker, STAT.offTarget)
}

function ownGoal(game: Game, side: Side): void {
  const culprit = game.chance.pick(onPitch(game, other(side)), (p) => DEFENDS[p.role])
  if (culprit === null) return
  count(culprit, STAT.ownGoals)
  scored(game, side, { type: EVENT.ownGoal, player: culprit })
}

/** Takes back the goal of an event: the row, the score and its effect on statistics. */
export function annul(game: Game, event: SimEvent): void {
  game.events = game.events.filter((e) => e !== event)
  game.score[event.side] -= 1
  for (const type of [STAT.goals, STAT.shots, STAT.onTarget]) count(event.player, type, -1)
  count(event.player, STAT.offsides)
  count(event.related, STAT.assists, -1)
  count(keeperOf(game, other(event.side)), STAT.conceded, -1)
}
