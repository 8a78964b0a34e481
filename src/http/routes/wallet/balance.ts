/** `GET /api/wallet`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { ACCESS_SECURITY, type Gates } from '../../gates.ts'
import { walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, WalletBody } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/wallet',
  tags: ['Trading'],
  summary: "The caller's wallet",
  description:
    'In units. `equity` is `balance` + `unrealizedPnl`. Margin in use has already left the balance, so `freeMargin` ' +
    'is the balance.',
  security: ACCESS_SECURITY,
  responses: { 200: json(WalletBody, 'As last committed.'), ...errors(...SIGNED_IN) },
})

export function walletBalance({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const held = await wallets.find(c.var.caller.userId)
    if (held === null) return fail(c, UNAUTHORIZED) // a token may outlive its user
    return c.json(walletJson(held), 200)
  })
}
