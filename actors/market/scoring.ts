/**
 * The numbers of the price model: what each action on the pitch is worth, by role, and what is expected of every
 * player. One point is `scale` per cent of the start price. Every number is a setting; this file holds the defaults.
 */
import { log } from '../kernel/exact-math.ts'
import { ANCHOR_BY_ROLE } from '../kernel/limits.ts'
import type { Price } from '../kernel/micros.ts'
import type { PlayerRole, Side } from './fixture.ts'

/** Actions counted from the list of events or, where a fixture has none, from the statistics. */
export const DISCRETE = [
  'goal',
  'penalty_goal',
  'assist',
  'own_goal',
  'penalty_missed',
  'penalty_saved',
  'yellow',
  'red',
  'second_yellow',
  'conceded',
] as const

/** Frequent actions, and the provider's statistic types they are read from. */
const VOLUME = [
  ['shot_on_target', 86],
  ['shot_off_target', 41],
  ['key_pass', 117],
  ['cross_acc', 99],
  ['pass_acc', 116],
  ['dribble', 109],
  ['dispossessed', 94],
  ['tackle', 78],
  ['interception', 100],
  ['clearance', 101],
  ['block', 97],
  ['recovery', 27_271],
  ['aerial_won', 107],
  ['aerial_lost', 27_266],
  ['foul', 56],
  ['fouled', 96],
  ['offside', 51],
  ['dribbled_past', 110],
  ['save', 57],
  ['error_goal', 571],
] as const

export type DiscreteAction = (typeof DISCRETE)[number]
/** The provider has no statistic for bad passes: they are the passes that were not accurate. */
export type VolumeAction = (typeof VOLUME)[number][0] | 'pass_bad'
export type Action = DiscreteAction | VolumeAction

/** Statistic types used individually. */
export const STATISTIC = {
  passes: 80,
  accuratePasses: 116,
  rating: 118,
  goals: 52,
  penaltyGoals: 111,
  penaltiesMissed: 112,
  penaltiesSaved: 113,
  assists: 79,
  ownGoals: 324,
  conceded: 88,
  yellow: 84,
  red: 83,
  secondYellow: 85,
  minutes: 119,
  /** That led to a goal. */
  errors: 571,
} as const

/** Points in 90 minutes for each unit of a natural logarithm, by role. */
export interface ParFactors {
  /**
   * Of what the player is worth over a season ÷ the usual value of the role. Not of the start price: that also follows
   * the luck of the last match.
   */
  readonly worth: Readonly<Record<PlayerRole, number>>
  /** Of the goals expected of the player's side ÷ GOALS_USUAL. */
  readonly goals: Readonly<Record<PlayerRole, number>>
  /** Of the goals expected of the other side ÷ GOALS_USUAL. */
  readonly conceded: Readonly<Record<PlayerRole, number>>
  /** Of the men of the player's side on the pitch ÷ those of the other side. */
  readonly men: Readonly<Record<PlayerRole, number>>
}

/** Actions in the list of events that the statistics of their player follow. */
export const FOLLOWED = [
  'goal',
  'penalty_goal',
  'assist',
  'own_goal',
  'penalty_missed',
  'penalty_saved',
  'yellow',
  'red',
  'second_yellow',
] as const
export type FollowedAction = (typeof FOLLOWED)[number]

/**
 * What usually follows an action. It is in the price with the action, until the statistics state what did follow:
 * otherwise late statistics would be a second step that every user can see coming.
 */
export interface Follows {
  /** The change of the player's rating. */
  readonly rating: Readonly<Record<FollowedAction, number>>
  /** The same for a goal conceded, by role. */
  readonly conceded: Readonly<Record<PlayerRole, number>>
  /** Points of running statistics: of a goal its shot on target, of a card its foul. */
  readonly statistics: Readonly<Record<FollowedAction, number>>
  /** Points of running statistics of a scorer whose goal is taken back, such as an offside. */
  readonly annulled: number
  /** How many of the penalties that are missed the keeper has saved. */
  readonly saved: number
  /** How long late statistics are waited for, in seconds of play. */
  readonly waitSecs: number
}

/** The chance that a goal from open play stands. */
export interface Reviews {
  /** The part of the goals that is reviewed or taken back after it was listed. */
  readonly share: number
  /** The part of those that stands. */
  readonly stand: number
  /** Seconds of play after which play has gone on: what is not under review by then stands. */
  readonly secs: number
}

/** Goals that a side of the usual strength scores in a match. */
const GOALS_USUAL = 1.35

/**
 * Counts what releases have changed about base prices. The published prices of recordings name it
 * (`npm run ops -- prices-verify`): a change that moves one of them raises it, with a line in the CHANGELOG.
 */
