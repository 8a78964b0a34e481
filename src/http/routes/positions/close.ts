/** `POST /api/positions/{id}/close`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../gates.ts'
import { Key, KeyHeader } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, TradeBody } from '../../schemas.ts'
import { IdPath, keyOf, originOf, refusing, tradeJson } from './order.ts'
import { strictBody } from '../../unknown-names.ts'

const CloseOrder = strictBody({
  clientRequestId: Key.optional().openapi({ description: 'The idempotency key if the header is absent.' }),
})

const route = createRoute({
  method: 'post',
  path: '/api/positions/{id}/close',
  tags: ['Trading'],
  summary: 'Close a position',
  description:
    'Possible after the hold. Fills at the published price and pays back the margin plus the realised PnL, never ' +
    'less than 0. The hold binds only the owner: stop-loss, take-profit, washout and full time close at any time. A ' +
    'retry with the same key gets the first answer again. At most 60 a minute per user, in bursts of 10.',
  security: TRADE_SECURITY,
  request: {
    params: IdPath,
    headers: KeyHeader,
    body: { content: { 'application/json': { schema: CloseOrder } } },
  },
  responses: {
    200: json(TradeBody, 'Closed. With `Idempotent-Replayed: true`, by an earlier request with the same key.'),
    ...errors(
      ...SIGNED_IN,
      ...BODY,
      'NOT_FOUND',
      'MARKET_CLOSED',
      'MARKET_SUSPENDED',
      'COOLDOWN_ACTIVE',
      'POSITION_NOT_OPEN',
      'POSITION_CORRUPT',
      'KEY_IN_FLIGHT',
      'KEY_REUSED',
      'BUSY',
      'UNKNOWN_OUTCOME',
    ),
  },
})

export function closePosition({ desk, positions }: Pick<HttpDeps, 'desk' | 'positions'>, gates: Gates) {
  const refuse = refusing(positions)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.acting('close') }, async (c) => {
    const positionId = c.req.valid('param').id
    const key = c.req.valid('header')['Idempotency-Key'] ?? c.req.valid('json').clientRequestId
    const { userId } = c.var.caller
    const outcome = await desk.submit({
      kind: 'close_position',
      userId,
      ...originOf(c),
      positionId,
      idempotency: keyOf(userId, 'close', key, [positionId]),
    })
    return outcome.ok ? c.json(tradeJson(c, outcome.value), 200) : refuse<404 | 409 | 503>(c, outcome)
  })
}
