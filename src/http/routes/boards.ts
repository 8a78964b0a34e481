/** Leaderboards and district standings (specification 4.4), and how operators keep them (4.5). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type DistrictId, districtId, type UserId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import {
  type BoardName,
  compareStandings,
  PPM,
  rankAll,
  rankDistricts,
  type Ranked,
  roiPpm,
  type Standing,
  winPpm,
} from '../../../actors/community/ranking.ts'
import { answerWith, errors, fail, notFound } from '../answers.ts'
import { ADMIN, CHANGE, INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { PPM_PER_PERCENT } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json } from '../schemas.ts'

const LIMIT_MAX = 500

const score = z.number().openapi({ description: 'ROI in per cent, or units on a profit board.' })
const EntryBody = z
  .object({
    rank: z.int().openapi({ description: 'Ties share it: 1, 2, 2, 4.' }),
    userId: z.uuid(),
    username: z.string(),
    districtId: z.int(),
    score,
    roiPct: z.number().openapi({ description: '100 × Σ realised PnL ÷ Σ margin of closed positions.' }),
    pnl: z.number().openapi({ description: 'Σ realised PnL in units.' }),
    winRate: z.number().openapi({ description: 'Wins ÷ closes, 0 to 1.' }),
    trades: z.int().openapi({ description: 'Closed positions.' }),
    isMe: z.boolean(),
  })
  .openapi('LeaderboardEntry')

const BoardBody = z
  .object({ entries: z.array(EntryBody), total: z.int().openapi({ description: 'How many are ranked.' }) })
  .openapi('Leaderboard')

const DistrictBody = z
  .object({
    rank: z.int().nullable().openapi({ description: 'Null as long as nobody there is ranked, like `score`.' }),
    districtId: z.int(),
    name: z.string(),
    members: z.int().openapi({ description: 'Ranked members.' }),
    score: z.number().nullable().openapi({ description: 'Their average ROI in per cent.' }),
  })
  .openapi('DistrictStanding')

const MeBody = z
  .discriminatedUnion('ranked', [
    z.object({ ranked: z.literal(false) }),
    z.object({ ranked: z.literal(true), ...EntryBody.omit({ isMe: true }).shape, total: z.int() }),
  ])
  .openapi('MyRank')

const NextBody = z.object({
  rank: z.int(),
  score,
  gap: z.number().openapi({ description: 'How much is missing to that score; 0 when only a tie-break decides.' }),
})
const ContextBody = z.discriminatedUnion('ranked', [
  z.object({ ranked: z.literal(false) }),
  z.object({
    ranked: z.literal(true),
    ...EntryBody.omit({ isMe: true }).shape,
    total: z.int(),
    next: NextBody.nullable().openapi({ description: 'The nearest of those above; null for the first.' }),
  }),
])

const Page = z.object({
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(50),
  offset: z.coerce.number().int().min(0).max(10_000_000).default(0),
})
type Page = z.output<typeof Page>
const districtPath = z.object({
  districtId: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a district number')
    .openapi({ example: '1' })
    .transform((text) => districtId(Number(text))),
})

const board = <Path extends string>(path: Path, summary: string, description: string) =>
  createRoute({
    method: 'get',
    path,
    tags: ['Leaderboards'],
    summary,
    description,
    security: ACCESS_SECURITY,
    request: { query: Page },
    responses: { 200: json(BoardBody, 'In order of rank.'), ...errors(...SIGNED_IN, ...INPUT) },
  })

const districtBoard = <Path extends string>(path: Path, summary: string, description: string) =>
  createRoute({
    method: 'get',
    path,
    tags: ['Leaderboards'],
    summary,
    description,
    security: ACCESS_SECURITY,
    request: { query: Page, params: districtPath },
    responses: {
      200: json(z.object({ ...BoardBody.shape, district: DistrictBody }), 'In order of rank.'),
      ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
    },
  })

const me = createRoute({
  method: 'get',
  path: '/api/leaderboard/me',
  tags: ['Leaderboards'],
  summary: 'Where the caller stands by ROI',
  description: 'By the rules of `GET /api/leaderboard/roi/global`; `score` is ROI in per cent.',
  security: ACCESS_SECURITY,
  responses: { 200: json(MeBody, '`ranked: false` before his first closed position.'), ...errors(...SIGNED_IN) },
})

const context = createRoute({
  method: 'get',
  path: '/api/leaderboard/me/context',
  tags: ['Leaderboards'],
  summary: 'Where the caller stands by ROI, and how far it is to the next rank',
  description: 'For the line "0.8 % to rank 41": the nearest rank above the caller\'s, and how far it is.',
  security: ACCESS_SECURITY,
  responses: { 200: json(ContextBody, '`ranked: false` before his first closed position.'), ...errors(...SIGNED_IN) },
})

const standings = createRoute({
  method: 'get',
  path: '/api/districts/standings',
  tags: ['Leaderboards'],
  summary: 'All districts by the average ROI of their ranked members',
  description: 'A district without a ranked member stands at the end, with neither rank nor score.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(z.object({ districts: z.array(DistrictBody) }), 'In order of rank.'),
    ...errors(...SIGNED_IN),
  },
})

const rebuild = createRoute({
  method: 'post',
  path: '/api/admin/leaderboard/rebuild-roi',
  tags: ['Admin'],
  summary: 'Make all leaderboards anew from the database',
  description:
    'The boards show what they did until the new ones are whole, and trades go on. Calls that meet a rebuild under way in ' +
    'the same process wait for it and get its result; one under way in another process is 409.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(z.object({ rebuilt: z.int().openapi({ description: 'Users who are ranked.' }) }), 'Done.'),
    ...errors(...ADMIN, ...CHANGE, 'REBUILD_UNDER_WAY'),
  },
})

type Deps = Pick<HttpDeps, 'community' | 'accounts' | 'audit'>

export function boardRoutes({ community, accounts, audit }: Deps, gates: Gates) {
  const { boards, careers, referrals, keeper } = community

  const entriesOf = async (by: BoardName['by'], ranked: readonly Ranked[], caller: UserId) => {
    const names = await careers.usernames(ranked.map(({ standing }) => standing.userId))
    return ranked.map((one) => ({ ...entryJson(by, one, names), isMe: one.standing.userId === caller }))
  }
  const top = async (name: BoardName, { limit, offset }: Page, caller: UserId) => {
    const { total, entries } = await boards.top(name, limit, offset)
    return { entries: await entriesOf(name.by, entries, caller), total }
  }
  const friends = async (by: BoardName['by'], { limit, offset }: Page, caller: UserId) => {
    const known = await boards.standings(await referrals.network(caller))
    const ranked = rankAll(
      by,
      known.toSorted((a, b) => compareStandings(by, a, b)),
    )
    return { entries: await entriesOf(by, ranked.slice(offset, offset + limit), caller), total: ranked.length }
  }
  const allDistricts = async () => {
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
  const ofDistrict = async (by: BoardName['by'], id: DistrictId, page: Page, caller: UserId) => {
    const district = (await allDistricts()).find((one) => one.districtId === id)
    return district === undefined ? null : { ...(await top({ by, districtId: id }, page, caller)), district }
  }
  const place = async (caller: UserId) => {
    const found = await boards.place({ by: 'roi', districtId: null }, caller)
    if (found === null) return null
    const names = await careers.usernames([caller])
    return { found, entry: { ranked: true as const, ...entryJson('roi', found, names), total: found.total } }
  }

  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...globalPnl, middleware: gates.signedIn }, async (c) =>
      c.json(await top({ by: 'pnl', districtId: null }, c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...globalRoi, middleware: gates.signedIn }, async (c) =>
      c.json(await top({ by: 'roi', districtId: null }, c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...districtPnl, middleware: gates.signedIn }, async (c) => {
      const { districtId: id } = c.req.valid('param')
      const found = await ofDistrict('pnl', id, c.req.valid('query'), c.var.caller.userId)
      return found === null ? fail(c, notFound('district')) : c.json(found, 200)
    })
    .openapi({ ...districtRoi, middleware: gates.signedIn }, async (c) => {
      const { districtId: id } = c.req.valid('param')
      const found = await ofDistrict('roi', id, c.req.valid('query'), c.var.caller.userId)
      return found === null ? fail(c, notFound('district')) : c.json(found, 200)
    })
    .openapi({ ...friendsPnl, middleware: gates.signedIn }, async (c) =>
      c.json(await friends('pnl', c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...friendsRoi, middleware: gates.signedIn }, async (c) =>
      c.json(await friends('roi', c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...me, middleware: gates.signedIn }, async (c) => {
      const mine = await place(c.var.caller.userId)
      return c.json(mine === null ? { ranked: false as const } : mine.entry, 200)
    })
    .openapi({ ...context, middleware: gates.signedIn }, async (c) => {
      const mine = await place(c.var.caller.userId)
      if (mine === null) return c.json({ ranked: false as const }, 200)
      return c.json({ ...mine.entry, next: nextJson(mine.found.standing, mine.found.next) }, 200)
    })
    .openapi({ ...standings, middleware: gates.signedIn }, async (c) =>
      c.json({ districts: await allDistricts() }, 200),
    )
    .openapi({ ...rebuild, middleware: gates.admin }, async (c) => {
      const rebuilt = await keeper.rebuild()
      const deed = { action: 'boards.rebuild', subject: 'leaderboards', before: null, after: rebuilt }
      await audit.record({ actor: c.var.caller.userId, ...deed })
      return rebuilt === null ? fail(c, answerWith('REBUILD_UNDER_WAY')) : c.json({ rebuilt }, 200)
    })
}

const BY_PROFIT = '`score` is Σ realised PnL in units. Users are ranked from their first closed position on.'
const BY_ROI =
  '`score` is 100 × Σ realised PnL ÷ Σ margin of closed positions. Equal ones are ranked by win rate, then by profit, then ' +
  'by who traded first.'
const OF_DISTRICT = ' With how the district itself stands.'
const OF_FRIENDS = ' Ranks are among the caller, those whom he has brought, and who brought him.'

const globalPnl = board('/api/leaderboard/global', 'Everybody by profit', BY_PROFIT)
const globalRoi = board('/api/leaderboard/roi/global', 'Everybody by ROI', BY_ROI)
const districtPnl = districtBoard(
  '/api/leaderboard/district/{districtId}',
  'A district by profit',
  BY_PROFIT + OF_DISTRICT,
)
const districtRoi = districtBoard(
  '/api/leaderboard/roi/district/{districtId}',
  'A district by ROI',
  BY_ROI + OF_DISTRICT,
)
const friendsPnl = board('/api/leaderboard/friends', 'The referral network by profit', BY_PROFIT + OF_FRIENDS)
const friendsRoi = board('/api/leaderboard/roi/friends', 'The referral network by ROI', BY_ROI + OF_FRIENDS)

const scoreOf = (by: BoardName['by'], standing: Standing): number =>
  by === 'pnl' ? decimal(standing.pnl) : roiPpm(standing) / PPM_PER_PERCENT

function entryJson(by: BoardName['by'], { rank, standing }: Ranked, names: ReadonlyMap<UserId, string>) {
  return {
    rank,
    userId: standing.userId,
    username: names.get(standing.userId) ?? '',
    districtId: Number(standing.districtId),
    score: scoreOf(by, standing),
    roiPct: roiPpm(standing) / PPM_PER_PERCENT,
    pnl: decimal(standing.pnl),
    winRate: winPpm(standing) / PPM,
    trades: standing.closed,
  }
}

function nextJson(mine: Standing, next: Ranked | null) {
  if (next === null) return null
  const gapPpm = roiPpm(next.standing) - roiPpm(mine)
  return { rank: next.rank, score: scoreOf('roi', next.standing), gap: gapPpm / PPM_PER_PERCENT }
}
