/** The boards by ROI and by profit: all users, one district, the referral network (specification 4.4). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import {
  type BoardName,
  boardPlace,
  comparePlaces,
  compareStandings,
  rankAll,
  type Ranked,
} from '../../../../actors/community/ranking.ts'
import { PPM } from '../../../../actors/kernel/micros.ts'
import { type DistrictId, districtId, type UserId, userId } from '../../../../actors/kernel/ids.ts'
import { DistrictBody, LeaderboardEntryBody } from '../../account-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { type Cursor, cursorsOf, nextCursor } from '../../cursors.ts'
import { INSTANT_MAX } from '../../unfit-values.ts'
import { limitInput, offsetInput, commonPurseInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { districtStandings } from '../districts/standings.ts'
import { entryJson, rankedTotal } from './entry.ts'

const LIMIT_MAX = 500
/** No key of a board is larger. */
const WIDE_MAX = 2e15

const BoardBody = z
  .object({ entries: z.array(LeaderboardEntryBody), total: rankedTotal, nextCursor })
  .openapi('Leaderboard')
const DistrictBoardBody = z.object({ ...BoardBody.shape, district: DistrictBody }).openapi('DistrictLeaderboard')

type By = BoardName['by']
/** The key of the last entry, and its user: those who overtake others meanwhile neither repeat nor hide any. */
type PlaceCursor = Cursor<[key: readonly number[], userId: string]>

const wide = z.int().min(-WIDE_MAX).max(WIDE_MAX)
const cursorsBy = (by: By, key: z.ZodType<readonly number[]>, example: readonly number[]): PlaceCursor =>
  cursorsOf(`board-${by}`, z.tuple([key, z.uuid()]), [example, '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968'])
const CURSORS: Readonly<Record<By, PlaceCursor>> = {
  roi: cursorsBy(
    'roi',
    z.tuple([wide, z.int().min(-PPM).max(0), wide, z.int().min(0).max(INSTANT_MAX)]),
    [-125_000, -620_000, -412_500_000, 1_777_730_400_000],
  ),
  pnl: cursorsBy('pnl', z.tuple([wide]), [-412_500_000]),
}

const pageOf = (by: By) =>
  z.object({
    purse: commonPurseInput,
    limit: limitInput(50, LIMIT_MAX),
    cursor: CURSORS[by].input,
    offset: offsetInput(10_000_000),
  })
const PAGES = { roi: pageOf('roi'), pnl: pageOf('pnl') }
type Page = z.output<typeof PAGES.roi>
const DistrictPath = z.object({
  districtId: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a district number')
    .openapi({ example: '1' })
    .transform((text) => districtId(Number(text))),
})

const board = <Path extends string>(by: By, path: Path, summary: string, description: string) =>
  createRoute({
    method: 'get',
    path,
    tags: ['Leaderboards'],
    summary,
    description,
    security: READ_SECURITY,
    request: { query: PAGES[by] },
    responses: { 200: json(BoardBody, 'Sorted by rank.'), ...errors(...SIGNED_IN, ...INPUT) },
  })

const districtBoard = <Path extends string>(by: By, path: Path, summary: string, description: string) =>
  createRoute({
    method: 'get',
    path,
    tags: ['Leaderboards'],
    summary,
    description,
    security: READ_SECURITY,
    request: { query: PAGES[by], params: DistrictPath },
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

const globalPnl = board('pnl', '/api/leaderboard/global', 'All users by profit', BY_PROFIT)
const globalRoi = board('roi', '/api/leaderboard/roi/global', 'All users by ROI', BY_ROI)
const districtPnl = districtBoard(
  'pnl',
  '/api/leaderboard/district/{districtId}',
  'A district by profit',
  BY_PROFIT + OF_DISTRICT,
)
const districtRoi = districtBoard(
  'roi',
  '/api/leaderboard/roi/district/{districtId}',
  'A district by ROI',
  BY_ROI + OF_DISTRICT,
)
const friendsPnl = board('pnl', '/api/leaderboard/friends', 'The referral network by profit', BY_PROFIT + OF_FRIENDS)
const friendsRoi = board('roi', '/api/leaderboard/roi/friends', 'The referral network by ROI', BY_ROI + OF_FRIENDS)

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

const afterOf = ({ cursor }: Page) => (cursor === undefined ? null : { key: cursor[0], userId: userId(cursor[1]) })

/** Reads pages of boards, with the names of their users. */
function readers({ community: { boards, careers, referrals }, accounts }: Deps) {
  const entriesOf = async (by: By, ranked: readonly Ranked[], caller: UserId) => {
    const names = await careers.names(ranked.map(({ standing }) => standing.userId))
    return ranked.map((one) => ({ ...entryJson(by, one, names), isMe: one.standing.userId === caller }))
  }
  /** A page of `ranked`, which holds one more if there is a next one. */
  const pageFrom = async (by: By, ranked: readonly Ranked[], { limit }: Page, caller: UserId) => {
    const page = CURSORS[by].page(ranked, limit, ({ standing }) => {
      const { key, userId: user } = boardPlace(by, standing)
      return [key, user]
    })
    return { entries: await entriesOf(by, page.rows, caller), nextCursor: page.nextCursor }
  }
  const top = async (name: BoardName, page: Page, caller: UserId) => {
    const start = { after: afterOf(page), offset: page.offset }
    const { total, entries } = await boards[page.purse].top(name, page.limit + 1, start)
    return { ...(await pageFrom(name.by, entries, page, caller)), total }
  }
  return {
    top,
    friends: async (by: By, page: Page, caller: UserId) => {
      const known = await boards[page.purse].standings(await referrals.network(caller))
      const ranked = rankAll(
        by,
        known.toSorted((a, b) => compareStandings(by, a, b)),
      )
      const after = afterOf(page)
      const left = ranked.filter(({ standing }) => after === null || comparePlaces(boardPlace(by, standing), after) > 0)
      const rest = left.slice(page.offset, page.offset + page.limit + 1)
      return { ...(await pageFrom(by, rest, page, caller)), total: ranked.length }
    },
    ofDistrict: async (name: BoardName & { readonly districtId: DistrictId }, page: Page, caller: UserId) => {
      const standings = await districtStandings({ accounts, boards: boards[page.purse] })
      const district = standings.find((one) => one.districtId === name.districtId)
      return district === undefined ? null : { ...(await top(name, page, caller)), district }
    },
  }
}
