/**
 * What the routes of positions share: order fields, idempotency keys, and the answers to a command. No rule lives here.
 */
import { DIRECTIONS } from '../../../../actors/position/position.ts'
import { hash } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { UserId } from '../../../../actors/kernel/ids.ts'
import { lots, MICROS_MAX, MICROS_PER_UNIT } from '../../../../actors/kernel/micros.ts'
import type { Refused } from '../../../../actors/kernel/outcome.ts'
import type { IdempotencyKey, KeyedRoute, Trade } from '../../../../actors/match/messages.ts'
import { type Answer, answerTo, answerWith, fail, type RefusalStatus } from '../../answers.ts'
import { commandId } from '../../command-ids.ts'
import type { SignedInEnv } from '../../gates.ts'
import { comparedPriceInput, decimalInput, InstrumentIdInput, PositionIdInput, purseText } from '../../inputs.ts'
import { levelWarningsJson, positionJson, walletJson } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import type { CloseBody } from '../../close-schema.ts'
import type { TradeBody } from '../../schemas.ts'
import { strictBody } from '../../unknown-names.ts'

/** Marks the stored answer of an earlier request. The name is part of the contract. */
const REPEATED = 'Idempotent-Replayed'

/** No size at all is one that is too small, and one beyond every number too large: the match refuses both. */
export const lotsInput = z
  .number()
  .transform((size) => Math.min(Math.max(size, 0), MICROS_MAX / MICROS_PER_UNIT))
  .pipe(decimalInput(lots))
// Piped: the description of the last release names no highest level (H28).
const level = z
  .number()
  .positive()
  .pipe(comparedPriceInput())
  .nullable()
  .openapi({ description: 'A price with any number of decimals, taken to the nearest millionth, or null for none.' })
export const stopLossInput = level.openapi({ example: 190 }).optional()
export const takeProfitInput = level.openapi({ example: 220 }).optional()

export const Order = strictBody({
  instrumentId: InstrumentIdInput,
  purse: purseText.optional().openapi({
    description:
      'Absent: that of the match, or of its tournament if the caller has entered it. The id of a league: its own.',
    example: 'main',
  }),
  direction: z.enum(DIRECTIONS),
  lotSize: lotsInput.openapi({ example: 0.5 }),
  stopLoss: stopLossInput,
  takeProfit: takeProfitInput,
})

export const IdPath = z.object({ id: PositionIdInput })

/** The request that a command came from, for logs and traces. */
export const originOf = ({ var: { requestId, trace } }: Context<SignedInEnv>) => ({
  requestId,
  ...(trace === undefined ? {} : { trace }),
})

/** The key, with a 128-bit digest of the request in canonical form: fields in fixed order, quantities in micros. */
export function keyOf(
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

export function tradeJson(c: Context, trade: Trade): z.output<typeof TradeBody> {
  if (trade.repeated) c.header(REPEATED, 'true')
  return {
    position: positionJson({ ...trade, currentPrice: trade.price }),
    wallet: walletJson(trade.wallet, trade.position.purse),
    warnings: trade.position.close === null ? levelWarningsJson(trade.position) : [],
  }
}

export const closeJson = (c: Context, trade: Trade): z.output<typeof CloseBody> => ({
  ...tradeJson(c, trade),
  rest: trade.rest === undefined ? null : positionJson({ ...trade.rest, currentPrice: trade.price }),
})

/**
 * Answers a refusal; one about a closed position includes the position. The type of the route says which statuses it
 * may answer with, and the tests check every answer against the description.
 */
export const refusing =
  (positions: HttpDeps['positions']) =>
  async <Status extends RefusalStatus>(c: Context<SignedInEnv>, { refusal, repeated }: Refused) => {
    if (repeated) c.header(REPEATED, 'true')
    const answer = answerTo(refusal) as Answer<Status>
    if (refusal.code !== 'position_not_open') return fail(c, answer)
    const held = await positions.find(c.var.caller.userId, refusal.positionId)
    if (held === null) return fail(c, answer)
    return fail(c, answerWith('POSITION_NOT_OPEN', { facts: { position: positionJson(held) } }) as Answer<Status>)
  }