export const MODEL_VERSION = 3

export interface ScoringModel {
  /** Points an action earns: `scoring.base.<action>`. */
  readonly base: Readonly<Record<Action, number>>
  /** The factor of a role: `scoring.multiplier.<GK|DEF|MID|FWD>.<action>`. */
  readonly multiplier: Readonly<Record<PlayerRole, Readonly<Record<Action, number>>>>
  /** How often a discrete action is expected in 90 minutes. An idle player loses its points. */
  readonly expected: Readonly<Record<PlayerRole, Readonly<Partial<Record<DiscreteAction, number>>>>>
  /** Points expected from volume actions in 90 minutes. */
  readonly par: Readonly<Record<PlayerRole, number>>
  /** What a player's worth, the odds and dismissals add to it. Otherwise public knowledge would be free money. */
  readonly parBy: ParFactors
  readonly rating: {
    /** Points per unit of rating above the normal one at that minute. */
    readonly weight: number
    /** The normal rating of a player who has just come on, and after 90 minutes. What counts is the way between. */
    readonly start: number
    readonly end: Readonly<Record<PlayerRole, number>>
  }
  readonly follows: Follows
  readonly review: Reviews
  /** What a volume point is worth, in discrete points. */
  readonly volumeGain: number
  /** Per cent of the start price that a point is worth. */
  readonly scale: number
  /** Prices stay within start × e^±bound. */
  readonly bound: number
  /** The most a price moves in one tick, as a fraction of the start price. */
  readonly tickCap: number
}

const BASE: Readonly<Record<Action, number>> = {
  goal: 2.4,
  penalty_goal: 1.9,
  assist: 1.5,
  own_goal: -2.5,
  penalty_missed: -2.2,
  penalty_saved: 3.2,
  yellow: -0.6,
  red: -3.5,
  second_yellow: -3,
  conceded: -0.7,
  shot_on_target: 0.4,
  shot_off_target: 0.05,
  key_pass: 0.14,
  cross_acc: 0.15,
  pass_acc: 0.01,
  pass_bad: -0.02,
  dribble: 0.15,
  dispossessed: -0.15,
  tackle: 0.15,
  interception: 0.15,
  clearance: 0.1,
  block: 0.15,
  recovery: 0.07,
  aerial_won: 0.12,
  aerial_lost: -0.12,
  foul: -0.15,
  fouled: 0.12,
  offside: -0.12,
  dribbled_past: -0.14,
  save: 0.5,
  error_goal: -2,
}

/** Every action at 1, so that the list of settings is complete and every override replaces a value. */
const EVEN: Readonly<Record<Action, number>> = {
  goal: 1,
  penalty_goal: 1,
  assist: 1,
  own_goal: 1,
  penalty_missed: 1,
  penalty_saved: 1,
  yellow: 1,
  red: 1,
  second_yellow: 1,
  conceded: 1,
  shot_on_target: 1,
  shot_off_target: 1,
  key_pass: 1,
  cross_acc: 1,
  pass_acc: 1,
  pass_bad: 1,
  dribble: 1,
  dispossessed: 1,
  tackle: 1,
  interception: 1,
  clearance: 1,
  block: 1,
  recovery: 1,
  aerial_won: 1,
  aerial_lost: 1,
  foul: 1,
  fouled: 1,
  offside: 1,
  dribbled_past: 1,
  save: 1,
  error_goal: 1,
}

/**
 * The rarer an action is for a role, the more it is worth. Par, expected counts and normal ratings are fitted so that
 * the average player of each role ends a match at the start price. Otherwise "short every forward" would pay.
 */
