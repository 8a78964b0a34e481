/** `GET /api/wallet/ledger` and `GET /api/wallet/ledger.csv`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { LedgerEntryBody } from '../../account-schemas.ts'
import { answerWith, errors, fail, type HttpEnv } from '../../answers.ts'
import { INPUT, SIGNED_IN } from '../../error-codes.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, instantKey, nextCursor } from '../../cursors.ts'
import { csvRecord } from '../../csv.ts'
import { Downloads } from '../../downloads.ts'
import { FixtureIdInput, InstrumentIdInput, limitInput, offsetInput, purseInput, stretchInput } from '../../inputs.ts'
import { ledgerEntryJson, timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

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
    'All entries of a wallet add up to its balance. `matchId` and `instrumentId` select entries of positions.',
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

const csv = createRoute({
  method: 'get',
  path: '/api/wallet/ledger.csv',
  operationId: 'getWalletLedgerCsv',
  tags: ['Trading'],
  summary: "The ledger of the caller's wallet in a purse as CSV",
  description:
    'All entries, or those of a time, newest first, as `GET /api/wallet/ledger` has them (RFC 4180 in UTF-8). It is sent ' +
    'as it is read: if a fault ends it early, its last line may be cut.',
  security: READ_SECURITY,
  request: { query: z.object({ purse: purseInput, ...stretchInput }) },
  responses: {
    200: {
      description: 'The entries.',
      content: { 'text/csv': { schema: z.string().openapi({ example: 'at,kind,amount,positionId\r\n' }) } },
    },
    ...errors(...SIGNED_IN, ...INPUT, 'BUSY'),
  },
})

const RETRY_AFTER_SECS = 5

export function walletLedger({ wallets }: Pick<HttpDeps, 'wallets'>, gates: Gates) {
  const downloads = new Downloads({ together: 8, perOwner: 2 })
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...route, middleware: gates.signedIn }, async (c) => {
      const { limit, cursor, ...query } = c.req.valid('query')
      const found = await wallets.ledger(c.var.caller.userId, { ...query, limit: limit + 1, after: cursor })
      const page = cursors.page(found, limit, ({ key }) => key)
      return c.json({ entries: page.rows.map(ledgerEntryJson), nextCursor: page.nextCursor }, 200)
    })
    .openapi({ ...csv, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const stretch = c.req.valid('query')
      const begun = await downloads.begin(c, {
        owner: userId,
        chunks: () => csvOf(wallets.ledgerPages(userId, stretch)),
      })
      if (begun === null) return fail(c, answerWith('BUSY', { retryAfterSecs: RETRY_AFTER_SECS }))
      c.header('Content-Type', 'text/csv; charset=utf-8')
      c.header('Content-Disposition', 'attachment; filename="touchline-statement.csv"')
      return c.body(begun.body, 200)
    })
}

async function* csvOf(pages: ReturnType<HttpDeps['wallets']['ledgerPages']>): AsyncGenerator<string> {
  yield csvRecord(['at', 'kind', 'amount', 'positionId'])
  for await (const entries of pages) {
    yield entries
      .map(({ at, kind, amount, positionId }) => csvRecord([timestamp(at), kind, decimal(amount), positionId]))
      .join('')
  }
}
