/**
 * Cases of a feed that errs, as `cases/*.json` keep them: what each poll shows, in the provider's format. A case tells
 * only how it differs from one ordinary match of six players a side, and each step how it differs from the one before.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { FRAME_MS } from '../../actors/replay/recording.ts'
import type { Payload } from '../../ops/tools/provider-mock/draft.ts'

const row = z.record(z.string(), z.unknown())
const step = z.strictObject({
  label: z.string(),
  /** How many polls show it; three unless it says. */
  polls: z.number().int().positive().default(3),
  /** The current goals of home and away. */
  score: z.tuple([z.unknown(), z.unknown()]).optional(),
  /** The whole list of events. */
  events: z.array(row).optional(),
  /** The rows that change; a player's row with the same type is replaced, else the player's only one. */
  lineups: z.array(row).optional(),
  /** The players who are in no row any more. */
  gone: z.array(z.number()).optional(),
  /** Other fields of the payload. */
  payload: row.optional(),
})
const feedCase = z.strictObject({
  fixture: z.number().int(),
  steps: z.array(step).min(1),
  /** Other fixtures of the same answer: how their first poll differs. */
  others: z.array(z.strictObject({ fixture: z.number().int(), payload: row })).default([]),
})

export type CaseStep = z.output<typeof step>
export type FeedCase = z.output<typeof feedCase>

const DIRECTORY = join(import.meta.dirname, 'cases')

/** The names of all cases. */
export const CASE_NAMES: readonly string[] = readdirSync(DIRECTORY).map((file) => file.replace(/\.json$/, ''))

export const readCase = (name: string): FeedCase =>
  feedCase.parse(JSON.parse(readFileSync(join(DIRECTORY, `${name}.json`), 'utf8')))

/** The numbers of teams, players and rows are short in a case: a number below these belongs to its fixture. */
const TEAMS_BELOW = 10
const ROWS_BELOW = 1_000

export const playerOf = (fixture: number, n: number): number => fixture * 1_000 + n

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0
const numbered = (fixture: number, key: string, value: unknown): unknown => {
  if (!isCount(value)) return value
  if (key === 'participant_id' || key === 'team_id' || key === 'period_id' || key === 'detailed_period_id') {
    return value < TEAMS_BELOW ? fixture * 10 + value : value
  }
  const isRow = key === 'id' || key === 'player_id' || key === 'related_player_id'
  return isRow && value < ROWS_BELOW ? playerOf(fixture, value) : value
}
const expanded = (fixture: number, fields: Payload): Payload =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, numbered(fixture, key, value)]))

const HOME = 1
const AWAY = 2
/** The squads: number, position and line-up type (11 starts, 12 is on the bench). Numbers from 10 on are away. */
const SQUADS = [1, 2, 3, 4, 11, 12, 13, 14, 5, 6, 15, 16]
const POSITION: Readonly<Record<number, number>> = { 1: 24, 2: 25, 3: 26, 4: 27, 5: 26, 6: 27 }
const BENCH_FROM = 5
/** Passes, accurate passes, rating. */
const DETAILS = { 80: 20, 116: 16, 118: 6.9 } as const

const detailRows = (details: unknown): unknown =>
  typeof details !== 'object' || details === null || Array.isArray(details)
    ? details
    : Object.entries(details).map(([type, value]) => ({ type_id: Number(type), data: { value } }))

function lineupRow(fixture: number, fields: Payload): Payload {
  const n = Number(fields['player_id'])
  const [isAway, nth] = [n > 10, n % 10]
  const { details = nth < BENCH_FROM ? DETAILS : [], ...rest } = fields
  return {
    player_id: playerOf(fixture, n),
    team_id: fixture * 10 + (isAway ? AWAY : HOME),
    position_id: POSITION[nth],
    type_id: nth < BENCH_FROM ? 11 : 12,
    player_name: `${isAway ? 'Away' : 'Home'} ${n}`,
    jersey_number: n,
    ...expanded(fixture, rest),
    details: detailRows(details),
  }
}

function eventRow(fixture: number, fields: Payload): Payload {
  const name = (n: unknown): string | null => (isCount(n) && n < ROWS_BELOW ? `${n > 10 ? 'Away' : 'Home'} ${n}` : null)
  return {
    period_id: fixture * 10 + 1,
    detailed_period_id: fixture * 10 + 1,
    related_player_id: null,
    player_name: name(fields['player_id']),
    related_player_name: name(fields['related_player_id']),
    result: null,
    info: null,
    addition: null,
    extra_minute: null,
    on_bench: false,
    coach_id: null,
    rescinded: null,
    sort_order: 1,
    ...expanded(fixture, fields),
  }
}

