/** `/api/admin/gameplay-bot`: replays that operators start, watch and stop (specification 4.5). */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../../actors/kernel/assert.ts'
import type { ReplayReport } from '../../../replays/gameplay-bot.ts'
import { DEFAULT_TRADERS, FixtureBody, ReplayBody, replayId } from '../../admin-schemas.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, BODY, FRESH_ADMIN } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates, SIGN_IN_AGAIN } from '../../gates.ts'
import { auditReason, bodyMayBeEmpty, fieldsBody, optionalBody } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { strictBody } from '../../unknown-names.ts'

const StatusBody = z.object({
  replays: z.array(ReplayBody),
  mainPurseIsLive: z.boolean().openapi({
    description:
      'True in a production with live matches. There a replay that is not practice pays money of live matches to users ' +
      'who know its outcome.',
    example: false,
  }),
})

const fixtures = createRoute({
  method: 'get',
  path: '/api/admin/gameplay-bot/fixtures',
  tags: ['Admin'],
  summary: 'The recordings that can be replayed',
  description:
    'The bundled ones and those that operators have added. The `id` of each is the `fixtureId` of ' +
    '`POST /api/admin/gameplay-bot/start`, which plays every ended match too, as `match-<id>`.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(z.object({ fixtures: z.array(FixtureBody) }), 'All recordings.'), ...errors(...ADMIN) },
})

const status = createRoute({
  method: 'get',
  path: '/api/admin/gameplay-bot/status',
  tags: ['Admin'],
  summary: 'The running replays of all processes',
  description: 'Includes the demo match, with `demo: true`.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(StatusBody, 'As last committed.'), ...errors(...ADMIN) },
})

const start = createRoute({
  method: 'post',
  path: '/api/admin/gameplay-bot/start',
  tags: ['Admin'],
  summary: 'Start a replay',
  description:
    'Plays a recording from kick-off into a new match with new players. Several may run at once, also of the same ' +
    'recording. A replay continues after a restart. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    body: fieldsBody({
      fixtureId: z.string().min(1).max(64).openapi({ example: 'goal-feast' }),
      speed: z.number().min(1).max(120).default(1).openapi({ description: '1 is real time.' }),
      traders: z.int().min(0).max(500).default(DEFAULT_TRADERS).openapi({ description: 'Simulated traders.' }),
      lossless: z
        .boolean()
        .default(false)
        .openapi({
          description:
            'Plays every frame, late if need be, and starts players at the prices of the recording: every such run has ' +
            'the same base prices to the micro, under any load. Otherwise a replay that is held up skips frames.',
        }),
      practice: z
        .boolean()
        .optional()
        .openapi({
          description:
            'Whether it is traded with practice money: a purse and boards of its own, and no XP, badge, referral, draw or ' +
            'activity. Left out: as the setting `replays.practice` says, by default false.',
          example: false,
        }),
      reason: auditReason,
    }),
  },
  responses: {
    200: json(StatusBody.extend({ started: replayId }), 'It plays within a second.'),
    ...errors(...ADMIN, ...BODY, 'NOT_FOUND', 'REPLAY_LIMIT'),
  },
})

const stop = createRoute({
  method: 'post',
  path: '/api/admin/gameplay-bot/stop',
  tags: ['Admin'],
  summary: 'Stop one replay, or all',
  description:
    'Ends the match, which cannot be undone: open positions are settled at the current prices; with `outcome: "void"` ' +
    'every margin is given back instead, which needs a fresh sign-in. A replay that already ends the other way keeps to ' +
    'it: alone it answers 409, and of all it is not in `stopped`. The replay leaves the status when its match is ' +
    'settled. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    body: optionalBody(
      strictBody({
        id: replayId.optional().openapi({ description: 'All replays if left out.' }),
        outcome: z.enum(['settle', 'void']).default('settle'),
        reason: auditReason,
      }),
    ),
  },
  responses: {
    200: json(StatusBody.extend({ stopped: z.array(replayId) }), 'Settlement has begun.'),
    ...errors(...FRESH_ADMIN, ...BODY, 'NOT_FOUND', 'MATCH_OVER'),
  },
})

export function gameplayBot({ bot }: Pick<HttpDeps, 'bot'>, gates: Gates) {
  const running = async () => ({
    replays: (await bot.status()).map(replayJson),
    mainPurseIsLive: bot.mainPurseIsLive,
  })

  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...fixtures, middleware: gates.admin }, async (c) =>
      c.json({ fixtures: [...(await bot.fixtures())] }, 200),
    )
    .openapi({ ...status, middleware: gates.admin }, async (c) => c.json(await running(), 200))
    .openapi({ ...start, middleware: [gates.admin, gates.audited('replay.start')] as const }, async (c) => {
      const outcome = await bot.start({ ...c.req.valid('json'), by: c.var.caller.userId })
      switch (outcome.kind) {
        case 'started':
          return c.json({ started: outcome.id, ...(await running()) }, 200)
        case 'unknown':
          return fail(c, notFound('fixture'))
        case 'full':
          return fail(c, answerWith('REPLAY_LIMIT', { facts: { max: outcome.max } }))
        default:
          return unreachable(outcome)
      }
    })
    .openapi({ ...stop, middleware: [gates.admin, bodyMayBeEmpty] as const }, async (c) => {
      // The gate asks again after JSON alone. A body that turned out empty may have been held back without a type.
      if (!(await gates.isStillAdmin(c.var.caller))) return fail(c, answerWith('FORBIDDEN'))
      const { id = null, outcome, reason } = c.req.valid('json')
      // The specification lets every admin stop a replay; voiding it is an extension.
      if (outcome === 'void' && !(await gates.isFresh(c.var.caller))) return fail(c, SIGN_IN_AGAIN)
      const ending = outcome === 'void' ? 'void' : 'full_time'
      const stopped = await bot.stop({ id, ending, by: c.var.caller.userId, reason })
      if (stopped === 'over') return fail(c, answerWith('MATCH_OVER'))
      if (id !== null && stopped.length === 0) return fail(c, notFound('replay'))
      return c.json({ stopped: [...stopped], ...(await running()) }, 200)
    })
}

const replayJson = ({ startedAt, ...replay }: ReplayReport): z.output<typeof ReplayBody> => ({
  ...replay,
  startedAt: timestamp(startedAt),
})
