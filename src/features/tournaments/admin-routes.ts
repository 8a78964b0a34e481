/** `POST /api/admin/tournaments`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { present } from '../../../actors/kernel/assert.ts'
import { STARTING_BALANCE, TOURNAMENTS_MAX } from '../../../actors/kernel/limits.ts'
import { money } from '../../../actors/kernel/micros.ts'
import { HOUR_MS, type Instant, instant, MINUTE_MS } from '../../../actors/kernel/world.ts'
import { answerWith, fail, type HttpEnv } from '../../http/answers.ts'
import { ADMIN, BODY } from '../../http/error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../http/gates.ts'
import { decimalInput, jsonBody, LineInput, timeInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { tournamentErrors } from './errors.ts'
import type { TournamentPorts } from './routes.ts'
import { TournamentBody, tournamentJson } from './schema.ts'
import { strictBody } from '../../http/unknown-names.ts'

const DAYS_MAX = 90
const DAY_MS = 24 * HOUR_MS
/** No match is longer. How long this one is must not be known beforehand. */
const MATCH_MAX_MS = 2 * HOUR_MS
/** For breaks: a busy server plays every update late rather than leaving one out. */
const SLACK_MS = 2 * HOUR_MS

const schedule = createRoute({
  method: 'post',
  path: '/api/admin/tournaments',
  operationId: 'scheduleTournament',
  tags: ['Admin'],
  summary: 'Schedule a tournament',
  description:
    'The server makes its match from a secret seed, starts it, and decides the tournament when the match is settled. ' +
    'An operator who stops its replay ends it. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    body: jsonBody(
      strictBody({
        name: LineInput.openapi({ example: 'Friday Night Cup' }),
        startsAt: timeInput.openapi({ description: `In the future, within ${DAYS_MAX} days.` }),
        speed: z.number().min(1).max(120).default(10).openapi({ description: 'Times real time.' }),
        startingBalance: decimalInput(money, z.number().min(100).max(1_000_000))
          .default(STARTING_BALANCE)
          .openapi({ description: 'Units.', example: 10_000 }),
      }),
    ),
  },
  responses: {
    201: json(TournamentBody, 'Scheduled.'),
    ...tournamentErrors.responses(...ADMIN, ...BODY, 'TOURNAMENT_LIMIT'),
  },
})

/** The same for every match, on a whole minute. */
const endOf = (startsAt: Instant, speed: number): Instant =>
  instant(Math.ceil((startsAt + MATCH_MAX_MS / speed + SLACK_MS) / MINUTE_MS) * MINUTE_MS)

type Deps = TournamentPorts & Pick<HttpDeps, 'world'>

export function adminTournaments({ tournaments, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...schedule, middleware: gates.admin }, async (c) => {
    const wanted = c.req.valid('json')
    const { startsAt, speed } = wanted
    const now = world.now()
    if (startsAt <= now || startsAt > now + DAYS_MAX * DAY_MS) {
      const issue = { path: 'startsAt', message: `must be in the future, within ${DAYS_MAX} days` }
      return fail(c, answerWith('VALIDATION_FAILED', { facts: { issues: [issue] } }))
    }
    const terms = { ...wanted, endsAt: endOf(startsAt, speed) }
    const id = await tournaments.schedule(terms, c.var.caller.userId)
    if (id === null)
      return fail(c, tournamentErrors.answer('TOURNAMENT_LIMIT', { facts: { maxTournaments: TOURNAMENTS_MAX } }))
    const made = present((await tournaments.find(id)) ?? undefined, 'tournament')
    return c.json(tournamentJson(made, { now, isEntered: false }), 201)
  })
}
