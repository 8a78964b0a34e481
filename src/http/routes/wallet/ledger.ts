/** `GET /api/wallet/ledger`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { limitInput, offsetInput, purseInput } from '../../inputs.ts'
import { ledgerEntryJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, positionIdText, timestampText } from '../../schemas.ts'

const LedgerBody = z
  .object({
    entries: z.array(
      z.object({
        kind: z
          .enum([
            'grant',
            'margin',
            'release',
            'external_adjustment',
            'referral',
            'refill',
            'late_close',
            'void',
            'void_shortfall',
          ])
          .openapi({
            description:
              '`grant`: the starting balance. `margin`: debited by an opening. `release`: paid by a close, margin plus ' +
              'realised PnL. `external_adjustment`: a change from outside. `referral`: a referral reward. ' +
              '`refill`: practice money on request. ' +
              '`late_close`: the correction of a position that was closed just before news.',
            example: 'margin',
          }),
        amount: z.number().openapi({ description: 'Units credited, or debited if negative.', example: -50 }),
        positionId: positionIdText.nullable(),
        at: timestampText,
      }),
    ),
  })
  .openapi('WalletLedger')

const route = createRoute({
  method: 'get',
  path: '/api/wallet/ledger',
  tags: ['Trading'],
  summary: "The ledger entries of the caller's wallet in a purse, newest first",
  description: 'All entries of a wallet add up to its balance.',
  security: READ_SECURITY,
  request: { query: z.object({ purse: purseInput, limit: limitInput(50), offset: offsetInput() }) },
  responses: { 200: json(LedgerBody, 'One page.'), ...errors(...SIGNED_IN, ...INPUT) },
})

export function walletLedger({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const entries = await wallets.ledger(c.var.caller.userId, c.req.valid('query'))
    return c.json({ entries: entries.map(ledgerEntryJson) }, 200)
  })
}
