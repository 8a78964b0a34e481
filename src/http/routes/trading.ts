/** Positions and the wallet (specification 4.3): text becomes a command, an outcome becomes an answer. No rule lives here. */
import { hash } from 'node:crypto'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { KEY_LENGTH_MAX } from '../../../actors/kernel/limits.ts'
import { lots, price } from '../../../actors/kernel/micros.ts'
import type { Refusal, Refused } from '../../../actors/kernel/outcome.ts'
import type { UserId } from '../../../actors/kernel/ids.ts'
import type { IdempotencyKey, KeyedRoute, Trade } from '../../../actors/match/messages.ts'
import { commandId } from '../command-ids.ts'
import { type Answer, answerTo, ErrorBody, errors, fail, type RefusalStatus, UNAUTHORIZED } from '../answers.ts'
import { BODY, INPUT, SIGNED_IN } from '../error-codes.ts'
import { ACCESS_SECURITY, type Gates, type SignedInEnv } from '../gates.ts'
import { ledgerEntryJson, positionJson, quoteJson, walletJson } from '../json.ts'
import type { HttpDeps } from '../ports.ts'
import {
  decimalInput,
  InstrumentIdInput,
  json,
  PositionBody,
  PositionIdInput,
  timestampText,
  TradeBody,
  WalletBody,
} from '../schemas.ts'

/** Says that an answer is the stored one of an earlier request. */
const REPLAYED = 'Idempotent-Replayed'

const priceInput = decimalInput(price, z.number().positive())
const lotsInput = decimalInput(lots, z.number().nonnegative())
const level = priceInput.nullable().openapi({ description: 'A price, or null for none.' })

const Key = z
  .string()
  .min(1)
  .max(KEY_LENGTH_MAX)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
  .openapi({ description: 'A retry with the same key and body gets the first answer again.', example: 'b7f0c1d2' })
const KeyHeader = z.object({ 'Idempotency-Key': Key.optional() })

const Order = z.object({
  instrumentId: InstrumentIdInput,
  direction: z.enum(['long', 'short']),
  lotSize: lotsInput.openapi({ example: 0.5 }),
  stopLoss: level.optional(),
  takeProfit: level.optional(),
})
const OpenOrder = Order.extend({
  clientPrice: priceInput.openapi({ description: 'The price the client saw.' }),
})

const open = createRoute({
  method: 'post',
  path: '/api/positions/open',
  tags: ['Trading'],
  summary: 'Open a position',
  description:
    'Fills at the price after its own impact, debits the margin (price × lots × 5 ÷ 10), and may be closed after the ' +
    'hold of 180 seconds. A retry with the same `Idempotency-Key` and body gets the first answer again and opens ' +
    'nothing.',
  security: ACCESS_SECURITY,
  request: {
    headers: KeyHeader,
    body: { required: true, content: { 'application/json': { schema: OpenOrder } } },
  },
  responses: {
    201: json(TradeBody, 'Opened. With `Idempotent-Replayed: true`, by an earlier request with the same key.'),
    ...errors(
      ...SIGNED_IN,
      ...BODY,
      'NOT_FOUND',
      'MARKET_CLOSED',
      'MARKET_SUSPENDED',
      'PRICE_MOVED',
      'KEY_IN_FLIGHT',
      'KEY_REUSED',
      'LOT_SIZE_INVALID',
      'LEVELS_INVALID',
      'POSITION_LIMIT',
      'INSUFFICIENT_MARGIN',
      'BUSY',
      'UNKNOWN_OUTCOME',
    ),
  },
})

