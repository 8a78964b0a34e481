/** `GET /api/districts/standings`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { rankDistricts } from '../../../../actors/community/ranking.ts'
import type { CommonPurse } from '../../../../actors/kernel/purse.ts'
import { DistrictBody } from '../../account-schemas.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import type { CommunityPorts } from '../../community-ports.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { commonPurseInput } from '../../inputs.ts'
import { PPM_PER_PERCENT } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/districts/standings',
  tags: ['Leaderboards'],
  summary: 'All districts by the average ROI of their ranked members',
  description: 'Districts without a ranked member come last, without rank and score.',
  security: READ_SECURITY,
  request: { query: z.object({ purse: commonPurseInput }) },
  responses: {
    200: json(z.object({ districts: z.array(DistrictBody) }), 'Sorted by rank.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

export function listStandings({ accounts, community }: Pick<HttpDeps, 'accounts' | 'community'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedInTogether }, async (c) => {
    const boards = community.boards[c.req.valid('query').purse]
    return c.json({ districts: await districtStandings({ accounts, boards }) }, 200)
  })
}

interface StandingsDeps {
  readonly accounts: Pick<HttpDeps['accounts'], 'districts'>
  readonly boards: Pick<CommunityPorts['boards'][CommonPurse], 'districts'>
}

/** The standing of every district, sorted by rank. */
export async function districtStandings({ accounts, boards }: StandingsDeps) {
  const [known, scores] = await Promise.all([accounts.districts(), boards.districts()])
  const byId = new Map(scores.map((one) => [one.districtId, one]))
  const names = new Map(known.map(({ id, name }) => [id, name]))
  const ranked = rankDistricts(known.map(({ id }) => byId.get(id) ?? { districtId: id, members: 0, roiPpmSum: 0 }))
  return ranked.map((one) => ({
    rank: one.rank,
    districtId: Number(one.districtId),
    name: names.get(one.districtId) ?? '',
    members: one.members,
    score: one.roiPpm === null ? null : one.roiPpm / PPM_PER_PERCENT,
  }))
}
