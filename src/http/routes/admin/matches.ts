/** `POST /api/admin/matches/{id}/end`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Ended } from '../../../../rooms/cluster/protocol.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { BODY, FRESH_ADMIN } from '../../error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { auditReason, fieldsBody, FixtureIdInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const outcome = z.enum(['settle', 'void']).openapi({
  description: '`settle`: close at the current prices. `void`: give every margin back.',
})

const route = createRoute({
  method: 'post',
  path: '/api/admin/matches/{id}/end',
  tags: ['Admin'],
  summary: 'End a match that does not end on its own',
  description:
    'For a fixture whose match data has stopped permanently. Open positions are settled at the current prices; with ' +
    '`outcome: "void"` every margin is given back instead. It cannot be undone. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }), body: fieldsBody({ outcome, reason: auditReason }) },
  responses: {
    200: json(z.object({ matchId: z.int().openapi({ example: 19_155_071 }), outcome }), 'Settlement has begun.'),
    ...errors(...FRESH_ADMIN, ...BODY, 'NOT_FOUND', 'MATCH_OVER', 'BUSY'),
  },
})

function refusalOf(ended: Ended) {
  if (ended === 'unknown') return notFound('match')
  if (ended === 'over') return answerWith('MATCH_OVER')
  // The process that owns the match did not answer: it may have ended it.
  return ended === 'elsewhere' ? answerWith('BUSY', { retryAfterSecs: 1 }) : null
}

/** The audit log's outcome of an end whose answer was lost. */
const UNKNOWN = 'UNKNOWN_OUTCOME'

export function endMatch({ audit, catalogue, desk }: Pick<HttpDeps, 'audit' | 'catalogue' | 'desk'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.freshAdmin }, async (c) => {
    const { id } = c.req.valid('param')
    const { outcome: after, reason } = c.req.valid('json')
    const actor = c.var.caller.userId
    const action = { actor, action: 'match.end', subject: String(id), before: null, after, reason }
    const ending = after === 'void' ? 'void' : 'full_time'
    const ended = await desk.ask('end', { matchId: id, ending }).catch(async (error: unknown) => {
      await audit.record({ ...action, outcome: UNKNOWN })
      throw error
    })
    const refusal = refusalOf(ended)
    // An earlier request may have ended it, and had no answer: then this one is the first to know.
    const isOurs = async () => {
      const [last] = await audit.list(1, null, { action: action.action, subject: action.subject })
      const wasAsked = last?.outcome === UNKNOWN && last.after === after
      return wasAsked && (await catalogue.match(id))?.settling === ending
    }
    if (ended === 'over' && (await isOurs())) {
      await audit.record(action)
      return c.json({ matchId: id, outcome: after }, 200)
    }
    await audit.record({ ...action, outcome: ended === 'elsewhere' ? UNKNOWN : (refusal?.code ?? 'ok') })
    return refusal === null ? c.json({ matchId: id, outcome: after }, 200) : fail(c, refusal)
  })
}
