/** `GET /api/leagues`, `GET /api/leagues/{id}`, `GET /api/leagues/{id}/matches/{matchId}`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { LeaguePlace, Leagues, OwnLeague } from './store.ts'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { cursorsOf } from '../../http/cursors.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { FixtureIdInput, LeagueIdInput, limitInput, offsetInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import {
  gainPct,
  LeagueBody,
  LeagueMatchPlaceBody,
  type LeaguePlaceBody,
  LeagueTableBody,
  leagueJson,
} from './schema.ts'

/** A table moves while it is read, so its cursor is a place in it. */
const cursors = cursorsOf('league', z.tuple([z.int().min(1)]), [50])

const READ = { tags: ['Leagues'], security: READ_SECURITY }

const list = createRoute({
  ...READ,
  method: 'get',
  path: '/api/leagues',
  operationId: 'listLeagues',
  summary: "The caller's leagues",
  description: 'The one that ends last first; at most 100.',
  responses: { 200: json(z.object({ leagues: z.array(LeagueBody) }), 'Without those left.'), ...errors(...SIGNED_IN) },
})

const one = createRoute({
  ...READ,
  method: 'get',
  path: '/api/leagues/{id}',
  operationId: 'getLeague',
  summary: 'A league and its table',
  description:
    'For its members. Ranked by what leaving everything now would leave, which moves no price there; final once the ' +
    'league is decided: it is over, nothing is open, and, with `trading.protection`, no news can move a close any ' +
    'more. Who is on no board is shown to themselves alone, and their rank is left out; a frozen user comes last.',
  request: {
    params: z.object({ id: LeagueIdInput }),
    query: z.object({ limit: limitInput(50), cursor: cursors.input, offset: offsetInput(1_000) }),
  },
  responses: {
    200: json(LeagueTableBody, 'As of now, or a second ago.'),
    ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
  },
})

const ofMatch = createRoute({
  ...READ,
  method: 'get',
  path: '/api/leagues/{id}/matches/{matchId}',
  operationId: 'getLeagueMatch',
  summary: 'The table of one match in a league',
  description: 'For its members: who has made what in the match. Members without a closed position there are left out.',
  request: { params: z.object({ id: LeagueIdInput, matchId: FixtureIdInput }) },
  responses: {
    200: json(z.object({ entries: z.array(LeagueMatchPlaceBody) }), 'The best first.'),
    ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
  },
})

const LIST_MAX = 100

interface Deps extends Pick<HttpDeps, 'corsOrigins' | 'world'> {
  readonly leagues: Pick<Leagues, 'list' | 'find' | 'table' | 'matchTable'>
}

export function leagueTables({ leagues, corsOrigins, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      const own = await leagues.list(c.var.caller.userId, LIST_MAX)
      return c.json({ leagues: own.map((league) => leagueJson(league, world.now(), corsOrigins)) }, 200)
    })
    .openapi({ ...one, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const { limit, cursor, offset } = c.req.valid('query')
      const league = await leagues.find(userId, c.req.valid('param').id)
      if (league === null) return fail(c, notFound('league'))
      const table = await leagues.table(league.id, userId, league.decidedAt !== null)
      const me = table.find((place) => place.userId === userId)
      // Left since.
      if (me === undefined) return fail(c, notFound('league'))
      const entry = (place: LeaguePlace) => placeJson(place, league, place === me)
      const from = (cursor?.[0] ?? 0) + offset
      const listed = table.filter((place) => place === me || !place.isOff) // C2, Y2, Y6
      const entries = listed.slice(from, from + limit).map(entry)
      const next = from + limit < listed.length ? cursors.write([from + limit]) : null
      const shown = leagueJson(league, world.now(), corsOrigins)
      return c.json({ league: shown, total: listed.length, entries, me: entry(me), nextCursor: next }, 200)
    })
    .openapi({ ...ofMatch, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const { id, matchId } = c.req.valid('param')
      if ((await leagues.find(userId, id)) === null) return fail(c, notFound('league'))
      const places = await leagues.matchTable(id, matchId, userId)
      const entries = places.map((place) => ({
        rank: place.rank,
        userId: place.userId,
        username: place.username,
        isMe: place.userId === userId,
        pnl: decimal(place.pnl),
        closed: place.closed,
      }))
      return c.json({ entries }, 200)
    })
}

const placeJson = (
  { rank, userId, username, value, openPositions }: LeaguePlace,
  { startingBalance }: OwnLeague,
  isMe: boolean,
): z.output<typeof LeaguePlaceBody> => ({
  rank,
  userId,
  username,
  isMe,
  value: decimal(value),
  gainPct: gainPct(value, startingBalance),
  openPositions,
})
