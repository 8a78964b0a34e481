/** What is remembered of a fixture to judge its next update. Plain JSON. */
import { type PlayerId, playerId } from '../../kernel/ids.ts'
import {
  as,
  boolean,
  fieldsOf,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  or,
  type Reader,
  recordOf,
  text,
} from '../../kernel/read.ts'
import { type FixturePeriod, PERIOD_KINDS, type Side } from '../fixture.ts'
import type { Untold } from './old-answers.ts'
import type { Details } from './plausible.ts'

export interface Beliefs {
  /** What the last update said, but is not believed before another one repeats it. */
  readonly doubts: Doubts
  /** As last believed. */
  readonly periods: readonly FixturePeriod[]
  readonly untold: Untold
  /** Answers in a row that were not believed: of another match, with multiplied counts, or with an end too early. */
  readonly withheld: number
}

export interface Doubts {
  /** Goals of a side that cannot follow those believed. */
  readonly goals: Readonly<Record<Side, number | null>>
  /** The starters of a side, where they are not those believed. */
  readonly starters: Readonly<Record<Side, readonly PlayerId[] | null>>
  /** Statistics by player and type that cannot follow those believed; below zero, the answers in a row without it. */
  readonly details: Readonly<Record<string, Details>>
  /** Seconds played of a period, by its order, that cannot follow those believed. */
  readonly clocks: Readonly<Record<string, number>>
  /** What rows of the list tell, by id, that contradicts what they told before. */
  readonly rows: Readonly<Record<string, string>>
}

export const NO_BELIEFS: Beliefs = {
  doubts: {
    goals: { home: null, away: null },
    starters: { home: null, away: null },
    details: {},
    clocks: {},
    rows: {},
  },
  periods: [],
  untold: {},
  withheld: 0,
}

const bySide =
  <T>(read: Reader<T>): Reader<Record<Side, T>> =>
  (value, path) => {
    const side = fieldsOf(value, path)
    return { home: side('home', read), away: side('away', read) }
  }

const readDoubts: Reader<Doubts> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    goals: field('goals', bySide(nullable(integer))),
    starters: field('starters', bySide(nullable(listOf(as(integer, playerId))))),
    details: field('details', recordOf(recordOf(number))),
    clocks: field('clocks', or(recordOf(number), {})),
    rows: field('rows', or(recordOf(text), {})),
  }
}

const readPeriod: Reader<FixturePeriod> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    id: field('id', integer),
    kind: field('kind', oneOf(PERIOD_KINDS)),
    order: field('order', integer),
    countsFrom: field('countsFrom', integer),
    length: field('length', integer),
    elapsedSecs: field('elapsedSecs', number),
    ticking: field('ticking', boolean),
  }
}

export const readBeliefs: Reader<Beliefs> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    doubts: field('doubts', readDoubts),
    periods: field('periods', listOf(readPeriod)),
    untold: field('untold', or(recordOf(recordOf(number)), {})),
    withheld: field('withheld', or(integer, 0)),
  }
}
