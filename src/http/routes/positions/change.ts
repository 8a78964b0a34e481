/** `PATCH /api/positions/{id}`. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { errors, type HttpEnv } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../gates.ts'
import { fieldsBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, TradeBody } from '../../schemas.ts'
import { IdPath, originOf, refusing, stopLossInput, takeProfitInput, tradeJson } from './order.ts'

const route = createRoute({
  method: 'patch',
  path: '/api/positions/{id}',
  tags: ['Trading'],
  summary: 'Change stop-loss and take-profit of an open position',
  description:
    'A level that is left out stays as it is; null removes it. A long position needs stop-loss < price < ' +
    'take-profit, a short one take-profit < price < stop-loss. A stop-loss beyond ' +
    'the washout price is accepted with an entry in `warnings`. A level that `exitPrice` is already beyond fires at ' +
    'once: the position of the answer is then closed. At most 60 in any minute per user.',
  security: TRADE_SECURITY,
  request: {
    params: IdPath,
    body: fieldsBody({ stopLoss: stopLossInput, takeProfit: takeProfitInput }),
  },
  responses: {
    200: json(TradeBody, 'Changed.'),
    ...errors(
      ...SIGNED_IN,
      ...BODY,
      'NOT_FOUND',
      'MARKET_CLOSED',
      'MARKET_SUSPENDED',
      'POSITION_NOT_OPEN',
      'POSITION_CORRUPT',
      'LEVELS_INVALID',
      'BUSY',
      'UNKNOWN_OUTCOME',
    ),
  },
})

export function changeLevels({ desk, positions }: Pick<HttpDeps, 'desk' | 'positions'>, gates: Gates) {
  const refuse = refusing(positions)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.ordering('change') }, async (c) => {
    const { stopLoss, takeProfit } = c.req.valid('json')
    const outcome = await desk.submit({
      kind: 'change_levels',
      userId: c.var.caller.userId,
      ...originOf(c),
      positionId: c.req.valid('param').id,
      stopLoss,
      takeProfit,
    })
    return outcome.ok ? c.json(tradeJson(c, outcome.value), 200) : refuse(c, outcome)
  })
}
