/** `GET /api/admin/users/:id`: one user, as an operator needs to know them before acting. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Purse, PURSES } from '../../../../actors/kernel/purse.ts'
import { LEAGUES_SHOWN, NEWEST, UserFileBody } from '../../admin-schemas.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, BODY, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { fieldsBody, reasonInput, UserIdInput } from '../../inputs.ts'
import { ledgerEntryJson, positionJson, timestamp, walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { sessionJson } from '../auth/sessions.ts'
import { keyJson } from '../keys/keys.ts'
import { listedUserJson } from './users.ts'

const route = createRoute({
  method: 'get',
  path: '/api/admin/users/{id}',
  tags: ['Admin'],
  summary: 'One user: wallets, positions, ledger, sessions, keys and connections',
  description: 'Addresses are truncated, and secrets of keys are not stored. Nothing is written.',
  security: ADMIN_READ_SECURITY,
  request: { params: z.object({ id: UserIdInput }) },
  responses: { 200: json(UserFileBody, 'The user.'), ...errors(...ADMIN, ...INPUT, 'NOT_FOUND') },
})

const note = createRoute({
  method: 'post',
  path: '/api/admin/users/{id}/notes',
  tags: ['Admin'],
  summary: 'Note something about a user',
  description:
    'An entry `user.note` of the audit log, which every admin reads. Its text is erased with the account of the user; ' +
    'do not name other people in it.',
  security: ADMIN_WRITE_SECURITY,
  request: { params: z.object({ id: UserIdInput }), body: fieldsBody({ text: reasonInput }) },
  responses: { 200: json(z.object({ noted: z.literal(true) }), 'Noted.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND') },
})

type Deps = Pick<
  HttpDeps,
  'audit' | 'userList' | 'accounts' | 'purses' | 'purseFiles' | 'sessions' | 'keys' | 'connections'
>

export function adminUser(deps: Deps, gates: Gates) {
  const { userList, accounts, purses, purseFiles, sessions, keys, connections } = deps
  const app = new OpenAPIHono<HttpEnv>()
  app.openapi({ ...note, middleware: [gates.admin, gates.audited('user.note')] as const }, async (c) => {
    const { id } = c.req.valid('param')
    if ((await userList.find(id)) === null) return fail(c, notFound('user'))
    const words = { field: 'text', about: id, words: c.req.valid('json').text } as const
    const entry = { action: 'user.note', subject: id, before: null, after: {}, words }
    await deps.audit.record({ actor: c.var.caller.userId, ...entry })
    return c.json({ noted: true as const }, 200)
  })
  return app.openapi({ ...route, middleware: gates.admin }, async (c) => {
    const { id } = c.req.valid('param')
    const [listed, user] = await Promise.all([userList.find(id), accounts.find(id)])
    if (listed === null || user === null) return fail(c, notFound('user'))
    const inPurse = async (purse: Purse, league: string | null = null) => {
      const file = await purseFiles.find(id, purse, NEWEST)
      if (file === null) return []
      const { wallet, positions, ledger } = file
      return [
        {
          wallet: walletJson(wallet, purse),
          league,
          positions: positions.map(positionJson),
          ledger: ledger.map(ledgerEntryJson),
        },
      ]
    }
    const leagues = await purses.own(id, LEAGUES_SHOWN)
    const inPurses = [...PURSES.map((purse) => inPurse(purse)), ...leagues.map((own) => inPurse(own.id, own.name))]
    const body: z.output<typeof UserFileBody> = {
      user: listedUserJson(listed),
      hiddenFromBoards: user.hiddenFromBoards,
      deletionDue: user.deletionDue === null ? null : timestamp(user.deletionDue),
      purses: (await Promise.all(inPurses)).flat(),
      sessions: (await sessions.list(id)).map(sessionJson),
      keys: (await keys.list(id)).map(keyJson),
      connections: [...(await connections.of(id))],
      alerts: (await connections.alerts(id)).map((alert) => ({ ...alert, at: timestamp(alert.at) })),
      deeds: (await connections.deeds(id)).map((deed) => ({ ...deed, at: timestamp(deed.at) })),
    }
    return c.json(body, 200)
  })
}
