/** `POST /api/admin/positions/{id}/void`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { present } from '../../../actors/kernel/assert.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import { voidErrors } from './errors.ts'
import type { IntegrityPorts } from './risk-routes.ts'
import type { VoidOutcome } from './voids.ts'
import { answerWith, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { commandId } from '../../http/command-ids.ts'
import { BODY, FRESH_ADMIN } from '../../http/error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../http/gates.ts'
import { fieldsBody, KeyHeader, PositionIdInput, reasonInput } from '../../http/inputs.ts'
import { positionJson } from '../../http/json.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json, PositionBody, userIdText } from '../../http/schemas.ts'

const VoidBody = z
  .object({
    position: PositionBody,
    userId: userIdText,
    reason: z.string().openapi({ example: 'Opened just before a goal, from beside the pitch' }),
    realizedPnl: z
      .number()
      .nullable()
      .openapi({ description: 'What it had realised, which no longer counts; null if it was open.', example: 41.25 }),
    shortfall: z.number().openapi({
      description: 'The part of a profit that the wallet could not give back; the house bears it.',
      example: 0,
    }),
  })
  .openapi('PositionVoid')

const route = createRoute({
  method: 'post',
  path: '/api/admin/positions/{id}/void',
  operationId: 'voidPosition',
  tags: ['Admin'],
  summary: 'Void a position',
  description:
    'An open position is closed at its open price: the margin is given back and nothing else. A closed one, however ' +
    'old, is rebooked to a profit of 0: a profit is taken back as far as the wallet has it, a loss is given back. A ' +
    'position that was closed in parts is voided part by part, and a part only once the rest is closed; a void rest ' +
    'leaves closed parts booked. Either way it counts in no career, board or draw that is not decided yet, and its ' +
    'owner is told the reason. It cannot be undone. A retry with the same `Idempotency-Key` gets the first answer. ' +
    'Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    headers: KeyHeader,
    params: z.object({ id: PositionIdInput }),
    body: fieldsBody({ reason: reasonInput }),
  },
  responses: {
    200: json(VoidBody, 'Void. With `Idempotent-Replayed: true`, by an earlier request with the same key.'),
    ...voidErrors.responses(...FRESH_ADMIN, ...BODY, 'NOT_FOUND', 'POSITION_VOID', 'REST_OPEN', 'KEY_REUSED', 'BUSY'),
  },
})

function refusalOf(kind: Exclude<VoidOutcome['kind'], 'voided'>) {
  switch (kind) {
    case 'unknown':
      return notFound('position')
    case 'void':
      return voidErrors.answer('POSITION_VOID')
    case 'rest_open':
      return voidErrors.answer('REST_OPEN')
    case 'key_reused':
      return answerWith('KEY_REUSED')
    case 'busy':
      return answerWith('BUSY', { retryAfterSecs: 1 })
  }
}

/** Refused requests for one position that may have come since its void. */
const AUDITED_AMONG = 100

type Deps = IntegrityPorts & Pick<HttpDeps, 'audit' | 'positions'>

export function adminPositions({ audit, voids, positions }: Deps, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi(
    { ...route, middleware: [gates.freshAdmin, gates.audited('position.void')] as const },
    async (c) => {
      const { id } = c.req.valid('param')
      const { reason } = c.req.valid('json')
      const by = c.var.caller.userId
      const key = c.req.valid('header')['Idempotency-Key']
      const commandKey = key === undefined ? null : commandId(by, 'void', key)
      const outcome = await voids.void({ positionId: id, commandId: commandKey, by, reason })
      const action = { actor: by, action: 'position.void', subject: id }
      if (outcome.kind !== 'voided') return fail(c, refusalOf(outcome.kind))
      const { userId, done, repeated } = outcome
      const body = {
        position: positionJson(present(await positions.find(userId, id), 'position')),
        userId,
        reason: done.reason,
        realizedPnl: done.pnl === null ? null : decimal(done.pnl),
        shortfall: decimal(done.shortfall),
      }
      if (repeated) c.header('Idempotent-Replayed', 'true')
      // A closed one is audited as it is rebooked. The request that voided an open one may have had no answer.
      const isAudited = async (): Promise<boolean> =>
        (await audit.list(AUDITED_AMONG, null, { action: action.action, subject: id })).some(
          (one) => one.outcome === 'ok',
        )
      if (!(await isAudited())) {
        const { realizedPnl, shortfall } = body
        const words = { field: 'reason', about: userId, words: body.reason } as const
        await audit.record({ ...action, before: { userId, realizedPnl }, after: { shortfall }, words })
      }
      return c.json(body, 200)
    },
  )
}
