/** What operators see and do (specification 4.5). Every route is behind the admin gate. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../answers.ts'
import { ACCESS_SECURITY, type Gates } from '../gates.ts'
import type { HttpDeps } from '../ports.ts'
import { json } from '../schemas.ts'
import { decimal } from '../../../actors/kernel/micros.ts'

const AuditBody = z
  .object({
    balanced: z.boolean().openapi({ description: 'Whether all three counts of trouble are zero.' }),
    wallets: z.int(),
    imbalance: z
      .number()
      .openapi({ description: 'Σ of all entries of all accounts: 0, or money appeared or vanished.' }),
    unbalancedTransactions: z.int(),
    mismatchedWallets: z.int().openapi({ description: 'Wallets whose balance is not the sum of their entries.' }),
  })
  .openapi('LedgerAudit')

const audit = createRoute({
  method: 'get',
  path: '/api/admin/ledger/audit',
  tags: ['Admin'],
  summary: 'Whether the books balance',
  description: 'Adds up every entry there is, which takes a while on a large ledger.',
  security: ACCESS_SECURITY,
  responses: { 200: json(AuditBody, 'What was found.'), ...errors(401, 403, 503) },
})

export function adminRoutes({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...audit, middleware: gates.admin }, async (c) => {
    const found = await wallets.auditLedger()
    const { wallets: count, imbalanceMicros, unbalancedTransactions, mismatchedWallets } = found
    const balanced = imbalanceMicros === 0 && unbalancedTransactions === 0 && mismatchedWallets === 0
    const imbalance = decimal(imbalanceMicros)
    return c.json({ balanced, wallets: count, imbalance, unbalancedTransactions, mismatchedWallets }, 200)
  })
}
