/** `GET /api/positions/{id}/proof`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { READ_SECURITY, type Gates } from '../../http/gates.ts'
import type { TapePorts } from './tape-routes.ts'
import { json } from '../../http/schemas.ts'
import { IdPath } from '../../http/routes/positions/order.ts'

const ProofBody = z
  .object({
    matchId: z.int().openapi({ example: 19_155_071 }),
    positionId: z.string().openapi({ example: '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0b' }),
    userId: z.string().openapi({ example: '0197f2a0-77aa-7b31-9d44-5c6d7e8f9a0c' }),
    n: z.int().openapi({ description: 'The line of the tape that opens the position.', example: 812 }),
    salt: z.string().openapi({ description: 'Known to the owner alone.', example: '5d41402abc4b2a76' }),
  })
  .openapi('PositionProof')

const route = createRoute({
  method: 'get',
  path: '/api/positions/{id}/proof',
  operationId: 'getPositionProof',
  tags: ['Trading'],
  summary: "What proves to others which position on a tape is the caller's",
  description:
    'The tape of a match names no user. With this its owner can show which lines are theirs: their fills, what their ' +
    'levels were, and what they earned. `npm run verify` takes it as `--position`. A reader of it learns who the owner ' +
    'is, so it is up to them to show it.',
  security: READ_SECURITY,
  request: { params: IdPath },
  responses: { 200: json(ProofBody, 'The proof.'), ...errors(...SIGNED_IN, ...INPUT, 'NOT_FOUND') },
})

export function provePosition({ tapes }: TapePorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const proof = await tapes.proofOf(c.var.caller.userId, c.req.valid('param').id)
    return proof === null ? fail(c, notFound('proof')) : c.json(proof, 200)
  })
}
