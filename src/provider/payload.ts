/**
 * The fields of a provider payload that are read, each with its kind and range (`fields.ts`). The provider is careless,
 * so none but a fixture's id and its teams is needed: a field that is absent, out of range or not readable is null, and
 * what it was before stands. A row without what is `required` is skipped. Nothing else in a payload is looked at.
 */
import { COUNT_MAX, FIXTURE_ID_MAX, GOALS_MAX, JERSEY_MAX } from '../../actors/market/fixture.ts'
import { RATING } from '../../actors/market/belief/plausible.ts'
import { STATISTIC } from '../../actors/market/scoring.ts'
import {
  count,
  date,
  type Field,
  flag,
  id,
  minute,
  numberFrom,
  oneOf,
  readAs,
  record,
  required,
  rows,
  shared,
  type Skipped,
  text,
  word,
} from './fields.ts'

/** Seconds of 1990 and 2100: a start outside is a mistake, such as milliseconds. */
const EPOCH = { from: 631_152_000, to: 4_102_444_800 } as const

/** Statistic types that are no counts: minutes, percentages and expected values. */
const FIGURES: ReadonlySet<number> = new Set([40, 119, 1584, 5304])

/** Where providers put the value of a statistic: the first of these that there is, at most three deep. */
const PLACES = ['value', 'all', 'total', 'count', 'average'] as const
const DEPTH_MAX = 3

const measured =
  (kind: Field<number>, depth = 0): Field<number> =>
  (value, name, skipped) => {
    if (typeof value !== 'object' || value === null) return kind(value, name, skipped)
    const found = PLACES.map((key): unknown => Reflect.get(value, key)).find((one) => one !== undefined && one !== null)
    return depth === DEPTH_MAX ? null : measured(kind, depth + 1)(found, name, skipped)
  }
const figure = measured(numberFrom(-100_000, 100_000))
const counted = measured(count(COUNT_MAX))
const rating = measured(numberFrom(RATING.min, RATING.max))

const named = record({ name: text })
const typed = record({ type_id: required(id) })

/** A player's statistic: a rating from 1 to 10, a figure, or a count. */
const detail: Field<{ readonly type: number; readonly value: number | null }> = (row, name, skipped) => {
  const found = typed(row, name, skipped)
  if (found === null || typeof found === 'symbol') return found
  const type = found.type_id
  const kind = type === STATISTIC.rating ? rating : FIGURES.has(type) ? figure : counted
  const read = record({ data: kind, value: kind })(row, name, skipped)
  if (read === null || typeof read === 'symbol') return read
  return { type, value: read.data ?? read.value }
}

const participant = record({
  id: required(id),
  name: text,
  meta: required(record({ location: required(oneOf('home', 'away')) })),
})

const score = record({
  id,
  type_id: id,
  description: word,
  participant_id: id,
  score: required(record({ goals: count(GOALS_MAX), participant: oneOf('home', 'away') })),
})

const period = record({
  id,
  type_id: required(id),
  counts_from: count(150),
  period_length: count(60),
  ticking: flag,
  minutes: count(240),
  seconds: count(59),
  started: count(EPOCH.to),
  ended: count(EPOCH.to),
})

/** A name beside a number: where the number is there and cannot be read, the name says nothing. */
const nameBeside =
  (key: string): Field<string> =>
  (value, name, skipped, row = {}) =>
    typeof id(Reflect.get(row, key), name, skipped) === 'symbol' ? null : text(value, name, skipped)

const event = record({
  id,
  type_id: id,
  participant_id: id,
  period_id: id,
  detailed_period_id: id,
  player_id: id,
  related_player_id: id,
  coach_id: id,
  player_name: nameBeside('player_id'),
  related_player_name: nameBeside('related_player_id'),
  minute,
  extra_minute: count(60),
  sort_order: count(1_000),
  result: text,
  info: text,
  addition: text,
  rescinded: flag,
})

const statistic = record({ type_id: required(id), participant_id: id, data: figure, type: named })

const lineup = record({
  player_id: required(id),
  team_id: id,
  position_id: id,
  type_id: id,
  player_name: text,
  player: record({ name: text, position_id: id }),
  formation_field: text,
  jersey_number: count(JERSEY_MAX),
  details: rows(shared(detail)),
})

const odd = record({ market_id: required(id), label: text, value: numberFrom(1, 10_000) })

const fixture = record({
  id: required(count(FIXTURE_ID_MAX, 1)),
  name: text,
  league_id: id,
  league: named,
  starting_at: date,
  starting_at_timestamp: count(EPOCH.to, EPOCH.from),
  state_id: count(1_000),
  state: record({ state: word, developer_name: word }),
  participants: rows(participant),
  scores: rows(score),
  periods: rows(period),
  detailedperiods: rows(period),
  events: rows(shared(event)),
  statistics: rows(shared(statistic)),
  lineups: rows(shared(lineup)),
  odds: rows(shared(odd)),
})

type RowOf<F> = F extends Field<infer T> ? T : never
export type FixturePayload = RowOf<typeof fixture>
export type ScoreRow = RowOf<typeof score>
export type EventRow = RowOf<typeof event>
export type PeriodRow = RowOf<typeof period>
export type LineupRow = RowOf<typeof lineup>

/** The fixture of a payload, null where there is none, and what had to be skipped. Never throws. */
export function readPayload(payload: unknown): { readonly fixture: FixturePayload | null; readonly skipped: Skipped } {
  const skipped: Skipped = {}
  return { fixture: readAs(fixture, payload, skipped), skipped }
}
