/** `POST /api/keys`, `GET /api/keys` and `DELETE /api/keys/:id`: personal keys for programs. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { sessionId } from '../../../../actors/kernel/ids.ts'
import { DAY_MS, type Instant, instant } from '../../../../actors/kernel/world.ts'
import type { PersonalKey } from '../../../auth/personal-keys.ts'
import { isAdminScope, SCOPES } from '../../../auth/scopes.ts'
import { ID_EXAMPLE, KeyBody, ScopeInput } from '../../account-schemas.ts'
import { answerWith, errors, fail, type HttpEnv, invalid, notFound, UNAUTHORIZED } from '../../answers.ts'
import { addressOf, addressPrefix } from '../../client-address.ts'
import { BODY, CHANGE, INPUT, SIGNED_IN } from '../../error-codes.ts'
import { BROWSER_SECURITY, type Gates, SIGN_IN_AGAIN } from '../../gates.ts'
import { fieldsBody, LineInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const DAYS = 90
const DAYS_MAX = 366
export const KeyIdInput = z.guid().toLowerCase().openapi({ format: 'uuid', example: ID_EXAMPLE }).transform(sessionId)

const NewKey = fieldsBody({
  name: LineInput.openapi({ description: 'To tell keys apart.', example: 'My bot' }),
  scopes: z
    .array(ScopeInput)
    .min(1)
    .max(SCOPES.length)
    .transform((held) => SCOPES.filter((scope) => held.includes(scope)))
    .openapi({
      description: '`trade` includes `read`, `admin:write` includes `admin:read`. The latter two are for admins.',
      example: ['trade'],
    }),
  expiresAt: z.iso
    .datetime({ offset: true })
    .optional()
    .openapi({
      description: `At most ${DAYS_MAX} days from now; ${DAYS} days if left out.`,
      example: '2026-07-01T00:00:00Z',
    }),
})

const create = createRoute({
  method: 'post',
  path: '/api/keys',
  tags: ['Session'],
  summary: 'Create a personal key for a program',
  description:
    'The answer is the only one that shows `secret`: send it as `Authorization: Bearer …`. A user has at most 10 keys. ' +
    'Requests with any of them share limits: orders use those of the user, all others one as high as that of an address. A ' +
    'key ends when it expires or is deleted, when the user signs out everywhere, and when their role is taken away. ' +
    'Writes an audit entry; the user gets a mail.',
  security: BROWSER_SECURITY,
  request: { body: NewKey },
  responses: {
    201: json(
      z.object({
        key: KeyBody,
        secret: z.string().openapi({
          description: '`tl_`, 34 random characters, and 6 that are a checksum of the rest.',
          example: 'tl_EXAMPLEexampleEXAMPLEexampleEXAMPLEexamp',
        }),
      }),
      'Created.',
    ),
    ...errors(...SIGNED_IN, ...BODY, 'FORBIDDEN', 'SIGN_IN_AGAIN', 'KEY_LIMIT'),
  },
})

const list = createRoute({
  method: 'get',
  path: '/api/keys',
  tags: ['Session'],
  summary: "The caller's personal keys",
  description: 'Valid ones, newest first; at most 10. Their secrets cannot be read again.',
  security: BROWSER_SECURITY,
  responses: { 200: json(z.object({ keys: z.array(KeyBody) }), 'The keys.'), ...errors(...SIGNED_IN) },
})

const deleteOne = createRoute({
  method: 'delete',
  path: '/api/keys/{id}',
  tags: ['Session'],
  summary: "Delete one of the caller's personal keys",
  description: 'It is refused at once, in every process, and its sockets are closed. Writes an audit entry.',
  security: BROWSER_SECURITY,
  request: { params: z.object({ id: KeyIdInput }) },
  responses: {
    200: json(z.object({ deleted: z.literal(true) }), 'Deleted.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

type Deps = Pick<HttpDeps, 'keys' | 'accounts' | 'world' | 'limits'>

export function personalKeys({ keys, accounts, world, limits }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      return c.json({ keys: (await keys.list(c.var.caller.userId)).map(keyJson) }, 200)
    })
    .openapi({ ...create, middleware: gates.signedIn }, async (c) => {
      const { userId, sid: by } = c.var.caller
      const { expiresAt: wanted, ...order } = c.req.valid('json')
      const expiresAt = expiryFrom(wanted, world.now())
      if (expiresAt === null) return fail(c, invalid('expiresAt', `must lie within ${DAYS_MAX} days from now`))
      if (order.scopes.some(isAdminScope) && (await accounts.find(userId))?.role !== 'admin') {
        return fail(c, answerWith('FORBIDDEN'))
      }
      if (order.scopes.some(isAdminScope) && !(await gates.isFresh(c.var.caller))) return fail(c, SIGN_IN_AGAIN)
      const from = addressPrefix(addressOf(c, limits.trustedProxies))
      const made = await keys.create({ ...order, user: userId, by, expiresAt, addressPrefix: from })
      if (made === 'signed_out') return fail(c, UNAUTHORIZED)
      if (made === null) return fail(c, answerWith('KEY_LIMIT'))
      return c.json({ key: keyJson(made.key), secret: made.secret }, 201)
    })
    .openapi({ ...deleteOne, middleware: gates.signedIn }, async (c) => {
      const isDeleted = await keys.delete(c.var.caller.userId, c.req.valid('param').id)
      return isDeleted ? c.json({ deleted: true as const }, 200) : fail(c, notFound('key'))
    })
}

/** Null if it lies in the past or too far ahead. */
function expiryFrom(wanted: string | undefined, now: Instant): Instant | null {
  if (wanted === undefined) return instant(now + DAYS * DAY_MS)
  const at = Date.parse(wanted)
  return at > now && at <= now + DAYS_MAX * DAY_MS ? instant(at) : null
}

export const keyJson = <Key extends PersonalKey>({ createdAt, expiresAt, lastUsedAt, ...key }: Key) => ({
  ...key,
  scopes: [...key.scopes],
  createdAt: timestamp(createdAt),
  expiresAt: timestamp(expiresAt),
  lastUsedAt: lastUsedAt === null ? null : timestamp(lastUsedAt),
})
