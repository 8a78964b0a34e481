/** The boards by ROI and by profit: all users, one district, the referral network (specification 4.4). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type BoardName, compareStandings, rankAll, type Ranked } from '../../../../actors/community/ranking.ts'
import { type DistrictId, districtId, type UserId } from '../../../../actors/kernel/ids.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { limitInput, offsetInput, commonPurseInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { DistrictBody, districtStandings } from '../districts/standings.ts'
import { EntryBody, entryJson, rankedTotal } from './entry.ts'

const LIMIT_MAX = 500

const BoardBody = z.object({ entries: z.array(EntryBody), total: rankedTotal, nextCursor }).openapi('Leaderboard')
const DistrictBoardBody = z.object({ ...BoardBody.shape, district: DistrictBody }).openapi('DistrictLeaderboard')

/** A board moves while it is read, so its cursor is a place on it. */
const cursors = cursorsOf('board', z.tuple([z.int().min(1)]), [50])

const Page = z.object({
  purse: commonPurseInput,
  limit: limitInput(50, LIMIT_MAX),
  cursor: cursors.input,
  offset: offsetInput(10_000_000),
})
type Page = z.output<typeof Page>
const DistrictPath = z.object({
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
    security: READ_SECURITY,
    request: { query: Page },
    responses: { 200: json(BoardBody, 'Sorted by rank.'), ...errors(...SIGNED_IN, ...INPUT) },
  })

const districtBoard = <Path extends string>(path: Path, summary: string, description: string) =>
  createRoute({
    method: 'get',
    path,
    tags: ['Leaderboards'],
    summary,
    description,
    security: READ_SECURITY,
    request: { query: Page, params: DistrictPath },
    responses: {
      200: json(DistrictBoardBody, 'Sorted by rank.'),
      ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
    },
  })

const BY_PROFIT = '`score` is Σ realised PnL in units. A user is ranked after their first closed position.'
const BY_ROI =
  '`score` is 100 × Σ PnL of base moves ÷ max(Σ margin of closed positions, 10,000 units; setting `boards.roi_floor`). ' +
  'The PnL of base moves is what the match alone made of a position, between its open and its close: what users pay ' +
  'each other is not in it. Void positions count nowhere. Equal scores are ranked by win rate, then by profit, ' +
  'then by the earlier first trade. A user is ranked after their first closed position.'
const OF_DISTRICT = " Includes the district's own standing."
const OF_FRIENDS = ' Ranks the caller, the users they referred, and the user who referred them.'

const globalPnl = board('/api/leaderboard/global', 'All users by profit', BY_PROFIT)
const globalRoi = board('/api/leaderboard/roi/global', 'All users by ROI', BY_ROI)
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

type Deps = Pick<HttpDeps, 'community' | 'accounts'>

export function leaderboards({ community, accounts }: Deps, gates: Gates) {
  const { top, friends, ofDistrict } = readers({ community, accounts })
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...globalPnl, middleware: gates.signedIn }, async (c) =>
      c.json(await top({ by: 'pnl', districtId: null }, c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...globalRoi, middleware: gates.signedIn }, async (c) =>
      c.json(await top({ by: 'roi', districtId: null }, c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...districtPnl, middleware: gates.signedIn }, async (c) => {
      const name = { by: 'pnl', districtId: c.req.valid('param').districtId } as const
      const found = await ofDistrict(name, c.req.valid('query'), c.var.caller.userId)
      return found === null ? fail(c, notFound('district')) : c.json(found, 200)
    })
    .openapi({ ...districtRoi, middleware: gates.signedIn }, async (c) => {
      const name = { by: 'roi', districtId: c.req.valid('param').districtId } as const
      const found = await ofDistrict(name, c.req.valid('query'), c.var.caller.userId)
      return found === null ? fail(c, notFound('district')) : c.json(found, 200)
    })
    .openapi({ ...friendsPnl, middleware: gates.signedIn }, async (c) =>
      c.json(await friends('pnl', c.req.valid('query'), c.var.caller.userId), 200),
    )
    .openapi({ ...friendsRoi, middleware: gates.signedIn }, async (c) =>
      c.json(await friends('roi', c.req.valid('query'), c.var.caller.userId), 200),
    )
}

const startOf = ({ cursor, offset }: Page): number => (cursor?.[0] ?? 0) + offset

/** The cursor of the entries from a place on; null if the page was empty or reached the end. */
const nextOf = (place: number, total: number, shown: number): string | null =>
  shown === 0 || place >= total ? null : cursors.write([place])

/** Reads pages of boards, with the names of their users. */
function readers({ community: { boards, careers, referrals }, accounts }: Deps) {
  const entriesOf = async (by: BoardName['by'], ranked: readonly Ranked[], caller: UserId) => {
    const names = await careers.names(ranked.map(({ standing }) => standing.userId))
    return ranked.map((one) => ({ ...entryJson(by, one, names), isMe: one.standing.userId === caller }))
  }
  const top = async (name: BoardName, page: Page, caller: UserId) => {
    const from = startOf(page)
    const { total, entries } = await boards[page.purse].top(name, page.limit, from)
    const next = nextOf(from + entries.length, total, entries.length)
    return { entries: await entriesOf(name.by, entries, caller), total, nextCursor: next }
  }
  return {
    top,
    friends: async (by: BoardName['by'], page: Page, caller: UserId) => {
      const known = await boards[page.purse].standings(await referrals.network(caller))
      const ranked = rankAll(
        by,
        known.toSorted((a, b) => compareStandings(by, a, b)),
      )
      const from = startOf(page)
      const shown = ranked.slice(from, from + page.limit)
      const next = nextOf(from + shown.length, ranked.length, shown.length)
      return { entries: await entriesOf(by, shown, caller), total: ranked.length, nextCursor: next }
    },
    ofDistrict: async (name: BoardName & { readonly districtId: DistrictId }, page: Page, caller: UserId) => {
      const standings = await districtStandings({ accounts, boards: boards[page.purse] })
      const district = standings.find((one) => one.districtId === name.districtId)
      return district === undefined ? null : { ...(await top(name, page, caller)), district }
    },
  }
}
