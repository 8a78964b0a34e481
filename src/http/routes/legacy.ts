/** The legacy share model (specification 4.3): trades and portfolio, to be read and nothing else. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { decimal, MICROS_PER_UNIT, mulDivNearest } from '../../../actors/kernel/micros.ts'
import { legacyPortfolio, legacyTotal, type LegacyHolding, type LegacyTrade } from '../../../actors/community/legacy.ts'
import { errors } from '../answers.ts'
import { INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { timestamp } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import { json, timestampText } from '../schemas.ts'

const TradeBody = z
  .object({
    id: z.string(),
    player: z.string(),
    side: z.enum(['buy', 'sell']),
    quantity: z.number(),
    price: z.number(),
    total: z.number(),
    at: timestampText,
  })
  .openapi('LegacyTrade')

const HoldingBody = z
  .object({
    player: z.string(),
    quantity: z.number(),
    averagePrice: z.number(),
    invested: z.number().openapi({ description: 'At the average price of all that was bought.' }),
  })
  .openapi('LegacyHolding')

const trades = createRoute({
  method: 'get',
  path: '/api/trades',
  tags: ['Legacy'],
  summary: "The caller's legacy trades, the latest first",
  description:
    'What was bought and sold under the share model that came before positions. Nothing is added to it any more.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(50),
      offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
    }),
  },
  responses: {
    200: json(z.object({ trades: z.array(TradeBody), total: z.int() }), 'A page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

const portfolio = createRoute({
  method: 'get',
  path: '/api/portfolio',
  tags: ['Legacy'],
  summary: "The caller's legacy holdings, wallet balance and total PnL",
  description: 'Holdings of the share model that came before positions, and what both models have brought.',
  security: ACCESS_SECURITY,
  responses: {
    200: json(
      z.object({
        holdings: z.array(HoldingBody),
        balance: z.number(),
        totalPnl: z.number().openapi({ description: 'Realised: `legacyPnl` + `positionsPnl`.' }),
        legacyPnl: z.number(),
        positionsPnl: z.number(),
      }),
      'As of now.',
    ),
    ...errors(...SIGNED_IN),
  },
})

export function legacyRoutes({ community, wallets }: Pick<HttpDeps, 'community' | 'wallets'>, gates: Gates) {
  const { legacy, careers } = community
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...trades, middleware: gates.signedIn }, async (c) => {
      const page = await legacy.trades(c.var.caller.userId, c.req.valid('query'))
      return c.json({ trades: page.trades.map(tradeJson), total: page.total }, 200)
    })
    .openapi({ ...portfolio, middleware: gates.signedIn }, async (c) => {
      const { userId } = c.var.caller
      const [history, wallet, career] = await Promise.all([
        legacy.history(userId),
        wallets.find(userId),
        careers.find(userId),
      ])
      const { holdings, pnl } = legacyPortfolio(history)
      return c.json(
        {
          holdings: holdings.map(holdingJson),
          balance: decimal(wallet?.balance ?? 0),
          totalPnl: decimal(pnl + career.all.pnl),
          legacyPnl: decimal(pnl),
          positionsPnl: decimal(career.all.pnl),
        },
        200,
      )
    })
}

const tradeJson = (trade: LegacyTrade): z.output<typeof TradeBody> => ({
  id: trade.id,
  player: trade.player,
  side: trade.side,
  quantity: decimal(trade.quantity),
  price: decimal(trade.price),
  total: decimal(legacyTotal(trade)),
  at: timestamp(trade.at),
})

const holdingJson = ({ player, quantity, invested }: LegacyHolding): z.output<typeof HoldingBody> => ({
  player,
  quantity: decimal(quantity),
  averagePrice: decimal(mulDivNearest(invested, MICROS_PER_UNIT, quantity)),
  invested: decimal(invested),
})
