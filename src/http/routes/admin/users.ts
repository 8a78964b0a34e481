/** `/api/admin/users`: users, listed, searched, exported, and given roles. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../../actors/kernel/assert.ts'
import { userId } from '../../../../actors/kernel/ids.ts'
import { decimal } from '../../../../actors/kernel/micros.ts'
import type { ListedUser } from '../../../../db/user-list.ts'
import { MINUTE_MS } from '../../../../actors/kernel/world.ts'
import { ListedUserBody, userStatus } from '../../admin-schemas.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { type CsvField, csvRecord } from '../../csv.ts'
import { Downloads } from '../../downloads.ts'
import { ADMIN, BODY, FRESH_ADMIN, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { auditReason, fieldsBody, limitInput, offsetInput, reasonInput, UserIdInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const cursors = cursorsOf('users', z.tuple([z.uuid()]), ['0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f'])

const UserListBody = z
  .object({
    users: z.array(ListedUserBody),
    total: z.int().openapi({ description: 'Matching users on all pages.', example: 12_930 }),
    nextCursor,
  })
  .openapi('UserList')

const list = createRoute({
  method: 'get',
  path: '/api/admin/users',
  tags: ['Admin'],
  summary: 'All users, newest first',
  description: '`search` matches any part of username, e-mail or name, or a whole user id.',
  security: ADMIN_READ_SECURITY,
  request: {
    query: z.object({
      search: z
        .string()
        .max(100)
        .refine((text) => !text.includes('\u0000'), 'must not contain control characters')
        .default('')
        .openapi({ description: 'Case is ignored.' }),
      limit: limitInput(50),
      cursor: cursors.input,
      offset: offsetInput(10_000_000),
    }),
  },
  responses: {
    200: json(UserListBody, 'One page.'),
    ...errors(...ADMIN, ...INPUT),
  },
})

const CSV_EXAMPLE = 'userId,username\r\n0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f,ada_l\r\n'

const exportCsv = createRoute({
  method: 'get',
  path: '/api/admin/users/export.csv',
  tags: ['Admin'],
  summary: 'All users as CSV',
  description:
    'RFC 4180 in UTF-8, oldest first, streamed. A text that a spreadsheet would run as a formula is prefixed with an ' +
    'apostrophe. If a fault ends the download early, its last line may be cut. Writes an audit entry.',
  security: ADMIN_READ_SECURITY,
  responses: {
    200: {
      description: 'Every user.',
      content: { 'text/csv': { schema: z.string().openapi({ example: CSV_EXAMPLE }) } },
    },
    ...errors(...ADMIN, 'BUSY'),
  },
})

const RETRY_AFTER_SECS = 5

const setRole = createRoute({
  method: 'put',
  path: '/api/admin/users/{id}/role',
  tags: ['Admin'],
  summary: 'Set the role of a user',
  description:
    'Removing the role `admin` takes effect at once, and ends the sessions of the user. Granting it takes effect with the next access token, within one ' +
    'token lifetime. A user whose e-mail is in `ADMIN_EMAILS` becomes an admin again at their next sign-in. Writes ' +
    'an audit entry.',
  security: BROWSER_SECURITY,
  request: {
    params: z.object({ id: UserIdInput }),
    body: fieldsBody({
      role: z.enum(['admin', 'user']).openapi({ example: 'user' }),
      reason: auditReason,
    }),
  },
  responses: {
    200: json(ListedUserBody, 'The user with the new role.'),
    ...errors(...FRESH_ADMIN, ...BODY, 'NOT_FOUND', 'OWN_ROLE'),
  },
})

const setStatus = createRoute({
  method: 'put',
  path: '/api/admin/users/{id}/status',
  tags: ['Admin'],
  summary: 'Freeze a user, or make them active again',
  description:
    'A frozen user reads and may close positions, and opens none: `ACCOUNT_FROZEN`. They are on no board and in no ' +
    'activity, win no draw, and earn no referral reward, nor does the user who invited them. Freezing ends their ' +
    'sessions and keys, and closes their sockets within a second; they may sign in again. An order that is not ' +
    'committed when this returns is refused. `active` puts the user back on the boards. Writes an audit entry with ' +
    'the reason.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    params: z.object({ id: UserIdInput }),
    body: fieldsBody({ status: userStatus, reason: reasonInput }),
  },
  responses: {
    200: json(ListedUserBody, 'The user with the new status.'),
    ...errors(...FRESH_ADMIN, ...BODY, 'NOT_FOUND', 'OWN_STATUS'),
  },
})

const COLUMNS: readonly (readonly [name: string, of: (user: ListedUser) => CsvField])[] = [
  ['userId', ({ id }) => id],
  ['username', ({ username }) => username],
  ['email', ({ email }) => email],
  ['name', ({ name }) => name],
  ['firstName', ({ firstName }) => firstName],
  ['lastName', ({ lastName }) => lastName],
  ['role', ({ role }) => role],
  ['districtId', ({ districtId }) => districtId],
  ['xp', ({ xp }) => xp],
  ['balance', ({ balance }) => (balance === null ? null : decimal(balance))],
  ['referralCode', ({ referralCode }) => referralCode],
  ['synthetic', ({ synthetic }) => synthetic],
  ['status', ({ status }) => status],
  ['createdAt', ({ createdAt }) => timestamp(createdAt)],
]

export function adminUsers({ userList, audit }: Pick<HttpDeps, 'userList' | 'audit'>, gates: Gates) {
  const downloads = new Downloads({ together: 4, perOwner: 2, withinMs: 10 * MINUTE_MS })
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, async (c) => {
      const { search, limit, cursor, offset } = c.req.valid('query')
      const before = cursor === undefined ? undefined : userId(cursor[0])
      const { users, total } = await userList.search({ search, before, limit: limit + 1, offset })
      const page = cursors.page(users, limit, ({ id }) => [id])
      return c.json({ users: page.rows.map(listedUserJson), total, nextCursor: page.nextCursor }, 200)
    })
    .openapi({ ...exportCsv, middleware: gates.admin }, async (c) => {
      const actor = c.var.caller.userId
      const begun = await downloads.begin(c, {
        owner: actor,
        first: () => audit.record({ actor, action: 'users.export', subject: 'users', before: null, after: null }),
        chunks: () => csvOf(userList.pages(), () => gates.isStillAdmin(c.var.caller)),
      })
      if (begun === null) return fail(c, answerWith('BUSY', { retryAfterSecs: RETRY_AFTER_SECS }))
      c.header('Content-Type', 'text/csv; charset=utf-8')
      c.header('Content-Disposition', 'attachment; filename="users.csv"')
      return c.body(begun.body, 200)
    })
    .openapi({ ...setRole, middleware: gates.freshAdmin }, async (c) => {
      const { id } = c.req.valid('param')
      const outcome = await userList.setRole({ id, ...c.req.valid('json'), by: c.var.caller.userId })
      switch (outcome.kind) {
        case 'changed':
          return c.json(listedUserJson(outcome.user), 200)
        case 'unknown':
          return fail(c, notFound('user'))
        case 'own_role':
          return fail(c, answerWith('OWN_ROLE'))
        case 'forbidden':
          return fail(c, answerWith('FORBIDDEN'))
        default:
          return unreachable(outcome)
      }
    })
    .openapi({ ...setStatus, middleware: gates.freshAdmin }, async (c) => {
      const { id } = c.req.valid('param')
      const outcome = await userList.setStatus({ id, ...c.req.valid('json'), by: c.var.caller.userId })
      switch (outcome.kind) {
        case 'changed':
          return c.json(listedUserJson(outcome.user), 200)
        case 'unknown':
          return fail(c, notFound('user'))
        case 'own_status':
          return fail(c, answerWith('OWN_STATUS'))
        default:
          return unreachable(outcome)
      }
    })
}

/** Aborted once the caller is no admin any more. */
async function* csvOf(
  pages: AsyncGenerator<readonly ListedUser[]>,
  mayGoOn: () => Promise<boolean>,
): AsyncGenerator<string> {
  yield csvRecord(COLUMNS.map(([name]) => name))
  for await (const page of pages) {
    if (!(await mayGoOn())) throw new Error('the caller is no admin any more')
    yield page.map((user) => csvRecord(COLUMNS.map(([, of]) => of(user)))).join('')
  }
}

export const listedUserJson = ({ id, balance, createdAt, ...user }: ListedUser): z.output<typeof ListedUserBody> => ({
  userId: id,
  ...user,
  balance: balance === null ? null : decimal(balance),
  createdAt: timestamp(createdAt),
})
