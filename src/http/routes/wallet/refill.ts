/** `POST /api/wallet/refill`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal } from '../../../../actors/kernel/micros.ts'
import { answerWith, errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../gates.ts'
import { jsonBody } from '../../inputs.ts'
import { walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, WalletBody } from '../../schemas.ts'
import { strictBody } from '../../unknown-names.ts'

const RefillOrder = strictBody({
  purse: z.literal('practice').openapi({ description: 'No other purse can be refilled.', example: 'practice' }),
})

const RefillBody = z
  .object({
    refilled: z.number().openapi({ description: 'Units added; 0 if the wallet was full.', example: 9_312.5 }),
    wallet: WalletBody,
  })
  .openapi('Refill')

const route = createRoute({
  method: 'post',
  path: '/api/wallet/refill',
  tags: ['Trading'],
  summary: "Refill the caller's practice wallet",
  description:
    'Brings it up to 10,000 units, which takes nothing away from a wallet with more. Refused while one of its positions ' +
    'is open or late news may still correct a close. Booked in the ledger as `refill`; a repetition adds nothing. Once a minute per user, in bursts of 3.',
  security: TRADE_SECURITY,
  request: { body: jsonBody(RefillOrder) },
  responses: {
    200: json(RefillBody, 'The wallet as it is now.'),
    ...errors(...SIGNED_IN, ...BODY, 'POSITIONS_OPEN', 'PROCEEDS_LOCKED'),
  },
})

export function refillWallet({ refills, wallets }: Pick<HttpDeps, 'refills' | 'wallets'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.acting('refill') }, async (c) => {
    const { purse } = c.req.valid('json')
    const { userId } = c.var.caller
    const outcome = await refills.practice(userId)
    if (outcome.kind === 'positions_open') {
      return fail(c, answerWith('POSITIONS_OPEN', { facts: { openPositions: outcome.openPositions } }))
    }
    if (outcome.kind === 'proceeds_locked') {
      return fail(c, answerWith('PROCEEDS_LOCKED', { facts: { locked: decimal(outcome.locked) } }))
    }
    const wallet = await wallets.find(userId, purse)
    if (outcome.kind === 'unknown' || wallet === null) return fail(c, UNAUTHORIZED) // a token may outlive its user
    return c.json({ refilled: decimal(outcome.amount), wallet: walletJson(wallet, purse) }, 200)
  })
}
