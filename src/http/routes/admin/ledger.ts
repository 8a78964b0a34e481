/** `GET /api/admin/ledger/audit`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { LedgerAuditBody } from '../../admin-schemas.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { ADMIN } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const route = createRoute({
  method: 'get',
  path: '/api/admin/ledger/audit',
  tags: ['Admin'],
  summary: 'Check whether the ledger balances',
  description:
    'Adds up the entries of the last hours one by one, and older ones by the sums they were closed with, so its time ' +
    'does not grow with the ledger. `npm run ops -- ledger-audit` adds up every entry.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(LedgerAuditBody, 'The result.'), ...errors(...ADMIN) },
})

export function auditLedger({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) => {
    const found = await wallets.auditLedger()
    const { wallets: count, imbalanceMicros, unbalancedTransactions, mismatchedWallets } = found
    const sums = [imbalanceMicros, ...found.purses.map((purse) => purse.imbalanceMicros)]
    const balanced = sums.every((sum) => sum === 0) && unbalancedTransactions === 0 && mismatchedWallets === 0
    const purses = found.purses.map((one) => ({
      purse: one.purse,
      wallets: one.wallets,
      imbalance: decimal(one.imbalanceMicros),
    }))
    const imbalance = decimal(imbalanceMicros)
    return c.json({ balanced, wallets: count, imbalance, purses, unbalancedTransactions, mismatchedWallets }, 200)
  })
}
