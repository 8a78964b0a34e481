/** A season as the API shows it. */
import { z } from '@hono/zod-openapi'
import { leagueIdText } from '../leagues/id-schema.ts'
import { timestampText } from '../../http/schemas.ts'
import { divisionNumber, LeagueBody, seasonIdText } from '../leagues/schema.ts'

export const SeasonBody = z
  .object({
    id: seasonIdText,
    name: z.string().openapi({ example: 'November 2026' }),
    startsAt: timestampText,
    endsAt: timestampText,
    mine: z.union([LeagueBody, z.null()]),
  })
  .openapi('Season')

export const PastSeasonBody = z
  .object({
    season: z.object({ id: seasonIdText, division: divisionNumber, group: z.int().openapi({ example: 12 }) }),
    leagueId: leagueIdText,
    rank: z.int().openapi({ example: 3 }),
    members: z.int().openapi({ example: 50 }),
    value: z.number().openapi({ description: 'Units at the end.', example: 11_240.5 }),
    outcome: z.enum(['promoted', 'relegated', 'stays']).openapi({ description: 'What it means for the next.' }),
  })
  .openapi('PastSeason')
