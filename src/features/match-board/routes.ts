/** `GET /api/matches/{id}/table`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { cursorsOf } from '../../http/cursors.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { type Gates, READ_SECURITY } from '../../http/gates.ts'
import { FixtureIdInput, limitInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { entryJson } from '../../http/routes/leaderboard/entry.ts'
import { json } from '../../http/schemas.ts'
import { GROUPS, MatchTableBody } from './schema.ts'
import { type Group, type MatchBoards, MEMBERS_MAX, type TableRow } from './store.ts'

/** A table moves while it is read, so its cursor is a place on it, with its rank. */
const place = z.int().min(1).max(100_000_000)
const cursors = cursorsOf('match-table', z.tuple([place, place]), [10, 9])

const route = createRoute({
  method: 'get',
  path: '/api/matches/{id}/table',
  operationId: 'getMatchTable',
  tags: ['Leaderboards'],
  summary: 'The table of a match, with the place of the caller',
  description:
    'Ranks the positions closed in the match, in its own purse, as `GET /api/leaderboard/roi/global` ranks all. ' +
    'It is updated seconds after each close, and kept after full time. `group` is all users, the district of the ' +
    'caller, the caller with the users they referred and the user who referred them, or with the members of their ' +
    `private leagues that have not ended, ${MEMBERS_MAX} of them. A league has its own table, ` +
    '`GET /api/leagues/{id}/matches/{matchId}`.',
  security: READ_SECURITY,
  request: {
    params: z.object({ id: FixtureIdInput }),
    query: z.object({ group: z.enum(GROUPS).default('all'), limit: limitInput(10), cursor: cursors.input }),
  },
  responses: { 200: json(MatchTableBody, 'Sorted by rank.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

export interface MatchBoardPorts {
  readonly matchBoards: Pick<MatchBoards, 'table' | 'leagueMates'>
}

type Deps = MatchBoardPorts & Pick<HttpDeps, 'catalogue' | 'community' | 'accounts' | 'world'>

export function matchTable({ matchBoards, catalogue, community, accounts, world }: Deps, gates: Gates) {
  const groupOf = async (name: (typeof GROUPS)[number], user: UserId): Promise<Group> => {
    if (name === 'leagues') return { kind: 'users', users: await matchBoards.leagueMates(user, world.now()) }
    if (name === 'friends') return { kind: 'users', users: await community.referrals.network(user) }
    const found = name === 'district' ? await accounts.find(user) : null
    return found === null ? { kind: 'everybody' } : { kind: 'district', districtId: found.districtId }
  }
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { userId: user } = c.var.caller
    const { group, limit, cursor } = c.req.valid('query')
    const match = await catalogue.match(c.req.valid('param').id)
    if (match === null) return fail(c, notFound('match'))
    const { matchId, purse } = match
    const after = cursor === undefined ? null : { place: cursor[0], rank: cursor[1] }
    const table = await matchBoards.table({ match: matchId, group: await groupOf(group, user), user, limit, after })
    const entry = ({ rank, standing, user: of }: TableRow) => ({
      ...entryJson('roi', { rank, standing }, new Map([[standing.userId, of]])),
      isMe: standing.userId === user,
    })
    const body = {
      matchId: Number(matchId),
      purse,
      group,
      final: table.isFinal,
      total: table.total,
      entries: table.page.map(entry),
      me: table.me === null ? null : entry(table.me),
      around: table.around.map(entry),
      nextCursor: table.end === null ? null : cursors.write([table.end.place, table.end.rank]),
    }
    return c.json(body, 200)
  })
}