const scoreRow = (fixture: number, team: number, goals: unknown): Payload => ({
  id: fixture * 10 + team,
  fixture_id: fixture,
  type_id: 1525,
  participant_id: fixture * 10 + team,
  score: { goals, participant: team === HOME ? 'home' : 'away' },
  description: 'CURRENT',
})

const participant = (fixture: number, team: number): Payload => ({
  id: fixture * 10 + team,
  name: team === HOME ? 'Harbour' : 'Mill',
  short_code: team === HOME ? 'HAR' : 'MIL',
  image_path: null,
  meta: { location: team === HOME ? 'home' : 'away', winner: null, position: team },
})

/** The first half in its fortieth minute. */
function ordinary(fixture: number): Payload {
  return {
    id: fixture,
    league_id: 8,
    state_id: 2,
    name: 'Harbour vs Mill',
    starting_at: '2026-11-25 17:57:56',
    placeholder: false,
    starting_at_timestamp: 1_795_629_476,
    league: { id: 8, name: 'Synthetic League' },
    state: stateOf(2, 'INPLAY_1ST_HALF'),
    participants: [participant(fixture, AWAY), participant(fixture, HOME)],
    scores: [scoreRow(fixture, HOME, 0), scoreRow(fixture, AWAY, 0)],
    periods: [
      {
        id: fixture * 10 + 1,
        type_id: 1,
        started: 0,
        ended: null,
        counts_from: 0,
        ticking: true,
        sort_order: 1,
        description: '1st-half',
        time_added: null,
        period_length: 45,
        minutes: 40,
        seconds: 0,
        has_timer: true,
      },
    ],
    events: [],
    statistics: [],
    lineups: SQUADS.map((n) => lineupRow(fixture, { player_id: n })),
  }
}

const stateOf = (id: number, name: string): Payload => ({
  id,
  state: name,
  name,
  short_name: name,
  developer_name: name,
})

const rowsOf = (value: unknown): readonly Payload[] => z.array(row).parse(value)

function lineupsAfter(fixture: number, before: readonly Payload[], { lineups = [], gone = [] }: CaseStep) {
  const rows = before.filter((one) => !gone.some((n) => one['player_id'] === playerOf(fixture, n)))
  for (const fields of lineups) {
    const now = lineupRow(fixture, fields)
    const of = (one: Payload): boolean => one['player_id'] === now['player_id']
    const same = rows.findIndex((one) => of(one) && one['type_id'] === now['type_id'])
    const at = same >= 0 ? same : rows.findIndex(of)
    if (at >= 0) rows[at] = now
    else rows.push(now)
  }
  return rows
}

function after(fixture: number, before: Payload, now: CaseStep): Payload {
  const { score, events } = now
  return {
    ...before,
    ...(score === undefined ? {} : { scores: [scoreRow(fixture, HOME, score[0]), scoreRow(fixture, AWAY, score[1])] }),
    ...(events === undefined ? {} : { events: events.map((fields) => eventRow(fixture, fields)) }),
    lineups: lineupsAfter(fixture, rowsOf(before['lineups']), now),
    ...now.payload,
  }
}

/** The payload of each poll. The clock of the ticking period runs. */
export function pollsOf({ fixture, steps }: Pick<FeedCase, 'fixture' | 'steps'>): readonly Payload[] {
  const polls: Payload[] = []
  let shown = ordinary(fixture)
  for (const one of steps) {
    shown = after(fixture, shown, one)
    for (let n = 0; n < one.polls; n += 1) polls.push(withClock(shown, polls.length * FRAME_SECS))
  }
  return polls
}

const FRAME_SECS = FRAME_MS / SECOND_MS

/** A period that ticks is so many seconds further. */
function withClock(payload: Payload, secs: number): Payload {
  const further = rowsOf(payload['periods']).map((period) => {
    const { minutes, seconds, ticking } = period
    if (typeof minutes !== 'number' || typeof seconds !== 'number' || (ticking !== true && ticking !== 1)) return period
    const elapsed = minutes * 60 + seconds + secs
    return { ...period, minutes: Math.floor(elapsed / 60), seconds: elapsed % 60 }
  })
  return { ...payload, periods: further }
}

/** Another fixture of the same answer. */
export const otherOf = ({ fixture, payload }: FeedCase['others'][number]): Payload => ({
  ...ordinary(fixture),
  ...payload,
})
