/**
 * A line of a recording or a journal: something that a match has heard. Unknown kinds are refused, unknown members
 * ignored.
 */
import { z } from 'zod'
import { FixtureId, Instant, InstrumentId, Snapshot } from '../../actors/codec/fixture.ts'
import { fixtureId, instrumentId } from '../../actors/kernel/ids.ts'
import { price } from '../../actors/kernel/micros.ts'
import { TRADING_MODES, type TradingModes } from '../../actors/kernel/trading-mode.ts'

const fixed = z.int().nonnegative().transform(price)
const goals = z.object({ home: z.number(), away: z.number() }).nullable()

const History = z.object({
  last: fixed.nullable(),
  anchor: fixed.nullable(),
  past: z.object({ matches: z.int().positive(), mean: fixed }).nullable(),
  heldBy: FixtureId.nullable(),
})

const update = {
  kind: z.literal('update'),
  at: Instant,
  seq: z.int().positive(),
  speed: z.number().positive(),
  histories: z.record(InstrumentId, History),
}
const Payload = z.object({
  ...update,
  players: z.string(),
  startsAt: Instant.nullable(),
  sourceAt: Instant,
  expectedGoals: goals,
  payload: z.unknown(),
})
const Plain = z.object({ ...update, snapshot: Snapshot })
export type Update = z.output<typeof Plain> | Payload
export type Payload = z.output<typeof Payload>

const mode = z.enum(TRADING_MODES)
const Modes = z.object({ platform: mode, matches: z.record(z.string(), mode), instruments: z.record(z.string(), mode) })

/** The operator's restrictions in the rules of a line. Throws when they cannot be read. */
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
  at: Instant,
  rules: z.record(z.string(), z.unknown()),
  model: z.record(z.string(), z.unknown()),
})

const Heard = z.discriminatedUnion('kind', [
  Payload,
  Rules,
  z.object({ kind: z.literal('clock'), at: Instant }),
  z.object({ kind: z.literal('end'), at: Instant, ending: z.enum(['full_time', 'void']) }),
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
