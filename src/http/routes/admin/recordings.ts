/** `/api/admin/recordings`: ended matches, with everything that they heard. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { fixtureId } from '../../../../actors/kernel/ids.ts'
import type { RecordedMatch } from '../../../../db/recordings.ts'
import { RecordingBody } from '../../admin-schemas.ts'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../answers.ts'
import { ADMIN, INPUT } from '../../error-codes.ts'
import { ADMIN_READ_SECURITY, type Gates } from '../../gates.ts'
import { cursorsOf, nextCursor } from '../../cursors.ts'
import { Downloads, packer } from '../../downloads.ts'
import { FixtureIdInput, limitInput } from '../../inputs.ts'
import { timestamp } from '../../json.ts'
import type { HttpDeps } from '../../ports.ts'
import { PricePathBody } from '../../recording-schema.ts'
import { json } from '../../schemas.ts'

const cursors = cursorsOf('recordings', z.tuple([z.int().min(1)]), [19_155_071])

const list = createRoute({
  method: 'get',
  path: '/api/admin/recordings',
  tags: ['Admin'],
  summary: 'Ended matches that can be downloaded as recordings',
  description:
    'Every settled match, as long as its journal is kept (`retention.journal_days`), the highest number first. A match ' +
    'is listed as soon as it is settled.',
  security: ADMIN_READ_SECURITY,
  request: { query: z.object({ limit: limitInput(50), cursor: cursors.input }) },
  responses: {
    200: json(
      z.object({
        recordings: z.array(RecordingBody),
        nextCursor,
      }),
      'A page of recordings.',
    ),
    ...errors(...ADMIN, ...INPUT),
  },
})

const download = createRoute({
  method: 'get',
  path: '/api/admin/recordings/{id}',
  tags: ['Admin'],
  summary: 'Download a recording',
  description:
    'Lines of JSON, compressed with brotli. The first line is the head, with the prices at which players started, by ' +
    'player id. Each other line is something that the match heard, in order: the rules and the price model in force ' +
    '(`rules`), an update with the payload of the provider and the time at which it was heard (`update`), time that ' +
    'had an effect (`clock`), or an end by an operator (`end`). `n` numbers the commits and `epoch` the owners. ' +
    'The tool `provider-mock` plays it. Writes an audit entry.',
  security: ADMIN_READ_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: {
    200: {
      description: 'The recording.',
      content: {
        'application/octet-stream': { schema: z.string().openapi({ format: 'binary', example: 'brotli data' }) },
      },
    },
    ...errors(...ADMIN, ...INPUT, 'NOT_FOUND', 'BUSY'),
  },
})

const RETRY_AFTER_SECS = 5

const chart = createRoute({
  method: 'get',
  path: '/api/admin/recordings/{id}/chart',
  tags: ['Admin'],
  summary: 'A small price chart of an ended match',
  description: 'The base prices of the three players that moved the most, at equal intervals.',
  security: ADMIN_READ_SECURITY,
  request: { params: z.object({ id: FixtureIdInput }) },
  responses: {
    200: json(z.object({ chart: z.array(PricePathBody) }), 'The price paths.'),
    ...errors(...ADMIN, ...INPUT, 'NOT_FOUND'),
  },
})

export function adminRecordings({ recordings, audit }: Pick<HttpDeps, 'recordings' | 'audit'>, gates: Gates) {
  const downloads = new Downloads({ together: 4, perOwner: 2 })
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware: gates.admin }, async (c) => {
      const { limit, cursor } = c.req.valid('query')
      const before = cursor === undefined ? null : fixtureId(cursor[0])
      const page = cursors.page(await recordings.list(limit + 1, before), limit, ({ info }) => [info.matchId])
      return c.json({ recordings: page.rows.map(recordingJson), nextCursor: page.nextCursor }, 200)
    })
    .openapi({ ...chart, middleware: gates.admin }, async (c) => {
      const info = await recordings.find(c.req.valid('param').id)
      if (info === null) return fail(c, notFound('match'))
      const paths = await recordings.chart(info)
      return c.json({ chart: paths.map(({ name, prices }) => ({ name, prices: [...prices] })) }, 200)
    })
    .openapi({ ...download, middleware: gates.admin }, async (c) => {
      const info = await recordings.find(c.req.valid('param').id)
      if (info === null) return fail(c, notFound('match'))
      const [actor, subject] = [c.var.caller.userId, String(info.matchId)]
      const begun = await downloads.begin(c, {
        owner: actor,
        first: () => audit.record({ actor, action: 'recording.download', subject, before: null, after: null }),
        chunks: () => recordings.lines(info),
        packing: packer('br'),
      })
      if (begun === null) return fail(c, answerWith('BUSY', { retryAfterSecs: RETRY_AFTER_SECS }))
      c.header('Content-Type', 'application/octet-stream')
      c.header('Content-Disposition', `attachment; filename="match-${info.matchId}.jsonl.br"`)
      return c.body(begun.body, 200)
    })
}

const recordingJson = ({ info, commits, bytes }: RecordedMatch): z.output<typeof RecordingBody> => ({
  matchId: info.matchId,
  name: info.name,
  startsAt: timestamp(info.startsAt),
  home: { name: info.home.name, score: info.home.goals },
  away: { name: info.away.name, score: info.away.goals },
  replay: info.replay,
  events: info.events.filter(({ retracted }) => !retracted).length,
  commits,
  bytes,
})
