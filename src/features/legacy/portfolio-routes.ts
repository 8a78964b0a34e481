/** `GET /api/portfolio`: holdings of the former share model. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { legacyPortfolio, type LegacyHolding } from '../../../actors/community/legacy.ts'
import { decimal, MICROS_PER_UNIT, mulDivNearest } from '../../../actors/kernel/micros.ts'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import type { LegacyPorts } from './trades-routes.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json, playerName } from '../../http/schemas.ts'

const HoldingBody = z
  .object({
    player: playerName,
    quantity: z.number().openapi({ description: 'Shares.', example: 10 }),
    averagePrice: z.number().openapi({ description: 'Average price of all shares bought.', example: 124 }),
    invested: z.number().openapi({ description: '`quantity × averagePrice`.', example: 1_240 }),
  })
  .openapi('LegacyHolding')

const PortfolioBody = z.object({
  holdings: z.array(HoldingBody),
  balance: z.number().openapi({ description: 'Wallet balance in units.', example: 9_950 }),
  totalPnl: z.number().openapi({ description: 'Realised: `legacyPnl + positionsPnl`.', example: 452.5 }),
  legacyPnl: z.number().openapi({ description: 'Realised PnL of the share model.', example: 40 }),
  positionsPnl: z.number().openapi({ description: 'Realised PnL of positions.', example: 412.5 }),
})

const route = createRoute({
  method: 'get',
  path: '/api/portfolio',
  operationId: 'getPortfolio',
  tags: ['Legacy'],
  summary: "The caller's holdings of the former share model, wallet balance and total PnL",
  description: 'Read-only. The PnL covers both the share model and positions.',
  security: READ_SECURITY,
  responses: { 200: json(PortfolioBody, 'As of now.'), ...errors(...SIGNED_IN) },
})

type Deps = LegacyPorts & Pick<HttpDeps, 'community' | 'wallets'>

export function portfolio({ legacy, community: { careers }, wallets }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { userId } = c.var.caller
    const [history, wallet, career] = await Promise.all([
      legacy.history(userId),
      wallets.find(userId),
      careers.find(userId),
    ])
    const { holdings, pnl } = legacyPortfolio(history)
    const body: z.output<typeof PortfolioBody> = {
      holdings: holdings.map(holdingJson),
      balance: decimal(wallet?.balance ?? 0),
      totalPnl: decimal(pnl + career.main.pnl),
      legacyPnl: decimal(pnl),
      positionsPnl: decimal(career.main.pnl),
    }
    return c.json(body, 200)
  })
}

const holdingJson = ({ player, quantity, invested }: LegacyHolding): z.output<typeof HoldingBody> => ({
  player,
  quantity: decimal(quantity),
  averagePrice: decimal(mulDivNearest(invested, MICROS_PER_UNIT, quantity)),
  invested: decimal(invested),
})
