/** `GET /api/tournaments`, `POST /api/tournaments/{id}/enter`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { ENTRANTS_MAX } from '../../../actors/kernel/limits.ts'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { CHANGE, INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, TRADE_SECURITY, type Gates } from '../../http/gates.ts'
import { LeagueIdInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { tournamentErrors } from './errors.ts'
import type { Tournaments } from './store.ts'
import { TournamentBody, tournamentJson } from './schema.ts'

const list = createRoute({
  method: 'get',
  path: '/api/tournaments',
  operationId: 'listTournaments',
  tags: ['Leagues'],
  summary: 'Tournaments: matches from secret seeds, played once',
  description:
    'Upcoming ones and those in play, the next first, then those that ended last; at most 50. All users start with the ' +
    'same balance. The match is made from a secret seed and plays once, every update of it. `commitment` is published ' +
    'before, `seed` afterwards. The table is `GET /api/leagues/{id}`.',
  security: READ_SECURITY,
  responses: {
    200: json(z.object({ tournaments: z.array(TournamentBody) }), 'As of now.'),
    ...errors(...SIGNED_IN),
  },
})

const enter = createRoute({
  method: 'post',
  path: '/api/tournaments/{id}/enter',
  operationId: 'enterTournament',
  tags: ['Leagues'],
  summary: 'Enter a tournament',
  description:
    'Gives the caller a wallet in its purse, which has its id. Possible until it ends. A repetition changes nothing.',
  security: TRADE_SECURITY,
  request: { params: z.object({ id: LeagueIdInput }) },
  responses: {
    200: json(TournamentBody, 'The caller takes part.'),
    ...tournamentErrors.responses(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND', 'LEAGUE_FULL', 'LEAGUE_OVER'),
  },
})

const LIST_MAX = 50

export interface TournamentPorts {
  readonly tournaments: Pick<Tournaments, 'schedule' | 'change' | 'list' | 'find' | 'entered' | 'enter'>
}

export function tournamentRoutes({ tournaments, world }: TournamentPorts & Pick<HttpDeps, 'world'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      const found = await tournaments.list(LIST_MAX)
      const ids = found.map(({ id }) => id)
      const entered = await tournaments.entered(c.var.caller.userId, ids)
      const now = world.now()
      const bodies = found.map((one) => tournamentJson(one, { now, isEntered: entered.has(one.id) }))
      return c.json({ tournaments: bodies }, 200)
    })
    .openapi({ ...enter, middleware: gates.signedIn }, async (c) => {
      const { id } = c.req.valid('param')
      const { kind } = await tournaments.enter(c.var.caller.userId, id)
      if (kind === 'full')
        return fail(c, tournamentErrors.answer('LEAGUE_FULL', { facts: { maxMembers: ENTRANTS_MAX } }))
      if (kind === 'over') return fail(c, tournamentErrors.answer('LEAGUE_OVER'))
      const found = kind === 'unknown' ? null : await tournaments.find(id)
      if (found === null) return fail(c, notFound('tournament'))
      return c.json(tournamentJson(found, { now: world.now(), isEntered: true }), 200)
    })
}
