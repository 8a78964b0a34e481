/**
 * A line of a recording or a journal: something that a match has heard. Anything else in a line is refused or ignored.
 */
import { z } from 'zod'
import { fixtureId, instrumentId, playerId } from '../../actors/kernel/ids.ts'
import { price } from '../../actors/kernel/micros.ts'
import { TRADING_MODES, type TradingModes } from '../../actors/kernel/trading-mode.ts'
import { instant } from '../../actors/kernel/world.ts'
import { EVENT_KINDS } from '../../actors/market/fixture.ts'

const at = z.int().transform(instant)
const fixed = z.int().nonnegative().transform(price)
const player = z.int().transform(playerId)
const side = z.enum(['home', 'away'])
const goals = z.object({ home: z.number(), away: z.number() }).nullable()

const History = z.object({
  last: fixed.nullable(),
  anchor: fixed.nullable(),
  past: z.object({ matches: z.int().positive(), mean: fixed }).nullable(),
  heldBy: z.int().transform(fixtureId).nullable(),
})

const Team = z.object({
  id: z.number(),
  name: z.string().nullable(),
  goals: z.number().nullable(),
  shootout: z.number().exactOptional(),
})
const Statistics = z.record(z.string(), z.number())

/** A fixture snapshot, kept where a payload was too large or too deep to be. */
const Snapshot = z.object({
  fixtureId: z.int().transform(fixtureId),
  name: z.string().nullable(),
  league: z.string().nullable(),
  startsAt: at.nullable(),
  state: z.string().nullable(),
  stateId: z.number().nullable(),
  home: Team,
  away: Team,
  periods: z.array(
    z.object({
      id: z.number(),
      kind: z.enum(['first_half', 'second_half', 'extra_time', 'penalties']),
      order: z.number(),
      countsFrom: z.number(),
      length: z.number(),
      elapsedSecs: z.number().nullable(),
      ticking: z.boolean(),
    }),
  ),
  events: z
    .array(
      z.object({
        id: z.number(),
        kind: z.enum(EVENT_KINDS),
        minute: z.number().nullable(),
        extraMinute: z.number().nullable(),
        sortOrder: z.number().exactOptional(),
        period: z.number().nullable(),
        side: side.nullable(),
        playerId: player.nullable(),
        playerName: z.string().nullable(),
        relatedPlayerId: player.nullable(),
        relatedPlayerName: z.string().nullable(),
        result: z.string().nullable(),
        addition: z.string().nullable(),
        rescinded: z.boolean(),
      }),
    )
    .nullable(),
  players: z.array(
    z.object({
      playerId: player,
      instrumentId: z.string().transform(instrumentId),
      name: z.string().nullable(),
      side,
      role: z.enum(['GK', 'DEF', 'MID', 'FWD']).nullable(),
      jersey: z.number().nullable(),
      starter: z.boolean(),
      details: Statistics.nullable(),
    }),
  ),
  teamStats: z.object({ home: Statistics, away: Statistics }).nullable(),
  expectedGoals: goals,
  sourceAt: at,
})

const update = {
  kind: z.literal('update'),
  at,
  seq: z.int().positive(),
  speed: z.number().positive(),
  histories: z.record(z.string().transform(instrumentId), History),
}
const Payload = z.object({
  ...update,
  players: z.string(),
  startsAt: at.nullable(),
  sourceAt: at,
  expectedGoals: goals,
  payload: z.unknown(),
})
const Plain = z.object({ ...update, snapshot: Snapshot })
export type Update = z.output<typeof Plain> | Payload
export type Payload = z.output<typeof Payload>

const mode = z.enum(TRADING_MODES)
const Modes = z.object({ platform: mode, matches: z.record(z.string(), mode), instruments: z.record(z.string(), mode) })

/** The operator's restrictions in such rules. Throws when they cannot be read. */
export function modesOf(plain: unknown): TradingModes {
  const { platform, matches, instruments } = Modes.parse(plain)
  return {
    platform,
    matches: new Map(Object.entries(matches).map(([id, own]) => [fixtureId(Number(id)), own])),
    instruments: new Map(Object.entries(instruments).map(([id, own]) => [instrumentId(id), own])),
  }
}

const Rules = z.object({
  kind: z.literal('rules'),
  at,
  rules: z.record(z.string(), z.unknown()),
  model: z.record(z.string(), z.unknown()),
})

const Heard = z.discriminatedUnion('kind', [
  Payload,
  Rules,
  z.object({ kind: z.literal('clock'), at }),
  z.object({ kind: z.literal('end'), at, ending: z.enum(['full_time', 'void']) }),
])
export type Line = Update | z.output<typeof Heard>

/** Reads a line. Throws when it cannot be read. */
export const readLine = (line: unknown): Line =>
  typeof line === 'object' && line !== null && 'snapshot' in line ? Plain.parse(line) : Heard.parse(line)

/** One line of a recording without its numbers, and its digest. */
export interface HeardLine {
  readonly text: string
  readonly digest: string
}

/** The members of a line that number commits and owners, which its digest leaves out. */
const NUMBERS = /^\{"n":\d+,"epoch":\d+,/

/** The lines of a recording after its head, with their digests. */
export function heardIn(
  lines: readonly string[],
  digest: (text: string) => string | Promise<string>,
): Promise<readonly HeardLine[]> {
  const numbered = lines.filter((line) => NUMBERS.test(line))
  return Promise.all(
    numbered.map(async (line) => {
      const text = line.replace(NUMBERS, '{')
      return { text, digest: await digest(text) }
    }),
  )
}
