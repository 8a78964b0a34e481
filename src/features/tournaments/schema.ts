/** A tournament as the API shows it. */
import { z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { Instant } from '../../../actors/kernel/world.ts'
import type { Tournament } from './store.ts'
import { commitmentTo } from '../../http/commitment.ts'
import { timestamp } from '../../http/json.ts'
import { leagueIdText } from '../leagues/id-schema.ts'
import { timestampText } from '../../http/schemas.ts'

export const TournamentBody = z
  .object({
    id: leagueIdText,
    name: z.string().openapi({ example: 'Friday Night Cup' }),
    state: z.enum(['upcoming', 'running', 'decided', 'cancelled']).openapi({
      description: '`cancelled`: it is not played: an operator has taken it back, or it ended before its first update.',
      example: 'upcoming',
    }),
    startsAt: timestampText,
    endsAt: timestampText.openapi({ description: 'At the latest: it ends with its match.' }),
    speed: z.number().openapi({ description: '1 is real time.', example: 10 }),
    startingBalance: z.number().openapi({ description: 'Units.', example: 10_000 }),
    entrants: z.int().openapi({ example: 212 }),
    isEntered: z.boolean().openapi({ description: 'Whether the caller takes part.', example: true }),
    matchId: z.int().nullable().openapi({ description: 'Null before its first update.', example: null }),
    commitment: z.string().openapi({
      description: 'SHA-256 of the seed, in hexadecimal digits, known before the match is played.',
      example: '2a8abfa8cb9906290437854193ca6bca41d4d4e26d1d454bd66a35158095e737',
    }),
    seed: z
      .string()
      .nullable()
      .openapi({
        description:
          'What the whole match is made from, 64 hexadecimal digits; null until the table is final and the match is ' +
          'over. `npm run ops -- tournament-match <seed> <recording>` makes the match again and compares it with the ' +
          'answer of `GET /api/public/tape/{id}/recording`.',
        example: null,
      }),
  })
  .openapi('Tournament')

export const tournamentJson = (
  tournament: Tournament,
  { now, isEntered }: { readonly now: Instant; readonly isEntered: boolean },
): z.output<typeof TournamentBody> => {
  const { id, name, seed, isSeedPublic, startsAt, endsAt, speed, startingBalance, entrants, decidedAt } = tournament
  const match = tournament.isMatchKnown ? tournament.match : null
  return {
    id,
    name,
    state: decidedAt !== null ? (match === null ? 'cancelled' : 'decided') : now < startsAt ? 'upcoming' : 'running',
    startsAt: timestamp(startsAt),
    endsAt: timestamp(endsAt),
    speed,
    startingBalance: decimal(startingBalance),
    entrants,
    isEntered,
    matchId: match,
    commitment: commitmentTo(seed),
    seed: isSeedPublic ? seed : null,
  }
}
