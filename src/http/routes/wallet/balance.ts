/** `GET /api/wallet`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound, UNAUTHORIZED } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { isCommon } from '../../../../actors/kernel/purse.ts'
import { purseInput } from '../../inputs.ts'
import { walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, WalletBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/wallet',
  tags: ['Trading'],
  summary: "The caller's wallet in a purse",
  description:
    'In units. `equity` is `balance` + `unrealizedPnl`. Margin in use has already left the balance. `freeMargin` is ' +
    'units free to open with.',
  security: READ_SECURITY,
  request: { query: z.object({ purse: purseInput }) },
  responses: { 200: json(WalletBody, 'As last committed.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

export function walletBalance({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { purse } = c.req.valid('query')
    const held = await wallets.find(c.var.caller.userId, purse)
    // A token may outlive its user.
    if (held === null) return fail(c, isCommon(purse) ? UNAUTHORIZED : notFound('league'))
    return c.json(walletJson(held, purse), 200)
  })
}
