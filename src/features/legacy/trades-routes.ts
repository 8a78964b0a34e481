/** `GET /api/trades`: trades of the former share model. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { legacyTotal, type LegacyTrade } from '../../../actors/community/legacy.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import { errors, type HttpEnv } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import { cursorsOf, instantKey, nextCursor } from '../../http/cursors.ts'
import { limitInput, offsetInput } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import type { Legacy } from './store.ts'
import { json, playerName, timestampText } from '../../http/schemas.ts'

const LegacyTradeBody = z
  .object({
    id: z.string().openapi({ example: '5120' }),
    player: playerName,
    side: z.enum(['buy', 'sell']),
    quantity: z.number().openapi({ description: 'Shares.', example: 10 }),
    price: z.number().openapi({ description: 'Units per share.', example: 124 }),
    total: z.number().openapi({ description: '`quantity × price`.', example: 1_240 }),
    at: timestampText,
  })
  .openapi('LegacyTrade')

const cursors = cursorsOf('trades', z.tuple([instantKey(1_000), z.string().max(100)]), [1_777_730_400_000, '5120'])

const LegacyTradesBody = z
  .object({
    trades: z.array(LegacyTradeBody),
    total: z.int().openapi({ description: 'Trades of the caller on all pages.', example: 1 }),
    nextCursor,
  })
  .openapi('LegacyTrades')

const route = createRoute({
  method: 'get',
  path: '/api/trades',
  operationId: 'listLegacyTrades',
  tags: ['Legacy'],
  summary: "The caller's trades of the former share model, newest first",
  description: 'Read-only: the share model was replaced by positions, and no trades are added.',
  security: READ_SECURITY,
  request: { query: z.object({ limit: limitInput(50), cursor: cursors.input, offset: offsetInput() }) },
  responses: {
    200: json(LegacyTradesBody, 'One page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

export interface LegacyPorts {
  readonly legacy: Pick<Legacy, 'trades' | 'history'>
}

export function legacyTrades({ legacy }: LegacyPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { limit, cursor, offset } = c.req.valid('query')
    const found = await legacy.trades(c.var.caller.userId, { after: cursor, limit: limit + 1, offset })
    const page = cursors.page(found.trades, limit, ({ at, id }) => [at, id])
    return c.json({ trades: page.rows.map(tradeJson), total: found.total, nextCursor: page.nextCursor }, 200)
  })
}

const tradeJson = (trade: LegacyTrade): z.output<typeof LegacyTradeBody> => ({
  id: trade.id,
  player: trade.player,
  side: trade.side,
  quantity: decimal(trade.quantity),
  price: decimal(trade.price),
  total: decimal(legacyTotal(trade)),
  at: timestamp(trade.at),
})
