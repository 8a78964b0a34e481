/** `POST /api/wallet/refill`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { REFILL_BELOW } from '../../../../actors/kernel/limits.ts'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { RefillBody } from '../../account-schemas.ts'
import { answerWith, errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../gates.ts'
import { fieldsBody } from '../../inputs.ts'
import { timestamp, walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const RefillOrder = fieldsBody({
  purse: z
    .enum(['main', 'practice'])
    .openapi({ description: 'The purse of a league is not refilled.', example: 'practice' }),
})

const route = createRoute({
  method: 'post',
  path: '/api/wallet/refill',
  tags: ['Trading'],
  summary: "Refill the caller's practice wallet, or a main wallet that is ruined",
  description:
    'Brings it up to 10,000 units, which takes nothing away from a wallet with more. The main wallet only below 100 ' +
    'units and once a week; no board counts it. Refused while one of its positions ' +
    'is open. Booked in the ledger as `refill`; a repetition adds nothing.',
  security: TRADE_SECURITY,
  request: { body: RefillOrder },
  responses: {
    200: json(RefillBody, 'The wallet as it is now.'),
    ...errors(...SIGNED_IN, ...BODY, 'POSITIONS_OPEN', 'NOT_RUINED', 'REFILLED_LATELY'),
  },
})

export function refillWallet({ refills, wallets }: Pick<HttpDeps, 'refills' | 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { purse } = c.req.valid('json')
    const { userId } = c.var.caller
    const outcome = await refills[purse](userId)
    if (outcome.kind === 'positions_open') {
      return fail(c, answerWith('POSITIONS_OPEN', { facts: { openPositions: outcome.openPositions } }))
    }
    if (outcome.kind === 'not_ruined') {
      const facts = { balance: decimal(outcome.balance), below: decimal(REFILL_BELOW) }
      return fail(c, answerWith('NOT_RUINED', { facts }))
    }
    if (outcome.kind === 'too_soon') {
      return fail(c, answerWith('REFILLED_LATELY', { facts: { nextAt: timestamp(outcome.nextAt) } }))
    }
    const wallet = await wallets.find(userId, purse)
    if (outcome.kind === 'unknown' || wallet === null) return fail(c, UNAUTHORIZED) // a token may outlive its user
    return c.json({ refilled: decimal(outcome.amount), wallet: walletJson(wallet, purse) }, 200)
  })
}
