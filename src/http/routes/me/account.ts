/** `PATCH /api/me` and `DELETE /api/me`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, invalid, UNAUTHORIZED } from '../../answers.ts'
import { BODY, CHANGE, SIGNED_IN } from '../../error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { fieldsBody } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'
import { clearSession } from '../../session-cookies.ts'

const hidden = z.boolean().openapi({ example: true })

const change = createRoute({
  method: 'patch',
  path: '/api/me',
  tags: ['Session'],
  summary: 'Leave the boards, or come back',
  description:
    'Hidden users are on no board, in no activity and no draw, count in no district, and have no rank themselves. ' +
    'Their results continue to count, and show again when they come back.',
  security: BROWSER_SECURITY,
  request: { body: fieldsBody({ hiddenFromBoards: hidden }) },
  responses: {
    200: json(z.object({ hiddenFromBoards: hidden }), 'As it is now. Boards follow within a second.'),
    ...errors(...SIGNED_IN, ...BODY, ...CHANGE),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/me',
  tags: ['Session'],
  summary: 'Delete the account',
  description:
    'Signs the user out everywhere and takes them off the boards at once. After a week (`privacy.deletion_grace_days`) ' +
    'everything that names them is erased, unless they sign in before: then the account stays, and they are told. ' +
    'Open positions live on until then, and are closed; one that cannot be settles at full time first. Trades and ' +
    'ledger stay under a pseudonym. The username is kept from others for a year.',
  security: BROWSER_SECURITY,
  request: {
    body: fieldsBody({
      confirm: z.string().max(64).openapi({ description: "The caller's username.", example: 'ada_l' }),
    }),
  },
  responses: {
    200: json(
      z.object({ deletionDue: z.string().openapi({ format: 'date-time', example: '2026-05-09T14:30:00.000Z' }) }),
      'Signed out. Repeating the request does not postpone the deletion.',
    ),
    ...errors(...SIGNED_IN, ...BODY, ...CHANGE),
  },
})

type Deps = Pick<HttpDeps, 'accounts' | 'personal' | 'sessions' | 'cookies'>

export function ownAccount({ accounts, personal, sessions, cookies }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...change, middleware: gates.signedIn }, async (c) => {
      const { hiddenFromBoards } = c.req.valid('json')
      const isKnown = await personal.hide(c.var.caller.userId, hiddenFromBoards)
      return isKnown ? c.json({ hiddenFromBoards }, 200) : fail(c, UNAUTHORIZED)
    })
    .openapi({ ...remove, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const user = await accounts.find(userId)
      if (user === null) return fail(c, UNAUTHORIZED)
      if (c.req.valid('json').confirm !== user.username) return fail(c, invalid('confirm', 'must be your username'))
      // It ends the sessions as well, together with the request: none outlives an account that is due, and no user is
      // signed out whose request is lost.
      const due = await personal.requestDeletion(userId)
      sessions.signedOut(userId)
      clearSession(c, cookies)
      return due === null ? fail(c, UNAUTHORIZED) : c.json({ deletionDue: timestamp(due) }, 200)
    })
}
