/** The table of a match as the API shows it. */
import { z } from '@hono/zod-openapi'
import { nextCursor } from '../../http/cursors.ts'
import { LeaderboardEntryBody } from '../../http/account-schemas.ts'
import { rankedTotal } from '../../http/routes/leaderboard/entry.ts'
import { commonPurse, fixtureNumber } from '../../http/schemas.ts'

export const GROUPS = ['all', 'district', 'friends', 'leagues'] as const

export const MatchTableBody = z
  .object({
    matchId: fixtureNumber,
    purse: commonPurse,
    group: z.enum(GROUPS),
    final: z.boolean().openapi({
      description:
        'True once the match is settled and everything is counted. Only operators change it then: they void positions, ' +
        'freeze users and make them active again.',
      example: false,
    }),
    total: rankedTotal,
    entries: z.array(LeaderboardEntryBody),
    me: z.union([LeaderboardEntryBody, z.null()]).openapi({
      description: 'Null before the first closed position in the match, and for users who are on no board.',
    }),
    around: z
      .array(LeaderboardEntryBody)
      .openapi({ description: 'The caller with at most two neighbours on each side; empty without a place.' }),
    nextCursor,
  })
  .openapi('MatchTable')
