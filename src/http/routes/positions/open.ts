/** `POST /api/positions/open`: a body becomes a command to the match, and its outcome an answer. */
import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import type { Outcome } from '../../../../actors/kernel/outcome.ts'
import type { Trade } from '../../../../actors/match/messages.ts'
import { errors, fail, type HttpEnv } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../gates.ts'
import { comparedPriceInput, jsonBody, KeyHeader } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, TradeBody } from '../../schemas.ts'
import { purseForOrder } from './order-purse.ts'
import { keyOf, Order, originOf, refusing, tradeJson } from './order.ts'

const OpenOrder = Order.extend({
  clientPrice: comparedPriceInput().openapi({
    description: 'The price that the client showed to the user, with any number of decimals.',
    example: 206.3,
  }),
})

const route = createRoute({
  method: 'post',
  path: '/api/positions/open',
  tags: ['Trading'],
  summary: 'Open a position',
  description:
    'Fills at the mean of the price over the move that the order causes, and debits the margin, price × lots × 5 ÷ ' +
    '10, from the wallet. A stop-loss beyond the washout price is accepted with an entry in `warnings`. A level ' +
    'between the price and `exitPrice` fires at once: the answer has the position as it opened, the wallet as it is ' +
    'after the close. The owner ' +
    'may close the position after the hold, 180 seconds by default. Refused if `clientPrice` is more than ' +
    '`trading.price_guard_pct` (2.5) per cent off, the market is not open, or the margin is not covered. A retry ' +
    'with the same `Idempotency-Key` and body gets the first answer again and opens nothing. At most 60 in any ' +
    'minute per user.',
  security: TRADE_SECURITY,
  request: { headers: KeyHeader, body: jsonBody(OpenOrder) },
  responses: {
    201: json(TradeBody, 'Opened. With `Idempotent-Replayed: true`, by an earlier request with the same key.'),
    ...errors(
      ...SIGNED_IN,
      ...BODY,
      'NOT_FOUND',
      'PURSE_MISMATCH',
      'LEAGUE_NOT_RUNNING',
      'MARKET_CLOSED',
      'MARKET_SUSPENDED',
      'PRICE_MOVED',
      'KEY_IN_FLIGHT',
      'KEY_REUSED',
      'LOT_SIZE_INVALID',
      'LEVELS_INVALID',
      'POSITION_LIMIT',
      'INSUFFICIENT_MARGIN',
      'ACCOUNT_FROZEN',
      'SELF_EXCLUDED',
      'LIMIT_REACHED',
      'BUSY',
      'UNKNOWN_OUTCOME',
    ),
  },
})

export function openPosition(deps: Pick<HttpDeps, 'desk' | 'positions' | 'catalogue' | 'purses'>, gates: Gates) {
  const { desk, positions } = deps
  const refuse = refusing(positions)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.ordering('open') }, async (c) => {
    const order = c.req.valid('json')
    const { instrumentId, direction, lotSize, clientPrice, stopLoss = null, takeProfit = null } = order
    const { userId } = c.var.caller
    const named = order.purse === undefined ? [] : [order.purse]
    const fields = [instrumentId, direction, lotSize, clientPrice, stopLoss, takeProfit, ...named]
    const idempotency = keyOf(userId, 'open', c.req.valid('header')['Idempotency-Key'], fields)
    const answer = (outcome: Outcome<Trade>) =>
      outcome.ok ? c.json(tradeJson(c, outcome.value), 201) : refuse(c, outcome)
    const purse = await purseForOrder(deps, userId, order)
    if (!purse.ok) {
      // An order that was carried out before its league ended is answered as it was.
      const before = await desk.recall(userId, idempotency)
      return before === null ? fail(c, purse.answer) : answer(before)
    }
    const outcome = await desk.submit({
      kind: 'open_position',
      userId,
      ...originOf(c),
      league: purse.league,
      instrumentId,
      direction,
      lots: lotSize,
      clientPrice,
      stopLoss,
      takeProfit,
      idempotency,
    })
    return answer(outcome)
  })
}
