/** The gameplay bot (specification 4.5): replays that operators start, watch and stop. All behind the admin gate. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../actors/kernel/assert.ts'
import type { ReplayReport } from '../../replays/gameplay-bot.ts'
import { answerWith, errors, fail, notFound } from '../answers.ts'
import { ADMIN, BODY } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json, timestampText } from '../schemas.ts'

const DEFAULT_TRADERS = 20

const ReplayBody = z
  .object({
    id: z.uuid(),
    fixtureId: z.string().openapi({ description: 'The bundled fixture.', example: 'goal-feast' }),
    matchId: z.int().openapi({ description: 'The match it plays into; above 4,000,000,000, like no real one.' }),
    minute: z.int().nullable(),
    progress: z.number().nullable().openapi({ description: 'How much of the recording has been played, 0 to 1.' }),
    speed: z.number(),
    traders: z.int(),
    state: z.enum(['playing', 'stopping']),
    demo: z.boolean().openapi({ description: 'The match that is always on, not one that an operator started.' }),
    startedAt: timestampText,
  })
  .openapi('Replay')

const StatusBody = z.object({ replays: z.array(ReplayBody) })

const fixtures = createRoute({
  method: 'get',
  path: '/api/admin/gameplay-bot/fixtures',
  tags: ['Admin'],
  summary: 'The bundled fixtures that can be replayed',
  description: 'What `POST /api/admin/gameplay-bot/start` takes.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(
      z.object({
        fixtures: z.array(
          z.object({ id: z.string(), name: z.string(), title: z.string(), minutes: z.int(), players: z.int() }),
        ),
      }),
      'All of them.',
    ),
    ...errors(...ADMIN),
  },
})

const status = createRoute({
  method: 'get',
  path: '/api/admin/gameplay-bot/status',
  tags: ['Admin'],
  summary: 'The replays that play, in whichever process',
  description: 'The demo match stands among them, marked as such.',
  security: ACCESS_SECURITY,
  responses: { 200: json(StatusBody, 'As last committed.'), ...errors(...ADMIN) },
})

const start = createRoute({
  method: 'post',
  path: '/api/admin/gameplay-bot/start',
  tags: ['Admin'],
  summary: 'Start a replay',
  description:
    'Plays a bundled fixture from its kick-off into a match of its own, with players of its own. Several may play at once, of ' +
    'one fixture too. It goes on after a restart.',
  security: ACCESS_SECURITY,
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z.object({
            fixtureId: z.string().min(1).max(64).openapi({ example: 'goal-feast' }),
            speed: z.number().min(1).max(120).default(1).openapi({ description: 'Times faster than life.' }),
            traders: z.int().min(0).max(500).default(DEFAULT_TRADERS).openapi({ description: 'Simulated traders.' }),
          }),
        },
      },
    },
  },
  responses: {
    200: json(StatusBody.extend({ started: z.uuid() }), 'It plays within a second.'),
    ...errors(...ADMIN, ...BODY, 'NOT_FOUND', 'REPLAY_LIMIT'),
  },
})

const stop = createRoute({
  method: 'post',
  path: '/api/admin/gameplay-bot/stop',
  tags: ['Admin'],
  summary: 'Stop a replay, or all of them',
  description:
    'Ends the match: open positions are settled at the standing prices, or void with `outcome: "void"`, which gives every ' +
    'margin back. The replay leaves the status once that is done.',
  security: ACCESS_SECURITY,
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z.object({
            id: z.uuid().optional().openapi({ description: 'All of them when left out.' }),
            outcome: z.enum(['settle', 'void']).default('settle'),
          }),
        },
      },
    },
  },
  responses: {
    200: json(StatusBody.extend({ stopped: z.array(z.uuid()) }), 'They are ending.'),
    ...errors(...ADMIN, ...BODY, 'NOT_FOUND'),
  },
})

const full = (max: number) => answerWith('REPLAY_LIMIT', { facts: { max } })

export function gameplayBotRoutes({ bot }: HttpDeps, gates: Gates) {
  const replays = async () => (await bot.status()).map(replayJson)

  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...fixtures, middleware: gates.admin }, async (c) =>
      c.json({ fixtures: [...(await bot.fixtures())] }, 200),
    )
    .openapi({ ...status, middleware: gates.admin }, async (c) => c.json({ replays: await replays() }, 200))
    .openapi({ ...start, middleware: gates.admin }, async (c) => {
      const outcome = await bot.start({ ...c.req.valid('json'), by: c.var.caller.userId })
      switch (outcome.kind) {
        case 'started':
          return c.json({ started: outcome.id, replays: await replays() }, 200)
        case 'unknown':
          return fail(c, notFound('fixture'))
        case 'full':
          return fail(c, full(outcome.max))
        default:
          return unreachable(outcome)
      }
    })
    .openapi({ ...stop, middleware: gates.admin }, async (c) => {
      const { id = null, outcome } = c.req.valid('json')
      const ending = outcome === 'void' ? 'void' : 'full_time'
      const stopped = await bot.stop({ id, ending, by: c.var.caller.userId })
      if (id !== null && stopped.length === 0) return fail(c, notFound('replay'))
      return c.json({ stopped: [...stopped], replays: await replays() }, 200)
    })
}

const replayJson = ({ startedAt, ...replay }: ReplayReport): z.output<typeof ReplayBody> => ({
  ...replay,
  startedAt: timestamp(startedAt),
})
