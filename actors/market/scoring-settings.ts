/** Every number of the price model as a setting. The key is `scoring.` and its path in the model. */
import { numberSetting, type NumberSetting } from '../kernel/settings.ts'
import { type PlayerRole, ROLES } from './fixture.ts'
import { type Action, DEFAULT_MODEL, type ParFactors, type ScoringModel } from './scoring.ts'

const DECIMALS = 6
/** Wide enough for every game that is still football, and too narrow for a slip of the decimal point. */
const POINTS = [-8, 8, DECIMALS] as const
const PAR_FACTOR = [-15, 15, DECIMALS] as const
const MULTIPLIER = [0, 4, DECIMALS] as const
const FACTOR = [0, 5, DECIMALS] as const
const RATING = [1, 10, DECIMALS] as const
const CHANGE = [-5, 5, DECIMALS] as const
const SHARE = [0, 1, DECIMALS] as const

const ROLE_NAMES: Readonly<Record<PlayerRole, string>> = {
  GK: 'goalkeeper',
  DEF: 'defender',
  MID: 'midfielder',
  FWD: 'forward',
}
const PAR_FACTORS: Readonly<Record<keyof ParFactors, string>> = {
  worth: 'ln(anchor of the player ÷ usual price of the role)',
  goals: 'ln(expected goals of the own side ÷ 1.35)',
  conceded: 'ln(expected goals of the other side ÷ 1.35)',
  men: 'ln(men of the own side on the pitch ÷ men of the other)',
}
const words = (action: string): string => action.replaceAll('_', ' ')

const keyed = <T extends object>(values: T) => Object.entries(values) as [Extract<keyof T, string>, number][]

function* settings(): Generator<[string, NumberSetting]> {
  const model = DEFAULT_MODEL
  for (const [action, points] of keyed(model.base)) {
    yield [
      `scoring.base.${action}`,
      numberSetting(
        points,
        POINTS,
        `Points a ${words(action)} earns; a point is worth scoring.scale per cent of the start price.`,
      ),
    ]
  }
  for (const role of ROLES) {
    const name = ROLE_NAMES[role]
    for (const [action, factor] of keyed(model.multiplier[role])) {
      yield [
        multiplierKey(role, action),
        numberSetting(factor, MULTIPLIER, `The factor of those points for a ${name}.`),
      ]
    }
    for (const [action, count] of keyed(model.expected[role])) {
      const text = `How many times a ${words(action)} is expected of a ${name} in 90 minutes.`
      yield [`scoring.expected.${role}.${action}`, numberSetting(count, FACTOR, text)]
    }
    const par = `Points expected of a ${name}'s running statistics in 90 minutes.`
    yield [`scoring.par.${role}`, numberSetting(model.par[role], POINTS, par)]
    for (const [factor, meaning] of Object.entries(PAR_FACTORS) as [keyof ParFactors, string][]) {
      const text = `Points in 90 minutes expected of a ${name} for each unit of ${meaning}.`
      yield [`scoring.par_by.${factor}.${role}`, numberSetting(model.parBy[factor][role], PAR_FACTOR, text)]
    }
    const normal = `The normal rating of a ${name} after 90 minutes.`
    yield [`scoring.rating.end.${role}`, numberSetting(model.rating.end[role], RATING, normal)]
  }
  const { rating } = model
  yield [
    'scoring.rating.weight',
    numberSetting(rating.weight, FACTOR, 'Points per unit of rating above the normal one.'),
  ]
  yield [
    'scoring.rating.start',
    numberSetting(rating.start, RATING, 'The normal rating of a player who has just come on.'),
  ]
  yield* follows()
  yield* reviews()
  yield [
    'scoring.volume_gain',
    numberSetting(
      model.volumeGain,
      FACTOR,
      'What a point of running statistics is worth in points of goals and cards.',
    ),
  ]
  yield [
    'scoring.scale',
    numberSetting(model.scale, [0.2, 5, DECIMALS], 'Per cent of the start price that a point is worth.'),
  ]
  yield ['scoring.bound', numberSetting(model.bound, [0.1, 1, DECIMALS], 'Prices stay within start × e^±bound.')]
  yield [
    'scoring.tick_cap',
    numberSetting(
      model.tickCap,
      [0.005, 0.095, DECIMALS],
      'The most a price moves in one tick, as a fraction of its start. Always less than a washout takes.',
    ),
  ]
}

