/** `POST /api/admin/tournaments`, `PATCH /api/admin/tournaments/{id}`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { present } from '../../../actors/kernel/assert.ts'
import type { LeagueId, UserId } from '../../../actors/kernel/ids.ts'
import { STARTING_BALANCE, TOURNAMENTS_MAX } from '../../../actors/kernel/limits.ts'
import { decimal, money } from '../../../actors/kernel/micros.ts'
import { DAY_MS, HOUR_MS, type Instant, instant, MINUTE_MS } from '../../../actors/kernel/world.ts'
import { fail, type HttpEnv, invalid, notFound } from '../../http/answers.ts'
import { ADMIN, BODY } from '../../http/error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../http/gates.ts'
import { auditReason, decimalInput, fieldsBody, LeagueIdInput, LineInput, timeInput } from '../../http/inputs.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'
import { tournamentErrors } from './errors.ts'
import type { TournamentPorts } from './routes.ts'
import { TournamentBody, tournamentJson } from './schema.ts'

const DAYS_MAX = 90
/** No match is longer. How long this one is must not be known beforehand. */
const MATCH_MAX_MS = 2 * HOUR_MS
/** For breaks: a busy server plays every update late rather than leaving one out. */
const SLACK_MS = 2 * HOUR_MS

const nameInput = LineInput.openapi({ example: 'Friday Night Cup' })
const startInput = timeInput.openapi({ description: `In the future, within ${DAYS_MAX} days.` })
const speedInput = z.number().min(1).max(120).openapi({ description: '1 is real time.' })

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
    body: fieldsBody({
      name: nameInput,
      startsAt: startInput,
      speed: speedInput.default(10),
      startingBalance: decimalInput(money, z.number().min(100).max(1_000_000))
        .prefault(decimal(STARTING_BALANCE))
        .openapi({ description: 'Units.', example: 10_000 }),
    }),
  },
  responses: {
    201: json(TournamentBody, 'Scheduled.'),
    ...tournamentErrors.responses(...ADMIN, ...BODY, 'TOURNAMENT_LIMIT'),
  },
})

const change = createRoute({
  method: 'patch',
  path: '/api/admin/tournaments/{id}',
  operationId: 'changeTournament',
  tags: ['Admin'],
  summary: 'Change or cancel a tournament that has not begun',
  description:
    'What is left out stays. `state: "cancelled"` takes it back for ever, whatever else is sent. Users who have entered ' +
    'are told when it is cancelled or begins at another time. An entry costs nothing, so nothing is paid back; the ' +
    'purse of the tournament stays theirs, and nothing can be traded with it. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    params: z.object({ id: LeagueIdInput }),
    body: fieldsBody({
      state: z.literal('cancelled').optional().openapi({ description: 'Left out: it is still played.' }),
      name: nameInput.optional(),
      startsAt: startInput.optional(),
      speed: speedInput.optional(),
      reason: auditReason,
    }),
  },
  responses: {
    200: json(TournamentBody, 'Changed.'),
    ...tournamentErrors.responses(...ADMIN, ...BODY, 'NOT_FOUND', 'TOURNAMENT_BEGUN'),
  },
})

/** The same for every match, on a whole minute. */
const endOf = (startsAt: Instant, speed: number): Instant =>
  instant(Math.ceil((startsAt + MATCH_MAX_MS / speed + SLACK_MS) / MINUTE_MS) * MINUTE_MS)

type Deps = TournamentPorts & Pick<HttpDeps, 'world'>

export function adminTournaments({ tournaments, world }: Deps, gates: Gates) {
  const isFar = (at: Instant): boolean => at <= world.now() || at > world.now() + DAYS_MAX * DAY_MS
  const tooFar = invalid('startsAt', `must be in the future, within ${DAYS_MAX} days`)
  const shown = async (id: LeagueId, by: UserId) => {
    const found = present((await tournaments.find(id)) ?? undefined, 'tournament')
    return tournamentJson(found, { now: world.now(), isEntered: (await tournaments.entered(by, [id])).has(id) })
  }
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...schedule, middleware: [gates.admin, gates.audited('tournament.schedule')] as const }, async (c) => {
      const wanted = c.req.valid('json')
      const by = c.var.caller.userId
      if (isFar(wanted.startsAt)) return fail(c, tooFar)
      const id = await tournaments.schedule({ ...wanted, endsAt: endOf(wanted.startsAt, wanted.speed) }, by)
      if (id === null)
        return fail(c, tournamentErrors.answer('TOURNAMENT_LIMIT', { facts: { maxTournaments: TOURNAMENTS_MAX } }))
      return c.json(await shown(id, by), 201)
    })
    .openapi({ ...change, middleware: [gates.admin, gates.audited('tournament.change')] as const }, async (c) => {
      const { id } = c.req.valid('param')
      const { state, reason, ...wanted } = c.req.valid('json')
      const by = c.var.caller.userId
      if (wanted.startsAt !== undefined && isFar(wanted.startsAt)) return fail(c, tooFar)
      const set = { kind: 'set', terms: wanted, endOf } as const
      const made = await tournaments.change(id, state === 'cancelled' ? { kind: 'cancel' } : set, { by, reason })
      if (made === 'unknown') return fail(c, notFound('tournament'))
      if (made === 'begun') return fail(c, tournamentErrors.answer('TOURNAMENT_BEGUN'))
      return c.json(await shown(id, by), 200)
    })
}
