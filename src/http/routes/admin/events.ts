/** `GET /api/admin/events`: what happened to positions and matches, as a stream that can be resumed. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { SECOND_MS } from '../../../../actors/kernel/world.ts'
import { answerWith, errors, fail, type HttpEnv, invalid } from '../../answers.ts'
import { Downloads } from '../../downloads.ts'
import { ADMIN, INPUT } from '../../error-codes.ts'
import { FOLLOW_MS, STREAM_START } from '../../event-feed.ts'
import { BEYOND_END, EVENT_TYPES, eventCursors } from '../../event-lines.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import { limitInput } from '../../inputs.ts'
import type { HttpDeps } from '../../ports.ts'

const EXAMPLE =
  '{"id":"19155071/40/0","type":"position.opened","cursor":"NGQwMWY0ZmFbMzEyLDQxLDBd","matchId":19155071,' +
  '"at":"2026-05-02T14:00:00.000Z","userId":"0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f","purse":"main"}'

/** Its type names no media type: one that ends in `json` would have to be answered with an object. */
const LINES: Readonly<Record<string, { readonly schema: z.ZodString }>> = {
  'application/x-ndjson': { schema: z.string().openapi({ example: EXAMPLE }) },
}

const events = createRoute({
  method: 'get',
  path: '/api/admin/events',
  tags: ['Admin'],
  summary: 'Stream what happens to positions and matches',
  description:
    `Lines of JSON, in order within each match: ${Object.values(EVENT_TYPES)
      .map((type) => `\`${type}\``)
      .join(', ')}. Every line has an \`id\`, and the \`cursor\` after it: sent as \`after\`, the stream continues ` +
    'there, without a gap or a repetition. Without `follow` the answer ends at the newest event; with it, new lines ' +
    'come as they happen, and an empty line when nothing has for 15 seconds, until `limit` lines or five minutes are ' +
    'over, or the session, the key or the role of the caller has ended. An admin may have 2 answers open at a time.',
  security: ADMIN_READ_SECURITY,
  request: {
    query: z.object({
      after: eventCursors.input.openapi({ description: 'The `cursor` of the last line that was read.' }),
      from: z.enum(['oldest', 'latest']).default('oldest').openapi({ description: 'Where to begin without `after`.' }),
      limit: limitInput(1_000, 100_000),
      follow: z.enum(['true', 'false']).default('false'),
    }),
  },
  responses: {
    200: { description: 'The events.', content: LINES },
    ...errors(...ADMIN, ...INPUT),
  },
})

/** Answers that are open at a time: more would read the database all the time. */
const OPEN_MAX = { together: 20, perOwner: 2, withinMs: FOLLOW_MS + 30 * SECOND_MS }
/** A client that is away without a word is noticed after a while; then its place is free. */
const TOO_MANY = answerWith('RATE_LIMITED', { facts: { limit: 'events' }, retryAfterSecs: 60 })

export function adminEvents({ events: feed }: Pick<HttpDeps, 'events'>, gates: Gates) {
  const downloads = new Downloads(OPEN_MAX)
  return new OpenAPIHono<HttpEnv>().openapi({ ...events, middleware: gates.admin }, async (c) => {
    const { after, from, limit, follow } = c.req.valid('query')
    if (after !== undefined && (await feed.isAhead(after))) return fail(c, invalid('after', BEYOND_END))
    const { caller } = c.var
    const begun = await downloads.begin(c, {
      owner: caller.userId,
      chunks: () =>
        feed.lines({
          after: after ?? (from === 'latest' ? 'latest' : STREAM_START),
          limit,
          follow: follow === 'true',
          mayGoOn: () => gates.isStillAdmin(caller),
        }),
    })
    if (begun === null) return fail(c, TOO_MANY)
    c.header('Content-Type', 'application/x-ndjson')
    return c.body(begun.body, 200)
  })
}
