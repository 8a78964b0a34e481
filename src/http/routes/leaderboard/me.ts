/** `GET /api/leaderboard/me` and `/me/context`: the caller's own rank by ROI. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Ranked, roiPpm, type Standing } from '../../../../actors/community/ranking.ts'
import type { UserId } from '../../../../actors/kernel/ids.ts'
import type { CommonPurse } from '../../../../actors/kernel/purse.ts'
import { LeaderboardEntryBody, score } from '../../account-schemas.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { commonPurseInput } from '../../inputs.ts'
import { PPM_PER_PERCENT } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { entryJson, rankedTotal, scoreOf } from './entry.ts'

const MeBody = z
  .discriminatedUnion('ranked', [
    z.object({ ranked: z.literal(false) }),
    z.object({ ranked: z.literal(true), ...LeaderboardEntryBody.omit({ isMe: true }).shape, total: rankedTotal }),
  ])
  .openapi('MyRank')

const NextBody = z.object({
  rank: z.int().openapi({ example: 41 }),
  score: score.openapi({ example: 13.3 }),
  gap: z.number().openapi({
    description: 'Per cent missing to that score; 0 if only the tie-break decides.',
    example: 0.8,
  }),
})
const ContextBody = z.discriminatedUnion('ranked', [
  z.object({ ranked: z.literal(false) }),
  z.object({
    ranked: z.literal(true),
    ...LeaderboardEntryBody.omit({ isMe: true }).shape,
    total: rankedTotal,
    next: NextBody.nullable().openapi({ description: 'The next higher rank; null for the first.' }),
  }),
])

const InPurse = z.object({ purse: commonPurseInput })

const UNRANKED =
  '`ranked: false` before the first closed position, and for users who are on no board: bots, and hidden users.'

const me = createRoute({
  method: 'get',
  path: '/api/leaderboard/me',
  tags: ['Leaderboards'],
  summary: "The caller's rank by ROI",
  description: 'Ranked as in `GET /api/leaderboard/roi/global`; `score` is ROI in per cent.',
  security: READ_SECURITY,
  request: { query: InPurse },
  responses: { 200: json(MeBody, UNRANKED), ...errors(...SIGNED_IN, ...INPUT) },
})

const context = createRoute({
  method: 'get',
  path: '/api/leaderboard/me/context',
  tags: ['Leaderboards'],
  summary: "The caller's rank by ROI and the gap to the next rank",
  description: 'For a line such as "0.8 % to rank 41".',
  security: READ_SECURITY,
  request: { query: InPurse },
  responses: { 200: json(ContextBody, UNRANKED), ...errors(...SIGNED_IN, ...INPUT) },
})

export function myRank({ community: { boards, careers } }: Pick<HttpDeps, 'community'>, gates: Gates) {
  const place = async (caller: UserId, purse: CommonPurse) => {
    const found = await boards[purse].place({ by: 'roi', districtId: null }, caller)
    if (found === null) return null
    const names = await careers.names([caller])
    return { found, entry: { ranked: true as const, ...entryJson('roi', found, names), total: found.total } }
  }
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...me, middleware: gates.signedIn }, async (c) => {
      const mine = await place(c.var.caller.userId, c.req.valid('query').purse)
      return c.json(mine === null ? { ranked: false as const } : mine.entry, 200)
    })
    .openapi({ ...context, middleware: gates.signedIn }, async (c) => {
      const mine = await place(c.var.caller.userId, c.req.valid('query').purse)
      if (mine === null) return c.json({ ranked: false as const }, 200)
      return c.json({ ...mine.entry, next: nextJson(mine.found.standing, mine.found.next) }, 200)
    })
}

function nextJson(mine: Standing, next: Ranked | null) {
  if (next === null) return null
  const gapPpm = roiPpm(next.standing) - roiPpm(mine)
  return { rank: next.rank, score: scoreOf('roi', next.standing), gap: gapPpm / PPM_PER_PERCENT }
}
