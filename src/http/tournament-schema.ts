/** A tournament as the API shows it. */
import { z } from '@hono/zod-openapi'
import { decimal } from '../../actors/kernel/micros.ts'
import type { Instant } from '../../actors/kernel/world.ts'
import type { Tournament } from '../../db/tournaments.ts'
import { commitmentTo } from './commitment.ts'
import { timestamp } from './json.ts'
import { leagueIdText } from './league-schema.ts'
import { timestampText } from './schemas.ts'

export const TournamentBody = z
  .object({
    id: leagueIdText,
    name: z.string().openapi({ example: 'Friday Night Cup' }),
    state: z.enum(['upcoming', 'running', 'decided']).openapi({ example: 'upcoming' }),
    startsAt: timestampText,
    endsAt: timestampText.openapi({ description: 'At the latest: it ends with its match.' }),
    speed: z.number().openapi({ description: 'Times real time.', example: 10 }),
    startingBalance: z.number().openapi({ description: 'Units.', example: 10_000 }),
    entrants: z.int().openapi({ example: 212 }),
    isEntered: z.boolean().openapi({ description: 'Whether the caller takes part.', example: true }),
    matchId: z.int().nullable().openapi({ description: 'Null before it begins.', example: null }),
    commitment: z.string().openapi({
      description: 'SHA-256 of `<seed> <recording>` in hexadecimal digits, known before the match is played.',
      example: '0f1b7a2c5d3e4f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8',
    }),
    revealed: z
      .object({
        recording: z.string().openapi({ example: 'cup-night' }),
        seed: z.string().openapi({ example: '00112233445566778899aabbccddeeff' }),
      })
      .nullable()
      .openapi({
        description:
          'What was played, and what gave players and clubs their names; null until the table is final. ' +
          '`npm run ops -- disguise <recording> <seed>` lists the names again.',
        example: null,
      }),
  })
  .openapi('Tournament')

export const tournamentJson = (
  tournament: Tournament,
  { now, isEntered }: { readonly now: Instant; readonly isEntered: boolean },
): z.output<typeof TournamentBody> => {
  const { id, name, recording, seed, startsAt, endsAt, speed, startingBalance, match, entrants, decidedAt } = tournament
  return {
    id,
    name,
    state: decidedAt !== null ? 'decided' : now < startsAt ? 'upcoming' : 'running',
    startsAt: timestamp(startsAt),
    endsAt: timestamp(endsAt),
    speed,
    startingBalance: decimal(startingBalance),
    entrants,
    isEntered,
    matchId: match,
    commitment: commitmentTo(tournament),
    revealed: decidedAt === null ? null : { recording, seed },
  }
}