function* follows(): Generator<[string, NumberSetting]> {
  const { rating, statistics, conceded, annulled, saved, waitSecs } = DEFAULT_MODEL.follows
  for (const [action, change] of keyed(rating)) {
    const text = `How a ${words(action)} usually changes the player's rating.`
    yield [`scoring.follows.rating.${action}`, numberSetting(change, CHANGE, text)]
  }
  for (const [action, points] of keyed(statistics)) {
    const text = `Points of running statistics that usually come with a ${words(action)}.`
    yield [`scoring.follows.statistics.${action}`, numberSetting(points, CHANGE, text)]
  }
  for (const [role, change] of keyed(conceded)) {
    const text = `How a goal conceded usually changes the rating of a ${ROLE_NAMES[role]}.`
    yield [`scoring.follows.conceded.${role}`, numberSetting(change, CHANGE, text)]
  }
  yield [
    'scoring.follows.annulled',
    numberSetting(annulled, CHANGE, 'Points of running statistics of a scorer whose goal is taken back.'),
  ]
  yield [
    'scoring.follows.saved',
    numberSetting(saved, SHARE, 'The part of the missed penalties that the keeper has saved.'),
  ]
  yield [
    'scoring.follows.wait_secs',
    numberSetting(waitSecs, [0, 600, 0], 'Seconds of play for which the usual stands in for late statistics.'),
  ]
}

function* reviews(): Generator<[string, NumberSetting]> {
  const { share, stand, secs } = DEFAULT_MODEL.review
  yield [
    'scoring.review.share',
    numberSetting(
      share,
      SHARE,
      'The part of the goals from open play that is reviewed or taken back. With protection goals count in full.',
    ),
  ]
  yield ['scoring.review.stand', numberSetting(stand, SHARE, 'The part of the reviewed goals that stands.')]
  yield [
    'scoring.review.secs',
    numberSetting(secs, [1, 600, 0], 'Seconds of play after which a goal without a review stands.'),
  ]
}

const multiplierKey = (role: PlayerRole, action: Action): string => `scoring.multiplier.${role}.${action}`

export const SCORING_SETTINGS: ReadonlyMap<string, NumberSetting> = new Map(settings())

/** The keys of the factors by role and action. */
export const MULTIPLIER_KEYS: readonly string[] = [...SCORING_SETTINGS.keys()].filter((key) =>
  key.startsWith('scoring.multiplier.'),
)

/** The model with these values. `valueOf` must have every key of SCORING_SETTINGS. */
export function modelFrom(valueOf: (key: string) => number): ScoringModel {
  const each = <T extends object>(prefix: string, of: T) =>
    Object.fromEntries(Object.keys(of).map((name) => [name, valueOf(`scoring.${prefix}.${name}`)])) as {
      [Key in keyof T]: number
    }
  const perRole = <T>(make: (role: PlayerRole) => T): Readonly<Record<PlayerRole, T>> => ({
    GK: make('GK'),
    DEF: make('DEF'),
    MID: make('MID'),
    FWD: make('FWD'),
  })
  return {
    base: each('base', DEFAULT_MODEL.base),
    multiplier: perRole((role) => each(`multiplier.${role}`, DEFAULT_MODEL.multiplier[role])),
    expected: perRole((role) => each(`expected.${role}`, DEFAULT_MODEL.expected[role])),
    par: each('par', DEFAULT_MODEL.par),
    parBy: {
      worth: each('par_by.worth', DEFAULT_MODEL.parBy.worth),
      goals: each('par_by.goals', DEFAULT_MODEL.parBy.goals),
      conceded: each('par_by.conceded', DEFAULT_MODEL.parBy.conceded),
      men: each('par_by.men', DEFAULT_MODEL.parBy.men),
    },
    rating: {
      weight: valueOf('scoring.rating.weight'),
      start: valueOf('scoring.rating.start'),
      end: each('rating.end', DEFAULT_MODEL.rating.end),
    },
    follows: {
      rating: each('follows.rating', DEFAULT_MODEL.follows.rating),
      conceded: each('follows.conceded', DEFAULT_MODEL.follows.conceded),
      statistics: each('follows.statistics', DEFAULT_MODEL.follows.statistics),
      annulled: valueOf('scoring.follows.annulled'),
      saved: valueOf('scoring.follows.saved'),
      waitSecs: valueOf('scoring.follows.wait_secs'),
    },
    review: each('review', DEFAULT_MODEL.review),
    volumeGain: valueOf('scoring.volume_gain'),
    scale: valueOf('scoring.scale'),
    bound: valueOf('scoring.bound'),
    tickCap: valueOf('scoring.tick_cap'),
  }
}