export const DEFAULT_MODEL: ScoringModel = {
  base: BASE,
  multiplier: {
    GK: {
      ...EVEN,
      goal: 1.4,
      penalty_goal: 1.2,
      assist: 1.4,
      conceded: 2,
      pass_acc: 0.5,
      pass_bad: 0.5,
      clearance: 0.5,
      recovery: 0.3,
      yellow: 1.2,
      red: 1.2,
    },
    DEF: { ...EVEN, goal: 1.3, penalty_goal: 1.1, assist: 1.15, conceded: 1.2, pass_acc: 0.8, key_pass: 1.1 },
    MID: { ...EVEN, goal: 1.1, conceded: 0 },
    FWD: { ...EVEN, assist: 0.95, conceded: 0, tackle: 0.8, interception: 0.8, clearance: 0.8, key_pass: 0.95 },
  },
  expected: {
    GK: { conceded: 1.35, penalty_saved: 0.02, yellow: 0.06 },
    DEF: { goal: 0.05, assist: 0.06, conceded: 1.35, yellow: 0.2, red: 0.008, own_goal: 0.01 },
    MID: { goal: 0.12, penalty_goal: 0.01, assist: 0.13, yellow: 0.2, red: 0.006 },
    FWD: { goal: 0.36, penalty_goal: 0.05, assist: 0.17, yellow: 0.13, red: 0.004, penalty_missed: 0.01 },
  },
  // Fitted by `npm run ops -- market-fit` on 1,500 simulated matches, and checked on others.
  parBy: {
    worth: { GK: 0, DEF: 3.15, MID: 3.6, FWD: 4.25 },
    goals: { GK: 0.1, DEF: 0.35, MID: 0.9, FWD: 1.65 },
    conceded: { GK: -0.78, DEF: -0.9, MID: 0, FWD: 0.1 },
    men: { GK: -5.7, DEF: 4.3, MID: 3.5, FWD: 8.9 },
  },
  par: { GK: 2.42, DEF: 1.55, MID: 1.29, FWD: 1.285 },
  rating: { weight: 0.8, start: 6.3, end: { GK: 6.811, DEF: 6.708, MID: 6.818, FWD: 6.974 } },
  follows: {
    rating: {
      goal: 0.85,
      penalty_goal: 0.85,
      assist: 0.5,
      own_goal: -0.8,
      penalty_missed: -0.5,
      penalty_saved: 0.16,
      yellow: -0.31,
      red: -1.36,
      second_yellow: -1.06,
    },
    conceded: { GK: -0.25, DEF: 0, MID: 0, FWD: 0 },
    statistics: {
      goal: 0.4,
      penalty_goal: 0.4,
      assist: 0,
      own_goal: 0,
      penalty_missed: 0.295,
      penalty_saved: 0.5,
      yellow: -0.15,
      red: -0.15,
      second_yellow: -0.15,
    },
    annulled: -0.12,
    saved: 0.7,
    waitSecs: 120,
  },
  review: { share: 0.23, stand: 0.5, secs: 60 },
  volumeGain: 1.55,
  scale: 2,
  bound: 0.35,
  tickCap: 0.095,
}

export type Counts = Readonly<Partial<Record<DiscreteAction, number>>>
type Details = Readonly<Record<number, number>>

/** The points of counted (or expected) discrete actions. */
export function discretePoints(model: ScoringModel, role: PlayerRole, counts: Counts): number {
  return DISCRETE.reduce((sum, action) => sum + (counts[action] ?? 0) * worth(model, role, action), 0)
}

/** The points of a player's running statistics. An absent statistic counts as zero. */
export function volumePoints(model: ScoringModel, role: PlayerRole, details: Details): number {
  const bad = Math.max(0, (details[STATISTIC.passes] ?? 0) - (details[STATISTIC.accuratePasses] ?? 0))
  return VOLUME.reduce(
    (sum, [action, type]) => sum + (details[type] ?? 0) * worth(model, role, action),
    bad * worth(model, role, 'pass_bad'),
  )
}

/** A rating, and the first one that the player was given. */
export interface Rated {
  readonly value: number
  readonly first: number
  /** On the pitch by then. */
  readonly firstMinutes: number
}

/**
 * The points of what a rating has gained beyond the usual since the first one. Every user knows at which minute the
 * first one appears, and it repeats what the statistics have shown until then: so gains count from there.
 */
export function ratingPoints(
  { rating: { weight, start, end } }: ScoringModel,
  role: PlayerRole,
  rated: Rated | null,
  minutes: number,
): number {
  if (rated === null) return 0
  const since = Math.min(1, minutes / 90) - Math.min(1, rated.firstMinutes / 90)
  return weight * (rated.value - rated.first - (end[role] - start) * since)
}

/** Points expected of a player in 90 minutes beyond the par of the role, by what is known before the match. */
export function parOffset(
  { parBy }: ScoringModel,
  { role, side, anchor }: { readonly role: PlayerRole; readonly side: Side; readonly anchor: Price },
  goals: Readonly<Record<Side, number>> | null,
): number {
  const byWorth = parBy.worth[role] * log(anchor / ANCHOR_BY_ROLE[role])
  if (goals === null) return byWorth
  const [own, other] = side === 'home' ? [goals.home, goals.away] : [goals.away, goals.home]
  const byGoals = parBy.goals[role] * log(own / GOALS_USUAL)
  return byWorth + byGoals + parBy.conceded[role] * log(other / GOALS_USUAL)
}

function worth(model: ScoringModel, role: PlayerRole, action: Action): number {
  return model.base[action] * model.multiplier[role][action]
}
