/** Users as operators see them (specification 4.5): list, search, export, roles. All behind the admin gate. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../actors/kernel/assert.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { ListedUser } from '../../../db/user-list.ts'
import { answerWith, errors, fail, notFound } from '../answers.ts'
import { type CsvField, csvRecord, streamOf } from '../csv.ts'
import { ADMIN, BODY, INPUT } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json, timestampText, UserIdInput } from '../schemas.ts'

const ListedUserBody = z
  .object({
    userId: z.uuid(),
    username: z.string(),
    email: z.string(),
    name: z.string(),
    firstName: z.string(),
    lastName: z.string().nullable(),
    role: z.string(),
    districtId: z.int(),
    xp: z.int(),
    balance: z.number().nullable().openapi({ description: 'As booked; null without a wallet.' }),
    referralCode: z.string(),
    synthetic: z.boolean().openapi({ description: 'Made by a dev route or a replay, not by a person.' }),
    createdAt: timestampText,
  })
  .openapi('ListedUser')

const list = createRoute({
  method: 'get',
  path: '/api/admin/users',
  tags: ['Admin'],
  summary: 'Users, the latest to join first',
  description: 'Searching looks at username, e-mail and name; a whole user id finds its user.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      search: z
        .string()
        .max(100)
        .refine((text) => !text.includes('\u0000'), 'must not contain control characters')
        .default('')
        .openapi({ description: 'A part of the username, e-mail or name, in any case, or a user id.' }),
      limit: z.coerce.number().int().min(1).max(100).default(50),
      offset: z.coerce.number().int().min(0).max(10_000_000).default(0),
    }),
  },
  responses: {
    200: json(z.object({ users: z.array(ListedUserBody), total: z.int() }), 'A page, and how many there are.'),
    ...errors(...ADMIN, ...INPUT),
  },
})

const exportCsv = createRoute({
  method: 'get',
  path: '/api/admin/users/export.csv',
  tags: ['Admin'],
  summary: 'All users as CSV',
  description:
    'RFC 4180 in UTF-8, oldest first, streamed as it is read. A text that a spreadsheet would take for a formula begins with ' +
    'an apostrophe. A download that ends early was cut off by a fault: its last line is not to be trusted.',
  security: ACCESS_SECURITY,
  responses: {
    200: { description: 'Every user.', content: { 'text/csv': { schema: z.string() } } },
    ...errors(...ADMIN),
  },
})

const setRole = createRoute({
  method: 'put',
  path: '/api/admin/users/{id}/role',
  tags: ['Admin'],
  summary: 'Make somebody an admin, or a user again',
  description:
    'Taken away it counts at once, given from the next access token on, which is at most one token lifetime away. Whoever ' +
    'stands in `ADMIN_EMAILS` is made an admin again when he signs in.',
  security: ACCESS_SECURITY,
  request: {
    params: z.object({ id: UserIdInput }),
    body: {
      required: true,
      content: { 'application/json': { schema: z.object({ role: z.enum(['admin', 'user']) }) } },
    },
  },
  responses: { 200: json(ListedUserBody, 'As he is now.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND', 'OWN_ROLE') },
})

const OWN_ROLE = answerWith('OWN_ROLE')

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
  ['createdAt', ({ createdAt }) => timestamp(createdAt)],
]

export function adminUserRoutes({ userList, audit }: HttpDeps, gates: Gates) {
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...list, middleware: gates.admin }, async (c) => {
      const { users, total } = await userList.search(c.req.valid('query'))
      return c.json({ users: users.map(listedUserJson), total }, 200)
    })
    .openapi({ ...exportCsv, middleware: gates.admin }, async (c) => {
      const actor = c.var.caller.userId
      await audit.record({ actor, action: 'users.export', subject: 'users', before: null, after: null })
      c.header('Content-Type', 'text/csv; charset=utf-8')
      c.header('Content-Disposition', 'attachment; filename="users.csv"')
      return c.body(streamOf(csvOf(userList.pages())), 200)
    })
    .openapi({ ...setRole, middleware: gates.admin }, async (c) => {
      const { id } = c.req.valid('param')
      const outcome = await userList.setRole({ id, role: c.req.valid('json').role, by: c.var.caller.userId })
      switch (outcome.kind) {
        case 'changed':
          return c.json(listedUserJson(outcome.user), 200)
        case 'unknown':
          return fail(c, notFound('user'))
        case 'own_role':
          return fail(c, OWN_ROLE)
        default:
          return unreachable(outcome)
      }
    })
}

async function* csvOf(pages: AsyncGenerator<readonly ListedUser[]>): AsyncGenerator<string> {
  yield csvRecord(COLUMNS.map(([name]) => name))
  for await (const page of pages) yield page.map((user) => csvRecord(COLUMNS.map(([, of]) => of(user)))).join('')
}

const listedUserJson = ({ id, balance, createdAt, ...user }: ListedUser): z.output<typeof ListedUserBody> => ({
  userId: id,
  ...user,
  balance: balance === null ? null : decimal(balance),
  createdAt: timestamp(createdAt),
})
