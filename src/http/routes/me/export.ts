/** `GET /api/me/export`. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { MINUTE_MS } from '../../../../actors/kernel/world.ts'
import { answerWith, errors, fail, type HttpEnv, UNAUTHORIZED } from '../../answers.ts'
import { SIGNED_IN } from '../../error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../gates.ts'
import { Downloads } from '../../downloads.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { json } from '../../schemas.ts'

const Rows = z.array(z.record(z.string(), z.unknown()))
const ExportBody = z
  .object({
    exportedAt: z.string().openapi({ format: 'date-time', example: '2026-05-02T14:30:00.000Z' }),
    profile: Rows.openapi({ example: [{ username: 'ada_l', email: 'ada@touchline.example' }] }),
  })
  .catchall(Rows)
  .openapi('Export')

/** A document is everything of a user, so a process sends a few at a time. It may be long, and its reader slow. */
const DOWNLOADS = { together: 8, perOwner: 2, withinMs: 10 * MINUTE_MS }
const RETRY_AFTER_SECS = 5

const route = createRoute({
  method: 'get',
  path: '/api/me/export',
  tags: ['Session'],
  summary: 'Download everything about the caller',
  description:
    'One JSON document with a list for each kind of record, as it is stored: profile, sessions, wallets, ledger, ' +
    'positions, account events, notifications, activity, achievements, career, referrals, and the entries of the audit ' +
    'log that concern the caller. Amounts are in units. It is sent as it is read: if the connection breaks, the ' +
    'document is not complete JSON, and a trade made meanwhile may be in one list and not in another. The wallets ' +
    'include the ledger up to the `marker` that the main wallet has as `events`.',
  security: BROWSER_SECURITY,
  responses: { 200: json(ExportBody, 'A file to download.'), ...errors(...SIGNED_IN, 'BUSY') },
})

export function exportMyData(
  { accounts, personal, sessions, world }: Pick<HttpDeps, 'accounts' | 'personal' | 'sessions' | 'world'>,
  gates: Gates,
) {
  const downloads = new Downloads(DOWNLOADS)
  return new OpenAPIHono<HttpEnv>().openapi({ ...route, middleware: gates.signedIn }, async (c) => {
    const { userId, sid } = c.var.caller
    const user = await accounts.find(userId)
    if (user === null) return fail(c, UNAUTHORIZED)
    const at = timestamp(world.now())
    const begun = await downloads.begin(c, {
      owner: userId,
      chunks: () => documentOf(at, personal.pages(userId), async () => (await sessions.livingAmong([sid])).has(sid)),
    })
    if (begun === null) return fail(c, answerWith('BUSY', { retryAfterSecs: RETRY_AFTER_SECS }))
    c.header('Content-Type', 'application/json; charset=utf-8')
    c.header('Content-Disposition', `attachment; filename="touchline-${user.username}-${at.slice(0, 10)}.json"`)
    c.header('Cache-Control', 'no-store')
    // The stream is the document that the schema describes.
    return c.body(begun.body, 200) as never
  })
}

/** The document in pieces: a page of rows at a time. Aborted once its session has ended. */
async function* documentOf(
  at: string,
  pages: ReturnType<HttpDeps['personal']['pages']>,
  mayGoOn: () => Promise<boolean>,
): AsyncGenerator<string> {
  yield `{"exportedAt":${JSON.stringify(at)}`
  let open: string | null = null
  for await (const { section, rows } of pages) {
    if (!(await mayGoOn())) throw new Error('the session has ended')
    const text = rows.map((row) => JSON.stringify(row)).join(',\n')
    if (section !== open) yield `${open === null ? '' : '\n]'},\n${JSON.stringify(section)}:[\n${text}`
    // The last page of a section that fills its pages is empty.
    else if (rows.length > 0) yield `,\n${text}`
    open = section
  }
  yield `${open === null ? '' : '\n]'}}\n`
}
