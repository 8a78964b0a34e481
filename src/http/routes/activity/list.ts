/** `GET /api/activity`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { districtId } from '../../../../actors/kernel/ids.ts'
import type { Activity } from '../../../../db/activity.ts'
import { ActivityEventBody } from '../../account-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { limitInput, wholeInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const cursors = cursorsOf('activity', z.tuple([z.int().min(1)]), [907])

const ActivityBody = z
  .object({ count: z.int().openapi({ example: 1 }), events: z.array(ActivityEventBody), nextCursor })
  .openapi('Activity')

const route = createRoute({
  method: 'get',
  path: '/api/activity',
  tags: ['Activity'],
  summary: 'Notable events of all users, the last added first',
  description:
    'Big wins, washouts, badges, spinner winners and large trades of the former share model. Events appear shortly ' +
    'after they happen.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      scope: z.enum(['global', 'district']).default('global'),
      districtId: wholeInput(1, 999_999_999).optional().openapi({
        description: "For scope `district`; the caller's own district if left out.",
        example: 1,
      }),
      limit: limitInput(50),
      cursor: cursors.input,
    }),
  },
  responses: {
    200: json(ActivityBody, '`count` is the number of `events`.'),
    ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND'),
  },
})

export function listActivity({ community, accounts }: Pick<HttpDeps, 'community' | 'accounts'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const query = c.req.valid('query')
    const own = query.scope === 'district' ? (await accounts.find(c.var.caller.userId))?.districtId : undefined
    const wanted = query.districtId === undefined ? own : districtId(query.districtId)
    const district = query.scope === 'district' ? (wanted ?? null) : null
    if (district !== null && !(await accounts.districts()).some(({ id }) => id === district)) {
      return fail(c, notFound('district'))
    }
    const found = await community.activity.list(query.limit + 1, district, query.cursor?.[0])
    const page = cursors.page(found, query.limit, ({ id }) => [id])
    const events = page.rows.map(eventJson)
    return c.json({ count: events.length, events, nextCursor: page.nextCursor }, 200)
  })
}

const eventJson = (event: Activity): z.output<typeof ActivityEventBody> => ({
  id: String(event.id),
  type: event.type,
  userId: event.userId,
  username: event.username,
  districtId: Number(event.districtId),
  text: event.text,
  data: { ...event.data },
  at: timestamp(event.at),
})
