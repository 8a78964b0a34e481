/** `GET /api/seasons`, `GET /api/seasons/current`, `POST /api/seasons/enter`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { LeagueId, UserId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { CHANGE, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, TRADE_SECURITY, type Gates } from '../../http/gates.ts'
import { timestamp } from '../../http/json.ts'
import { LeagueBody, leagueJson } from '../leagues/schema.ts'
import type { Leagues } from '../leagues/store.ts'
import { seasonErrors } from './errors.ts'
import { PastSeasonBody, SeasonBody } from './schema.ts'
import type { Seasons } from './store.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'

const current = createRoute({
  method: 'get',
  path: '/api/seasons/current',
  operationId: 'getSeason',
  tags: ['Leagues'],
  summary: 'The season of this month',
  description:
    'A season is a league that the server runs for all users, from the first of a month to the next in UTC, over every ' +
    'match of the main game. It has five divisions of groups of at most 50. The best fifth of a group that has ' +
    'gained something goes up, the last fifth goes down. `mine` is null before the caller has entered. Its table is ' +
    '`GET /api/leagues/{id}`, and its purse the id.',
  security: READ_SECURITY,
  responses: { 200: json(SeasonBody, 'As of now.'), ...errors(...SIGNED_IN) },
})

const enter = createRoute({
  method: 'post',
  path: '/api/seasons/enter',
  operationId: 'enterSeason',
  tags: ['Leagues'],
  summary: 'Enter the season of this month',
  description:
    'Makes the caller a member of a group, with a wallet of 10,000 units: in the division that their previous season ' +
    'led to, else in the lowest. A user who has traded in a season is entered in the next when that is decided. ' +
    'A repetition changes nothing.',
  security: TRADE_SECURITY,
  responses: {
    200: json(LeagueBody, 'The caller plays in it.'),
    ...seasonErrors.responses(...SIGNED_IN, ...CHANGE, 'NOT_FOUND', 'SEASON_UNDECIDED'),
  },
})

const past = createRoute({
  method: 'get',
  path: '/api/seasons',
  operationId: 'listPastSeasons',
  tags: ['Leagues'],
  summary: 'The seasons that the caller has finished',
  description: 'Newest first; at most 24.',
  security: READ_SECURITY,
  responses: { 200: json(z.object({ seasons: z.array(PastSeasonBody) }), 'Final tables.'), ...errors(...SIGNED_IN) },
})

const PAST_MAX = 24
/** About as long as it takes to decide a group that has come to rest. */
const DECIDED_IN_SECS = 60

export interface SeasonPorts {
  readonly seasons: Pick<Seasons, 'current' | 'entry' | 'enter' | 'past'>
  readonly leagues: Pick<Leagues, 'find'>
}

export function seasonRoutes(
  { seasons, leagues, corsOrigins, world }: SeasonPorts & Pick<HttpDeps, 'corsOrigins' | 'world'>,
  gates: Gates,
) {
  const leagueOf = async (user: UserId, id: LeagueId | null) => {
    const league = id === null ? null : await leagues.find(user, id)
    return league === null ? null : leagueJson(league, world.now(), corsOrigins)
  }
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...current, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const { id, name, startsAt, endsAt } = seasons.current()
      const mine = await leagueOf(userId, await seasons.entry(userId))
      return c.json({ id, name, startsAt: timestamp(startsAt), endsAt: timestamp(endsAt), mine }, 200)
    })
    .openapi({ ...enter, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const entered = await seasons.enter(userId)
      if (entered.kind === 'undecided') {
        return fail(c, seasonErrors.answer('SEASON_UNDECIDED', { retryAfterSecs: DECIDED_IN_SECS }))
      }
      const league = await leagueOf(userId, entered.league)
      return league === null ? fail(c, notFound('league')) : c.json(league, 200)
    })
    .openapi({ ...past, middleware: gates.signedIn }, async (c) => {
      const found = await seasons.past(c.var.caller.userId, PAST_MAX)
      const entries = found.map(({ league, value, season, ...place }) => {
        return { ...place, season: { ...season }, leagueId: league, value: decimal(value) }
      })
      return c.json({ seasons: entries }, 200)
    })
}
