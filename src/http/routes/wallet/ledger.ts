/** `GET /api/wallet/ledger`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, instantKey, nextCursor } from '../../cursors.ts'
import { FixtureIdInput, InstrumentIdInput, limitInput, offsetInput, purseInput, stretchInput } from '../../inputs.ts'
import { ledgerEntryJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, positionIdText, timestampText } from '../../schemas.ts'

export const LedgerEntryBody = z
  .object({
    kind: z
      .enum([
        'grant',
        'margin',
        'release',
        'external_adjustment',
        'referral',
        'refill',
        'moved',
        'void',
        'void_shortfall',
      ])
      .openapi({
        description:
          '`grant`: the starting balance. `margin`: debited by an opening. `release`: paid by a close, margin plus ' +
          'realised PnL. `external_adjustment`: a change from outside. `referral`: a referral reward. ' +
          '`refill`: practice money on request. ' +
          '`moved`: with protection, the PnL of a close that news has moved, less what was booked before.',
        example: 'margin',
      }),
    amount: z.number().openapi({ description: 'Units credited, or debited if negative.', example: -50 }),
    positionId: positionIdText.nullable(),
    at: timestampText,
  })
  .openapi('LedgerEntry')

const LedgerBody = z.object({ entries: z.array(LedgerEntryBody), nextCursor }).openapi('WalletLedger')

const cursors = cursorsOf('ledger', z.tuple([instantKey(1_000_000), z.int().min(0), z.uuid(), z.string().max(40)]), [
  1_777_730_400_000_000,
  41,
  '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968',
  'margin',
])

const route = createRoute({
  method: 'get',
  path: '/api/wallet/ledger',
  tags: ['Trading'],
  summary: "The ledger entries of the caller's wallet in a purse, newest first",
  description:
    'All entries of a wallet add up to its balance. `matchId` and `instrumentId` ask for the entries of positions.',
  security: READ_SECURITY,
  request: {
    query: z.object({
      purse: purseInput,
      matchId: FixtureIdInput.optional(),
      instrumentId: InstrumentIdInput.optional(),
      ...stretchInput,
      limit: limitInput(50),
      cursor: cursors.input,
      offset: offsetInput(),
    }),
  },
  responses: { 200: json(LedgerBody, 'One page.'), ...errors(...SIGNED_IN, ...INPUT) },
})

export function walletLedger({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { limit, cursor, ...query } = c.req.valid('query')
    const found = await wallets.ledger(c.var.caller.userId, { ...query, limit: limit + 1, after: cursor })
    const page = cursors.page(found, limit, ({ key }) => key)
    return c.json({ entries: page.rows.map(ledgerEntryJson), nextCursor: page.nextCursor }, 200)
  })
}
