/** `POST /api/admin/tournaments`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { STARTING_BALANCE, TOURNAMENTS_MAX } from '../../../../actors/kernel/limits.ts'
import { money } from '../../../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../../../actors/kernel/world.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, BODY } from '../../error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { decimalInput, jsonBody, LineInput, timeInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { TournamentBody, tournamentJson } from '../../tournament-schema.ts'
import { strictBody } from '../../unknown-names.ts'

const DAYS_MAX = 90
const DAY_MS = 24 * HOUR_MS
/** For breaks of the replay: a busy server plays every frame late rather than leaving one out. */
const SLACK_MS = 2 * HOUR_MS

const schedule = createRoute({
  method: 'post',
  path: '/api/admin/tournaments',
  tags: ['Admin'],
  summary: 'Schedule a recorded match as a tournament',
  description:
    'The server starts it by itself, under names from a secret seed, and decides it when its match is settled. An ' +
    'operator who stops its replay ends it. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    body: jsonBody(
      strictBody({
        name: LineInput.openapi({ example: 'Friday Night Cup' }),
        recording: z.string().min(1).max(64).openapi({
          description: 'As in `GET /api/admin/gameplay-bot/fixtures`, or `match-<id>` of an ended match.',
          example: 'cup-night',
        }),
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
    ...errors(...ADMIN, ...BODY, 'NOT_FOUND', 'TOURNAMENT_LIMIT'),
  },
})

type Deps = Pick<HttpDeps, 'tournaments' | 'bot' | 'world'>

export function adminTournaments({ tournaments, bot, world }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...schedule, middleware: gates.admin }, async (c) => {
    const wanted = c.req.valid('json')
    const { startsAt, speed, recording } = wanted
    const now = world.now()
    if (startsAt <= now || startsAt > now + DAYS_MAX * DAY_MS) {
      const issue = { path: 'startsAt', message: `must be in the future, within ${DAYS_MAX} days` }
      return fail(c, answerWith('VALIDATION_FAILED', { facts: { issues: [issue] } }))
    }
    const lengthMs = await bot.lengthMs(recording)
    if (lengthMs === null) return fail(c, notFound('recording'))
    const endsAt = instant(Math.ceil(startsAt + lengthMs / speed) + SLACK_MS)
    const id = await tournaments.schedule({ ...wanted, endsAt }, c.var.caller.userId)
    if (id === null) return fail(c, answerWith('TOURNAMENT_LIMIT', { facts: { maxTournaments: TOURNAMENTS_MAX } }))
    const made = await tournaments.find(id)
    if (made === null) return fail(c, notFound('tournament'))
    return c.json(tournamentJson(made, { now, isEntered: false }), 201)
  })
}
