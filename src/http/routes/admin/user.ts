/** `GET /api/admin/users/:id`: one user, as an operator needs to know them before acting. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { type Purse, PURSES } from '../../../../actors/kernel/purse.ts'
import { errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, BODY, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { jsonBody, reasonInput, UserIdInput } from '../../inputs.ts'
import { ledgerEntryJson, positionJson, timestamp, walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, PositionBody, timestampText, userIdText, usernameText, WalletBody } from '../../schemas.ts'
import { SessionBody, sessionJson } from '../auth/sessions.ts'
import { KeyBody, keyJson } from '../keys/keys.ts'
import { strictBody } from '../../unknown-names.ts'
import { LedgerEntryBody } from '../wallet/ledger.ts'
import { ListedUserBody, listedUserJson } from './users.ts'

/** Rows of each list, the newest. */
const NEWEST = 50
const LEAGUES_SHOWN = 10

const PurseBody = z
  .object({
    wallet: WalletBody,
    league: z.string().nullable().openapi({ description: 'Its name; null unless it is of a league.', example: null }),
    positions: z.array(PositionBody).openapi({ description: `Open and closed, the ${NEWEST} opened last.` }),
    ledger: z.array(LedgerEntryBody).openapi({ description: `The last ${NEWEST} entries.` }),
  })
  .openapi('UserPurse')

const ConnectionBody = z
  .object({
    kind: z.enum(['same_network', 'invited_by', 'invited']).openapi({ example: 'same_network' }),
    userId: userIdText,
    username: usernameText,
  })
  .openapi('UserConnection')

const UserAlertBody = z
  .object({
    id: z.int().openapi({ description: 'Of the entry in the audit log.', example: 4_812 }),
    at: timestampText,
    finding: z.string().openapi({ example: 'lockstep' }),
  })
  .openapi('UserAlert')

const DeedBody = z
  .object({
    id: z.int().openapi({ description: 'Of the entry in the audit log.', example: 4_813 }),
    at: timestampText,
    action: z.string().openapi({ example: 'user.note' }),
    by: usernameText.nullable(),
    text: z.string().nullable().openapi({ description: 'The reason or the note.', example: 'asked for a refund' }),
  })
  .openapi('UserDeed')

const UserFileBody = z
  .object({
    user: ListedUserBody,
    hiddenFromBoards: z.boolean().openapi({ description: 'By their own wish.', example: false }),
    deletionDue: timestampText.nullable().openapi({ description: 'When the account is erased; null for never.' }),
    purses: z.array(PurseBody).openapi({
      description: `Main, practice, and of the ${LEAGUES_SHOWN} leagues that end last.`,
    }),
    sessions: z.array(SessionBody).openapi({ description: 'Active ones, at most 100.' }),
    keys: z.array(KeyBody),
    connections: z.array(ConnectionBody).openapi({
      description:
        `At most ${NEWEST} of each kind. \`same_network\`: a stored session from the same /24 or /48, which many ` +
        'strangers may share.',
    }),
    alerts: z.array(UserAlertBody).openapi({
      description: 'The latest alerts about cheats that name the user, among the last 1,000 of all.',
    }),
    deeds: z.array(DeedBody).openapi({ description: `What was done about the user, the last ${NEWEST}.` }),
  })
  .openapi('UserFile')

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
  request: { params: z.object({ id: UserIdInput }), body: jsonBody(strictBody({ text: reasonInput })) },
  responses: { 200: json(z.object({ noted: z.literal(true) }), 'Noted.'), ...errors(...ADMIN, ...BODY, 'NOT_FOUND') },
})

type Deps = Pick<
  HttpDeps,
  'audit' | 'userList' | 'accounts' | 'purses' | 'purseFiles' | 'sessions' | 'keys' | 'connections'
>

export function adminUser(deps: Deps, gates: Gates) {
  const { userList, accounts, purses, purseFiles, sessions, keys, connections } = deps
  const app = new OpenAPIHono<HttpEnv>()
  app.openapi({ ...note, middleware: gates.admin }, async (c) => {
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
