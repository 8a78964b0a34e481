/** `PUT /api/admin/anchors`: what real players are worth over a season. */
import { strictBody } from '../../unknown-names.ts'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { playerId } from '../../../../actors/kernel/ids.ts'
import { price } from '../../../../actors/kernel/micros.ts'
import { answerWith, errors, fail, type HttpEnv, validationFailed } from '../../answers.ts'
import { ADMIN, BODY } from '../../error-codes.ts'
import { ADMIN_WRITE_SECURITY, type Gates } from '../../gates.ts'
import { CSV_TYPE, decimalInput, isPlain, JSON_TYPE } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const ANCHORS_MAX = 2_000
const PRICE_MIN = 10
const PRICE_MAX = 2_000

const AnchorInput = strictBody({
  playerId: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .openapi({ description: "The provider's player id.", example: 37317015 })
    .transform(playerId),
  price: decimalInput(price, z.number().min(PRICE_MIN).max(PRICE_MAX)).openapi({ example: 240 }),
})

const AnchorsInput = strictBody({
  anchors: z
    .array(AnchorInput)
    .min(1)
    .max(ANCHORS_MAX)
    .openapi({ example: [{ playerId: 37317015, price: 240 }] })
    .refine((rows) => new Set(rows.map((row) => row.playerId)).size === rows.length, 'must name each player once'),
})

const CSV_HEAD = 'playerId,price'
const CSV_EXAMPLE = `${CSV_HEAD}\n37317015,240\n129602,185.5\n`

const route = createRoute({
  method: 'put',
  path: '/api/admin/anchors',
  tags: ['Admin'],
  summary: 'Set the season values of players',
  description:
    `Up to ${ANCHORS_MAX} players at once, all or none, as JSON or as CSV with the head \`${CSV_HEAD}\`. An anchor is the price ` +
    'of a player without history, and 40 % of the price that a player with history starts a match at. With n live matches played, ' +
    'the mean base at which they settled replaces it with weight n ÷ (n + 10). It also sets what is ' +
    'expected of the player: more of an expensive one. It counts from the next match in which the player is listed. Writes ' +
    'an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    // Not `required`: the library would then read every body as JSON.
    body: {
      content: {
        'application/json': { schema: AnchorsInput },
        'text/csv': { schema: z.string().openapi({ example: CSV_EXAMPLE }) },
      },
    },
  },
  responses: {
    200: json(z.object({ set: z.int().openapi({ description: 'Players.', example: 2 }) }), 'Set.'),
    ...errors(...ADMIN, ...BODY),
  },
})

export function adminAnchors({ anchors }: Pick<HttpDeps, 'anchors'>, gates: Gates) {
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.admin }, async (c) => {
    const isCsv = isPlain(c.req, CSV_TYPE)
    if (!isCsv && !isPlain(c.req, JSON_TYPE)) return fail(c, answerWith('UNSUPPORTED_MEDIA_TYPE'))
    const read = AnchorsInput.safeParse(isCsv ? rowsOf(await c.req.text()) : await c.req.json<unknown>())
    if (!read.success) return fail(c, validationFailed(read.error))
    // The gate asks again after JSON alone.
    if (isCsv && !(await gates.isStillAdmin(c.var.caller))) return fail(c, answerWith('FORBIDDEN'))
    await anchors.set(new Map(read.data.anchors.map((row) => [row.playerId, row.price])), c.var.caller.userId)
    return c.json({ set: read.data.anchors.length }, 200)
  })
}

/** The rows of a CSV without quotes: two numbers need none. */
function rowsOf(text: string): unknown {
  const [head, ...lines] = text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
  if (head?.trim() !== CSV_HEAD) return { anchors: `must begin with the line ${CSV_HEAD}` }
  return {
    anchors: lines.map((line) => {
      const [player, value, ...more] = line.split(',')
      return more.length > 0 ? line : { playerId: numberIn(player), price: numberIn(value) }
    }),
  }
}

const numberIn = (text: string | undefined): unknown => {
  const trimmed = text?.trim() ?? ''
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : undefined
}
