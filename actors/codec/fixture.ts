/** What a feed says about a fixture, as messages between processes and lines of recordings have it. */
import { z } from 'zod'
import { fixtureId, instrumentId, playerId } from '../kernel/ids.ts'
import { instant } from '../kernel/world.ts'
import { EVENT_KINDS, ROLES, type SaidFixture, SIDES } from '../market/fixture.ts'

export const Instant = z.int().transform(instant)
export const InstrumentId = z.string().min(1).max(64).transform(instrumentId)
export const FixtureId = z.int().nonnegative().max(0xffffffff).transform(fixtureId)
const Side = z.enum(SIDES)
const Team = z.object({
  id: z.int(),
  name: z.string().nullable(),
  goals: z.int().nullable(),
  shootout: z.int().exactOptional(),
})
const PlayerId = z.int().transform(playerId)
const statistics = z.record(z.string(), z.number())

export const Snapshot: z.ZodType<SaidFixture> = z.object({
  fixtureId: FixtureId,
  name: z.string().nullable(),
  league: z.string().nullable(),
  startsAt: Instant.nullable(),
  state: z.string().nullable(),
  stateId: z.int().nullable(),
  home: Team,
  away: Team,
  periods: z.array(
    z.object({
      id: z.int(),
      kind: z.enum(['first_half', 'second_half', 'extra_time', 'penalties']),
      order: z.int(),
      countsFrom: z.number(),
      length: z.number(),
      elapsedSecs: z.number().nullable(),
      ticking: z.boolean(),
    }),
  ),
  events: z
    .array(
      z.object({
        id: z.int(),
        kind: z.enum(EVENT_KINDS),
        minute: z.number().nullable(),
        extraMinute: z.number().nullable(),
        sortOrder: z.number().exactOptional(),
        period: z.number().nullable(),
        side: Side.nullable(),
        playerId: PlayerId.nullable(),
        playerName: z.string().nullable(),
        relatedPlayerId: PlayerId.nullable(),
        relatedPlayerName: z.string().nullable(),
        result: z.string().nullable(),
        addition: z.string().nullable(),
        rescinded: z.boolean(),
      }),
    )
    .nullable(),
  players: z.array(
    z.object({
      playerId: PlayerId,
      instrumentId: InstrumentId,
      name: z.string().nullable(),
      side: Side,
      role: z.enum(ROLES).nullable(),
      jersey: z.number().nullable(),
      starter: z.boolean(),
      details: statistics.nullable(),
    }),
  ),
  teamStats: z.object({ home: statistics, away: statistics }).nullable(),
  expectedGoals: z.object({ home: z.number(), away: z.number() }).nullable(),
  sourceAt: Instant,
})
