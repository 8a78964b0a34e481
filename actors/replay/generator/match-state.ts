/** The state of a simulated match: players, score, periods, events. */
import type { Side } from '../../market/fixture.ts'
import type { Chance } from '../chance.ts'
import type { SimPlayer } from './squads.ts'

/** The provider's statistic types that are counted. */
export const STAT = {
  offTarget: 41,
  shots: 42,
  offsides: 51,
  goals: 52,
  fouls: 56,
  saves: 57,
  tackles: 78,
  assists: 79,
  passes: 80,
  red: 83,
  yellow: 84,
  secondYellow: 85,
  onTarget: 86,
  conceded: 88,
  dispossessed: 94,
  fouled: 96,
  blocks: 97,
  crosses: 98,
  accurateCrosses: 99,
  interceptions: 100,
  clearances: 101,
  aerialsWon: 107,
  dribbleAttempts: 108,
  dribbles: 109,
  dribbledPast: 110,
  penaltiesScored: 111,
  penaltiesMissed: 112,
  penaltiesSaved: 113,
  accuratePasses: 116,
  keyPasses: 117,
  ownGoals: 324,
  aerialsLost: 27_266,
  recoveries: 27_271,
} as const

/** The provider's event types that occur. */
export const EVENT = {
  var: 10,
  goal: 14,
  ownGoal: 15,
  penaltyGoal: 16,
  penaltyMissed: 17,
  substitution: 18,
  yellow: 19,
  red: 20,
  secondYellow: 21,
  shootoutMiss: 22,
  shootoutGoal: 23,
} as const

export interface SimEvent {
  readonly id: number
  type: number
  /** The side the provider files it under: for an own goal, the one that gains. */
  readonly side: Side
  readonly player: SimPlayer
  readonly related: SimPlayer | null
  /** Index of the period it belongs to. */
  readonly period: number
  minute: number
  readonly extraMinute: number | null
  readonly result: string | null
  addition: string | null
}

export interface SimPeriod {
  /** The provider's type: 1 and 2 for the halves, 5314 and 39 in extra time, 5 for a shoot-out. */
  readonly type: number
  readonly countsFrom: number
  readonly length: number
  /** Seconds from kick-off of the match to its own. */
  readonly startsAt: number
  added: number | null
  elapsed: number
  ticking: boolean
}

export interface Game {
  readonly chance: Chance
  readonly players: readonly SimPlayer[]
  readonly expectedGoals: Readonly<Record<Side, number>>
  readonly periods: SimPeriod[]
  events: SimEvent[]
  readonly score: Record<Side, number>
  readonly shootout: Record<Side, number>
  readonly corners: Record<Side, number>
  /** Which side is on top: 1 is all home, −1 all away. */
  momentum: number
  nextEventId: number
}

export const STEP_SECS = 10

export const other = (side: Side): Side => (side === 'home' ? 'away' : 'home')
export const isOn = (p: SimPlayer): boolean => p.onAt !== null && p.offAt === null
export const onPitch = (game: Game, side: Side): readonly SimPlayer[] =>
  game.players.filter((p) => p.side === side && isOn(p))
export const count = (player: SimPlayer | null, type: number, by = 1): void => {
  player?.stats.set(type, (player.stats.get(type) ?? 0) + by)
}
export const playedSecs = (game: Game): number =>
  game.periods.filter((p) => p.type !== 5).reduce((sum, p) => sum + p.elapsed, 0)

export const keeperOf = (game: Game, side: Side): SimPlayer | null =>
  onPitch(game, side).find((p) => p.role === 'GK') ?? null

/** Adds a row to the list of events, dated by the running period. */
export function report(
  game: Game,
  event: Pick<SimEvent, 'type' | 'side' | 'player'> & Partial<Pick<SimEvent, 'related' | 'result' | 'addition'>>,
): SimEvent {
  const period = game.periods.length - 1
  const running = game.periods[period]
  const minute = (running?.countsFrom ?? 0) + Math.floor((running?.elapsed ?? 0) / 60) + 1
  const last = (running?.countsFrom ?? 0) + (running?.length ?? 0)
  const isAdded = running?.type !== 5 && minute > last
  const row: SimEvent = {
    related: null,
    result: null,
    addition: null,
    ...event,
    id: game.nextEventId,
    period,
    minute: isAdded ? last : minute,
    extraMinute: isAdded ? minute - last : null,
  }
  game.nextEventId += 1
  game.events = [...game.events, row]
  return row
}

/** "1st", "2nd", "3rd", "4th": how the provider numbers what it lists. */
export const ordinal = (n: number): string =>
  `${n}${n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')}`
