/** `POST /api/positions/{id}/close`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { KEY_LENGTH_MAX } from '../../../../actors/kernel/limits.ts'
import { errors, type HttpEnv } from '../../answers.ts'
import { BODY, SIGNED_IN } from '../../error-codes.ts'
import { TRADE_SECURITY, type Gates } from '../../gates.ts'
import { bodyMayBeEmpty, KeyHeader, optionalBody } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { CloseBody } from '../../close-schema.ts'
import { json } from '../../schemas.ts'
import { closeJson, IdPath, keyOf, lotsInput, originOf, refusing } from './order.ts'
import { strictBody } from '../../unknown-names.ts'

const CloseOrder = strictBody({
  lotSize: lotsInput.optional().openapi({
    description:
      'The part to close, in whole lot steps; the rest is at least one lot step. Absent, or the whole size: all of it.',
    example: 0.25,
  }),
  clientRequestId: z
    .string()
    .min(1)
    .max(KEY_LENGTH_MAX)
    .refine((key) => !/\p{Cc}/u.test(key), 'must not contain control characters')
    .optional()
    .openapi({ description: 'The idempotency key if the header is absent.', example: 'b7f0c1d2' }),
})

const route = createRoute({
  method: 'post',
  path: '/api/positions/{id}/close',
  tags: ['Trading'],
  summary: 'Close a position',
  description:
    'Possible after the hold. Fills at `exitPrice`, the mean of the price over the move that it causes, and ' +
    'pays back the margin plus the realised PnL, never less than 0. With `lotSize` a part is closed: it becomes a ' +
    'closed position of its own (`partOf`), the rest keeps its id, entry, hold and levels, and the margin is shared ' +
    'to the micro, rounded down for the part. Boards, careers and the draw count the position once, when its last ' +
    'part closes, with all parts. The hold binds only the owner: stop-loss, take-profit, washout and full time close ' +
    'at any time. A retry with the same key gets the first answer again. At most 60 in any minute per user.',
  security: TRADE_SECURITY,
  request: {
    params: IdPath,
    headers: KeyHeader,
    body: optionalBody(CloseOrder),
  },
  responses: {
    200: json(CloseBody, 'Closed. With `Idempotent-Replayed: true`, by an earlier request with the same key.'),
    ...errors(
      ...SIGNED_IN,
      ...BODY,
      'NOT_FOUND',
      'MARKET_CLOSED',
      'MARKET_SUSPENDED',
      'COOLDOWN_ACTIVE',
      'POSITION_NOT_OPEN',
      'POSITION_CORRUPT',
      'LOT_SIZE_INVALID',
      'KEY_IN_FLIGHT',
      'KEY_REUSED',
      'BUSY',
      'UNKNOWN_OUTCOME',
    ),
  },
})

export function closePosition({ desk, positions }: Pick<HttpDeps, 'desk' | 'positions'>, gates: Gates) {
  const refuse = refusing(positions)
  return new OpenAPIHono<HttpEnv>().openapi(
    { ...route, middleware: [gates.ordering('close'), bodyMayBeEmpty] as const },
    async (c) => {
      const positionId = c.req.valid('param').id
      const key = c.req.valid('header')['Idempotency-Key'] ?? c.req.valid('json').clientRequestId
      const { userId } = c.var.caller
      const { lotSize: size } = c.req.valid('json')
      const idempotency = keyOf(userId, 'close', key, size === undefined ? [positionId] : [positionId, size])
      const which = { userId, ...originOf(c), positionId, idempotency }
      const outcome = await desk.submit(
        size === undefined ? { kind: 'close_position', ...which } : { kind: 'close_part', ...which, lots: size },
      )
      return outcome.ok ? c.json(closeJson(c, outcome.value), 200) : refuse<404 | 409 | 422 | 503>(c, outcome)
    },
  )
}
