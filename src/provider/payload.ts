/**
 * The parts of a provider payload that are read. The provider is careless, so the schema is lenient: a missing or
 * mistyped field becomes null, numbers may be strings, and an unreadable row is skipped.
 */
import { z } from 'zod'

const number = z
  .union([z.number(), z.string().trim().min(1).pipe(z.coerce.number())])
  .nullable()
  .catch(null)
const text = z.string().min(1).nullable().catch(null)
const flag = z.boolean().catch(false)
const id = z.union([z.number(), z.string().trim().min(1).pipe(z.coerce.number())]).pipe(z.number().int().positive())

/** The readable rows; null if there is no list. */
function rows<T extends z.ZodType>(row: T) {
  return list((item) => row.safeParse(item))
}

/**
 * The same for the long lists of a payload. Payloads that were read from a recording or a journal share the rows that
 * have not changed from one to the next, so each is parsed once. No row is ever changed.
 */
function sharedRows<T extends z.ZodType>(row: T) {
  const known = new WeakMap<object, z.ZodSafeParseResult<z.output<T>>>()
  return list((item) => {
    if (typeof item !== 'object' || item === null) return row.safeParse(item)
    const parsed = known.get(item) ?? row.safeParse(item)
    known.set(item, parsed)
    return parsed
  })
}

const list = <T>(parse: (item: unknown) => z.ZodSafeParseResult<T>) =>
  z
    .array(z.unknown())
    .nullable()
    .catch(null)
    .transform(
      (items) =>
        items?.flatMap((item): T[] => {
          const parsed = parse(item)
          return parsed.success ? [parsed.data] : []
        }) ?? null,
    )

const named = z.object({ name: text }).nullable().catch(null)
/** `data.value` of a statistic; ratings have also been seen as `data.average`. */
const measure = z
  .object({ value: number, average: number })
  .transform((data) => data.value ?? data.average)
  .nullable()
  .catch(null)

const participant = z.object({
  id,
  name: text,
  meta: z.object({ location: z.enum(['home', 'away']) }),
})

const score = z.object({
  description: text,
  participant_id: number,
  score: z.object({ goals: z.union([z.number(), z.string().min(1).pipe(z.coerce.number())]) }),
})

const period = z.object({
  id,
  type_id: number,
  counts_from: number,
  period_length: number,
  ticking: flag,
  sort_order: number,
  minutes: number,
  seconds: number,
})

const event = z.object({
  id,
  type_id: number,
  participant_id: number,
  period_id: number,
  detailed_period_id: number,
  player_id: number,
  related_player_id: number,
  player_name: text,
  related_player_name: text,
  minute: number,
  extra_minute: number,
  result: text,
  addition: text,
  rescinded: flag,
})

const statistic = z.object({ type_id: id, participant_id: number, data: measure, type: named })

const lineup = z.object({
  player_id: id,
  team_id: number,
  position_id: number,
  type_id: number,
  player_name: text,
  player: named,
  jersey_number: number,
  details: sharedRows(z.object({ type_id: id, data: measure })),
})

const odd = z.object({ market_id: id, label: text, value: number })

export const fixturePayload = z.object({
  id,
  name: text,
  league_id: number,
  league: named,
  starting_at: text,
  starting_at_timestamp: number,
  state_id: number,
  state: z.object({ id: number, state: text, developer_name: text }).nullable().catch(null),
  participants: rows(participant),
  scores: rows(score),
  periods: rows(period),
  detailedperiods: rows(period),
  events: sharedRows(event),
  statistics: sharedRows(statistic),
  lineups: sharedRows(lineup),
  odds: sharedRows(odd),
})

export type FixturePayload = z.output<typeof fixturePayload>
export type EventRow = z.output<typeof event>
export type PeriodRow = z.output<typeof period>
export type LineupRow = z.output<typeof lineup>
