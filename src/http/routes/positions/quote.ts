/** `POST /api/positions/quote`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { answerTo, bodyOf, errors, fail, type HttpEnv } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import type { ErrorForm } from '../../error-facts.ts'
import { READ_SECURITY, type Gates } from '../../gates.ts'
import { comparedPriceInput, jsonBody } from '../../inputs.ts'
import { levelWarningsJson, quoteJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json, levelWarnings } from '../../schemas.ts'
import { purseForOrder } from './order-purse.ts'
import { Order, refusing } from './order.ts'

/** The example is an order for 0.5 lots, long at 206.31, with the levels 190 and 220. */
const QuoteBody = z
  .object({
    fillPrice: z.number().openapi({
      description: 'The mean of the price over the move that the order causes.',
      example: 206.315,
    }),
    exitPrice: z.number().openapi({ description: 'What closing it again at once would fill at.', example: 206.315 }),
    impact: z.number().openapi({ description: 'Fill price − current price.', example: 0.005 }),
    currentPrice: z.number().openapi({ example: 206.31 }),
    margin: z.number().openapi({ description: 'Units that opening would debit.', example: 51.57875 }),
    washoutPrice: z.number().nullable().openapi({ example: 185.6835 }),
    pnlAtStopLoss: z.number().nullable().openapi({ example: -40.7875 }),
    pnlAtTakeProfit: z.number().nullable().openapi({ example: 34.2125 }),
    maxLotSize: z.number().openapi({
      description: 'The most lots that the free margin and the own limit for a day cover.',
      example: 96.42,
    }),
    warnings: levelWarnings,
    refusal: z.custom<ErrorForm | null>().openapi({
      type: ['object', 'null'],
      anyOf: [{ $ref: '#/components/schemas/Error' }, { type: 'null' }],
      description: 'The error that opening this now would get, or null.',
      example: null,
    }),
  })
  .openapi('Quote')

/** The body of an open, which may be sent here unchanged. Who only asks what an order costs has no price to compare. */
const QuoteOrder = Order.extend({
  clientPrice: comparedPriceInput().optional().openapi({
    description: 'As for opening. Absent: no price guard.',
    example: 206.3,
  }),
})

const route = createRoute({
  method: 'post',
  path: '/api/positions/quote',
  tags: ['Trading'],
  summary: 'Quote the fill, margin and levels of an order without placing it',
  description:
    'Takes the body of `POST /api/positions/open`. Changes nothing and reserves nothing. An order that would be refused ' +
    'is quoted too, with the error in `refusal`.',
  security: READ_SECURITY,
  request: { body: jsonBody(QuoteOrder) },
  responses: {
    200: json(QuoteBody, 'As of now.'),
    ...errors(...SIGNED_IN, ...BODY, 'NOT_FOUND', 'PURSE_MISMATCH', 'LEAGUE_NOT_RUNNING', 'MARKET_CLOSED', 'BUSY'),
  },
})

type Deps = Pick<HttpDeps, 'desk' | 'positions' | 'wallets' | 'catalogue' | 'purses'>

export function quoteOrder(deps: Deps, gates: Gates) {
  const { desk, positions, wallets } = deps
  const refuse = refusing(positions)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const order = c.req.valid('json')
    const { instrumentId, direction, lotSize, clientPrice, stopLoss = null, takeProfit = null } = order
    const { userId } = c.var.caller
    const purse = await purseForOrder(deps, userId, order)
    if (!purse.ok) return fail(c, purse.answer)
    const means = await wallets.means(userId)
    const outcome = await desk.quote({
      instrumentId,
      league: purse.league,
      direction,
      lots: lotSize,
      clientPrice,
      stopLoss,
      takeProfit,
      means,
    })
    if (!outcome.ok) return refuse<404 | 409 | 503>(c, outcome)
    const { refusal, fillPrice } = outcome.value
    const warnings = levelWarningsJson({ direction, openPrice: fillPrice, stopLoss })
    const refused = refusal === null ? null : bodyOf(answerTo(refusal), c.var.requestId)
    return c.json({ ...quoteJson(outcome.value), warnings, refusal: refused }, 200)
  })
}