const list = createRoute({
  method: 'get',
  path: '/api/positions',
  tags: ['Trading'],
  summary: "The caller's positions, latest opened first",
  description:
    'Open ones are valued at the current price of their instruments, closed ones at the price they closed at. A page holds ' +
    'all that a user may have open, unless operators have raised that limit.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      status: z.enum(['open', 'closed', 'all']).default('open'),
      limit: z.coerce.number().int().min(1).max(100).default(100),
      offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
    }),
  },
  responses: {
    200: json(z.object({ positions: z.array(PositionBody) }), 'A page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

const IdPath = z.object({ id: PositionIdInput })

const change = createRoute({
  method: 'patch',
  path: '/api/positions/{id}',
  tags: ['Trading'],
  summary: 'Change stop-loss and take-profit of an open position',
  description:
    'A level left out stays, null removes it. A long position asks for stop-loss < price < take-profit, a short one ' +
    'for the reverse.',
  security: ACCESS_SECURITY,
  request: {
    params: IdPath,
    body: {
      required: true,
      content: {
        'application/json': { schema: z.object({ stopLoss: level.optional(), takeProfit: level.optional() }) },
      },
    },
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

const close = createRoute({
  method: 'post',
  path: '/api/positions/{id}/close',
  tags: ['Trading'],
  summary: 'Close a position',
  description:
    'Possible once the hold is over. Fills at the published price and pays back the margin plus the realised PnL, ' +
    'never less than nothing. The hold binds the caller alone: levels, washout and full time close at any time.',
  security: ACCESS_SECURITY,
  request: {
    params: IdPath,
    headers: KeyHeader,
    body: {
      content: {
        'application/json': {
          schema: z.object({
            clientRequestId: Key.optional().openapi({ description: 'The key when there is no header.' }),
          }),
        },
      },
    },
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

const signed = z.number()

const QuoteBody = z
  .object({
    fillPrice: z.number().openapi({ description: 'Its own impact included.' }),
    impact: signed.openapi({ description: 'Fill price − current price.' }),
    currentPrice: z.number(),
    margin: z.number(),
    washoutPrice: z.number().nullable(),
    pnlAtStopLoss: signed.nullable(),
    pnlAtTakeProfit: signed.nullable(),
    maxLotSize: z.number().openapi({ description: 'The most that the free margin pays for.' }),
    refusal: ErrorBody.omit({ requestId: true })
      .nullable()
      .openapi({ description: 'Why opening this now would be refused, or null.', additionalProperties: true }),
  })
  .openapi('Quote')

const quote = createRoute({
  method: 'post',
  path: '/api/positions/quote',
  tags: ['Trading'],
  summary: 'What opening a position would cost, without opening it',
  description:
    'Changes nothing. What would be refused is answered all the same, with the `refusal` beside the figures.',
  security: ACCESS_SECURITY,
  request: { body: { required: true, content: { 'application/json': { schema: Order } } } },
  responses: {
    200: json(QuoteBody, 'As of now.'),
    ...errors(...SIGNED_IN, ...BODY, 'NOT_FOUND', 'MARKET_CLOSED', 'BUSY'),
  },
})

const wallet = createRoute({
  method: 'get',
  path: '/api/wallet',
  tags: ['Trading'],
  summary: "The caller's wallet",
  description:
    '`equity` = `balance` + `unrealizedPnl`; margin in use has left the balance already, so `freeMargin` is the ' +
    'balance.',
  security: ACCESS_SECURITY,
  responses: { 200: json(WalletBody, 'As last committed.'), ...errors(...SIGNED_IN) },
})

const originOf = ({ var: { requestId, trace } }: Context<SignedInEnv>) => ({
  requestId,
  ...(trace === undefined ? {} : { trace }),
})

const LedgerBody = z
  .object({
    entries: z.array(
      z.object({
        kind: z.enum(['grant', 'margin', 'release', 'external_adjustment', 'referral']).openapi({
          description:
            'A starting balance, the margin of an opening, what a close paid (margin plus realised PnL), a change from ' +
            'outside, a referral reward.',
        }),
        amount: signed.openapi({ description: 'What came (or, negative, went).', example: -50 }),
        positionId: z.uuid().nullable(),
        at: timestampText,
      }),
    ),
  })
  .openapi('WalletLedger')

const ledger = createRoute({
  method: 'get',
  path: '/api/wallet/ledger',
  tags: ['Trading'],
  summary: "What was booked on the caller's wallet, the latest first",
  description: 'All entries there are add up to the balance.',
  security: ACCESS_SECURITY,
  request: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(50),
      offset: z.coerce.number().int().min(0).max(1_000_000).default(0),
    }),
  },
  responses: {
    200: json(LedgerBody, 'A page.'),
    ...errors(...SIGNED_IN, ...INPUT),
  },
})

/** What changes positions. */
export function orderRoutes({ desk, positions }: Pick<HttpDeps, 'desk' | 'positions'>, gates: Gates) {
  const refuse = refusing(positions)
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...open, middleware: gates.acting('open') }, async (c) => {
      const order = c.req.valid('json')
      const { instrumentId, direction, lotSize, clientPrice, stopLoss = null, takeProfit = null } = order
      const outcome = await desk.submit({
        kind: 'open_position',
        userId: c.var.caller.userId,
        ...originOf(c),
        instrumentId,
        direction,
        lots: lotSize,
        clientPrice,
        stopLoss,
        takeProfit,
        idempotency: keyOf(c.var.caller.userId, 'open', c.req.valid('header')['Idempotency-Key'], [
          instrumentId,
          direction,
          lotSize,
          clientPrice,
          stopLoss,
          takeProfit,
        ]),
      })
      if (!outcome.ok) return refuse(c, outcome)
      return c.json(tradeJson(c, outcome.value), 201)
    })
    .openapi({ ...change, middleware: gates.acting('change') }, async (c) => {
      const { stopLoss, takeProfit } = c.req.valid('json')
      const positionId = c.req.valid('param').id
      const { userId } = c.var.caller
      const outcome = await desk.submit({
        kind: 'change_levels',
        userId,
        ...originOf(c),
        positionId,
        stopLoss,
        takeProfit,
      })
      if (!outcome.ok) return refuse(c, outcome)
      return c.json(tradeJson(c, outcome.value), 200)
    })
    .openapi({ ...close, middleware: gates.acting('close') }, async (c) => {
      const positionId = c.req.valid('param').id
      const key = c.req.valid('header')['Idempotency-Key'] ?? c.req.valid('json').clientRequestId
      const { userId } = c.var.caller
      const idempotency = keyOf(userId, 'close', key, [positionId])
      const outcome = await desk.submit({
        kind: 'close_position',
        userId,
        ...originOf(c),
        positionId,
        idempotency,
      })
      if (!outcome.ok) return refuse<404 | 409 | 503>(c, outcome)
      return c.json(tradeJson(c, outcome.value), 200)
    })
}

/** What looks at positions and the wallet, and changes nothing. */
export function tradingRoutes({ desk, positions, wallets }: HttpDeps, gates: Gates) {
  const refuse = refusing(positions)
  return new OpenAPIHono<SignedInEnv>()
    .openapi({ ...list, middleware: gates.signedIn }, async (c) => {
      const held = await positions.list(c.var.caller.userId, c.req.valid('query'))
      return c.json({ positions: held.map(({ position, currentPrice }) => positionJson(position, currentPrice)) }, 200)
    })
    .openapi({ ...quote, middleware: gates.signedIn }, async (c) => {
      const { instrumentId, direction, lotSize, stopLoss = null, takeProfit = null } = c.req.valid('json')
      const held = await wallets.find(c.var.caller.userId)
      const means = { available: held?.balance ?? null, openPositions: held?.openPositions ?? null }
      const query = { instrumentId, direction, lots: lotSize, stopLoss, takeProfit, ...means }
      const outcome = await desk.quote(query)
      if (!outcome.ok) return refuse<404 | 409 | 503>(c, outcome)
      const { refusal } = outcome.value
      return c.json({ ...quoteJson(outcome.value), refusal: refusal === null ? null : refusalJson(refusal) }, 200)
    })
    .openapi({ ...wallet, middleware: gates.signedIn }, async (c) => {
      const held = await wallets.find(c.var.caller.userId)
      if (held === null) return fail(c, UNAUTHORIZED) // a token may outlive its user
      return c.json(walletJson(held), 200)
    })
    .openapi({ ...ledger, middleware: gates.signedIn }, async (c) => {
      const entries = await wallets.ledger(c.var.caller.userId, c.req.valid('query'))
      return c.json({ entries: entries.map(ledgerEntryJson) }, 200)
    })
}

/**
 * Answers a refusal; one about a closed position brings the position along. Which of them a route can come to is what it
 * says itself: the tests hold every answer against its description.
 */
const refusing =
  (positions: HttpDeps['positions']) =>
  async <Status extends RefusalStatus>(c: Context<SignedInEnv>, { refusal, repeated }: Refused) => {
    if (repeated) c.header(REPLAYED, 'true')
    const answer = answerTo(refusal) as Answer<Status>
    if (refusal.code !== 'position_not_open') return fail(c, answer)
    const held = await positions.find(c.var.caller.userId, refusal.positionId)
    const facts = held === null ? answer.facts : { position: positionJson(held.position, held.currentPrice) }
    return fail(c, { ...answer, ...(facts === undefined ? {} : { facts }) })
  }

function tradeJson(c: Context, trade: Trade): z.output<typeof TradeBody> {
  if (trade.repeated) c.header(REPLAYED, 'true')
  return { position: positionJson(trade.position, trade.price), wallet: walletJson(trade.wallet) }
}

function refusalJson(refusal: Refusal) {
  const { error, code, facts } = answerTo(refusal)
  return { ...facts, error, code }
}

/** The key with a digest (128 bits) of the request in canonical form: fields in fixed order, quantities in micros. */
function keyOf(
  user: UserId,
  route: KeyedRoute,
  key: string | undefined,
  request: readonly (string | number | null)[],
): IdempotencyKey | null {
  if (key === undefined) return null
  return {
    id: commandId(user, route, key),
    fingerprint: hash('sha256', JSON.stringify(request), 'base64url').slice(0, 22),
  }
}
