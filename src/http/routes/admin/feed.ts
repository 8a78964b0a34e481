/** `GET /api/admin/feed` and `GET /api/admin/matches/{id}/positions`: what is left to an operator. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type PositionId, positionId } from '../../../../actors/kernel/ids.ts'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { FedMatchBody, FeedFaultBody, QuarantinedMatchBody } from '../../admin-schemas.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { ADMIN, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import { FixtureIdInput, limitInput } from '../../inputs.ts'
import { positionJson, timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, PositionBody, userIdText, usernameText } from '../../schemas.ts'

const feedRoute = createRoute({
  method: 'get',
  path: '/api/admin/feed',
  tags: ['Admin'],
  summary: 'Faults of the live feed, and matches that cannot be read',
  description:
    'The faults of the last seven days by reason and fixture, newest first, at most 100; live matches that are not ' +
    'settled, by kick-off, at most 50; and unsettled matches whose stored state cannot be read. Such a match takes ' +
    'neither orders nor updates: `POST /api/admin/matches/{id}/end` settles it at its last prices or voids it.',
  security: ADMIN_READ_SECURITY,
  responses: {
    200: json(
      z.object({
        faults: z.array(FeedFaultBody),
        matches: z.array(FedMatchBody),
        quarantined: z.array(QuarantinedMatchBody),
      }),
      'From every process.',
    ),
    ...errors(...ADMIN),
  },
})

const AN_ID = positionId('0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968')
const cursors = cursorsOf<readonly [PositionId]>(
  'open-positions',
  z.tuple([z.guid().transform(positionId)]).readonly(),
  [AN_ID],
)

const positionsRoute = createRoute({
  method: 'get',
  path: '/api/admin/matches/{id}/positions',
  tags: ['Admin'],
  summary: 'The open positions of a match',
  description: 'Of all users, by id. An unknown match has none.',
  security: ADMIN_READ_SECURITY,
  request: {
    params: z.object({ id: FixtureIdInput }),
    query: z.object({ limit: limitInput(50), cursor: cursors.input }),
  },
  responses: {
    200: json(
      z.object({
        positions: z.array(
          z.object({
            position: PositionBody,
            playerName: z.string().openapi({ example: 'Ada Lovell' }),
            userId: userIdText,
            username: usernameText.nullable(),
          }),
        ),
        nextCursor,
      }),
      'As last committed.',
    ),
    ...errors(...ADMIN, ...INPUT),
  },
})

export function adminFeed({ faults, quarantine }: Pick<HttpDeps, 'faults' | 'quarantine'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...feedRoute, middleware: gates.admin }, async (c) => {
      const [recent, fed, unread] = await Promise.all([faults.recent(), faults.matches(), quarantine.matches()])
      return c.json(
        {
          faults: recent.map((one) => ({ ...one, firstAt: timestamp(one.firstAt), lastAt: timestamp(one.lastAt) })),
          matches: fed.map((one) => ({
            ...one,
            startsAt: timestamp(one.startsAt),
            updatedAt: one.updatedAt === null ? null : timestamp(one.updatedAt),
          })),
          quarantined: unread.map((one) => ({ ...one, since: timestamp(one.since), margin: decimal(one.margin) })),
        },
        200,
      )
    })
    .openapi({ ...positionsRoute, middleware: gates.admin }, async (c) => {
      const { limit, cursor } = c.req.valid('query')
      const found = await quarantine.openPositions(c.req.valid('param').id, {
        limit: limit + 1,
        after: cursor?.[0] ?? null,
      })
      const page = cursors.page(found, limit, ({ held }) => [held.position.id])
      const positions = page.rows.map(({ held, playerName, username }) => ({
        position: positionJson(held),
        playerName,
        userId: held.position.userId,
        username,
      }))
      return c.json({ positions, nextCursor: page.nextCursor }, 200)
    })
}
