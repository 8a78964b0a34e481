/** `/api/admin/uploads`: recordings that operators bring from elsewhere. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { unreachable } from '../../../actors/kernel/assert.ts'
import type { UploadDesk } from './desk.ts'
import { uploadErrors } from './errors.ts'
import type { Upload, Uploads } from './store.ts'
import { answerWith, errors, fail, type HttpEnv, invalid, notFound } from '../../http/answers.ts'
import { ADMIN, CHANGE, INPUT } from '../../http/error-codes.ts'
import { ADMIN_READ_SECURITY, ADMIN_WRITE_SECURITY, type Gates } from '../../http/gates.ts'
import { auditReason } from '../../http/inputs.ts'
import { timestamp } from '../../http/json.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { PricePathBody, RecordedTeam } from '../../http/recording-schema.ts'
import { Places } from '../../http/places.ts'
import { json, timestampText } from '../../http/schemas.ts'

const BUSY = answerWith('BUSY', { retryAfterSecs: 10 })
/** Bodies that are in memory at a time, checked or not: 8 MiB each. */
const PLACES = { together: 4, perOwner: 1 }

const name = z
  .string()
  .regex(/^(?!match-)[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?$/, 'lower-case letters, digits and dashes; not match-…')
  .openapi({ description: 'What it is replayed by, as `fixtureId`.', example: 'old-derby' })

const UploadBody = z
  .object({
    name,
    title: z.string().openapi({ example: 'The derby of last spring' }),
    home: RecordedTeam,
    away: RecordedTeam,
    events: z.int().openapi({ description: 'In-game events of the last update.', example: 31 }),
    minutes: z.int().openapi({ example: 95 }),
    players: z.int().openapi({ example: 44 }),
    updates: z.int().openapi({ example: 571 }),
    bytes: z.int().openapi({ description: 'Compressed.', example: 43_888 }),
    uploadedAt: timestampText,
    chart: z.array(PricePathBody),
  })
  .openapi('Upload')

const list = createRoute({
  method: 'get',
  path: '/api/admin/uploads',
  operationId: 'listUploads',
  tags: ['Admin'],
  summary: 'Recordings that were uploaded',
  description: 'By name, at most 100.',
  security: ADMIN_READ_SECURITY,
  responses: { 200: json(z.object({ uploads: z.array(UploadBody) }), 'All uploads.'), ...errors(...ADMIN) },
})

const upload = createRoute({
  method: 'post',
  path: '/api/admin/uploads',
  operationId: 'uploadRecording',
  tags: ['Admin'],
  summary: 'Upload a recording',
  description:
    'The body is a recording as `GET /api/admin/recordings/{id}` sends it, or one payload of the provider per line: ' +
    'lines of JSON, plain or compressed with gzip or brotli, at most 8 MiB, and 128 MiB unpacked. It is read, checked ' +
    'and played to its end in a thread of its own before it is kept; what is wrong with it is said in `issues`. One ' +
    'upload at a time per process. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: {
    query: z.object({ name }),
    body: {
      required: true,
      content: {
        'application/octet-stream': { schema: z.string().openapi({ format: 'binary', example: 'lines of JSON' }) },
      },
    },
  },
  responses: {
    201: json(UploadBody, 'It is kept, and can be replayed.'),
    ...uploadErrors.responses(
      ...ADMIN,
      ...INPUT,
      ...CHANGE,
      'RECORDING_EXISTS',
      'RECORDING_LIMIT',
      'LENGTH_REQUIRED',
      'BUSY',
    ),
  },
})

const download = createRoute({
  method: 'get',
  path: '/api/admin/uploads/{name}',
  operationId: 'downloadUpload',
  tags: ['Admin'],
  summary: 'Download an upload',
  description: 'Lines of JSON, compressed with brotli: a head, then a payload per line. Writes an audit entry.',
  security: ADMIN_READ_SECURITY,
  request: { params: z.object({ name }) },
  responses: {
    200: {
      description: 'The recording.',
      content: {
        'application/octet-stream': { schema: z.string().openapi({ format: 'binary', example: 'brotli data' }) },
      },
    },
    ...errors(...ADMIN, ...INPUT, 'NOT_FOUND'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/api/admin/uploads/{name}',
  operationId: 'removeUpload',
  tags: ['Admin'],
  summary: 'Remove an upload',
  description: 'Not while a replay of it is under way. Writes an audit entry.',
  security: ADMIN_WRITE_SECURITY,
  request: { params: z.object({ name }), query: z.object({ reason: auditReason }) },
  responses: {
    200: json(z.object({ removed: name }), 'It is removed.'),
    ...uploadErrors.responses(...ADMIN, ...INPUT, ...CHANGE, 'NOT_FOUND', 'RECORDING_PLAYING'),
  },
})

export interface UploadPorts {
  readonly uploads: Pick<Uploads, 'list' | 'find' | 'remove'>
  /** Checks a recording in a thread of its own, and keeps it. */
  readonly uploadDesk: Pick<UploadDesk, 'add'>
}

type Deps = UploadPorts & Pick<HttpDeps, 'audit'>

export function adminUploads({ uploads, uploadDesk, audit }: Deps, gates: Gates) {
  const middleware = gates.admin
  const places = new Places(PLACES)
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...list, middleware }, async (c) => {
      return c.json({ uploads: (await uploads.list()).map(uploadJson) }, 200)
    })
    .openapi({ ...upload, middleware: [middleware, gates.audited('recording.upload')] as const }, async (c) => {
      const by = c.var.caller.userId
      const leave = places.take(by)
      if (leave === null) return fail(c, BUSY)
      const add = async () => {
        const bytes = new Uint8Array(await c.req.arrayBuffer())
        // A body that is held back arrives when its sender may be an admin no more.
        if (!(await gates.isStillAdmin(c.var.caller))) return { kind: 'forbidden' } as const
        return uploadDesk.add({ name: c.req.valid('query').name, bytes, by })
      }
      const outcome = await add().finally(leave)
      switch (outcome.kind) {
        case 'forbidden':
          return fail(c, answerWith('FORBIDDEN'))
        case 'kept':
          return c.json(uploadJson(outcome.upload), 201)
        case 'flawed':
          return fail(c, invalid('body', outcome.flaw))
        case 'exists':
          return fail(c, uploadErrors.answer('RECORDING_EXISTS'))
        case 'full':
          return fail(c, uploadErrors.answer('RECORDING_LIMIT', { facts: { max: outcome.max } }))
        case 'busy':
          return fail(c, BUSY)
        default:
          return unreachable(outcome)
      }
    })
    .openapi({ ...download, middleware }, async (c) => {
      const { name: subject } = c.req.valid('param')
      const found = await uploads.find(subject)
      if (found === null) return fail(c, notFound('recording'))
      const actor = c.var.caller.userId
      // HEAD is told of it, and given nothing.
      if (c.req.method !== 'HEAD')
        await audit.record({ actor, action: 'recording.download', subject, before: null, after: null })
      c.header('Content-Type', 'application/octet-stream')
      c.header('Content-Disposition', `attachment; filename="${subject}.jsonl.br"`)
      return c.body(new Uint8Array(found.data), 200)
    })
    .openapi({ ...remove, middleware: [middleware, gates.audited('recording.delete')] as const }, async (c) => {
      const { name: removed } = c.req.valid('param')
      const outcome = await uploads.remove(removed, c.var.caller.userId, c.req.valid('query').reason)
      if (outcome === 'unknown') return fail(c, notFound('recording'))
      return outcome === 'playing' ? fail(c, uploadErrors.answer('RECORDING_PLAYING')) : c.json({ removed }, 200)
    })
}

const uploadJson = ({ name: known, title, home, away, ...rest }: Upload): z.output<typeof UploadBody> => ({
  name: known,
  title,
  home: { name: home.name, score: home.goals },
  away: { name: away.name, score: away.goals },
  events: rest.events,
  minutes: rest.minutes,
  players: rest.players,
  updates: rest.updates,
  bytes: rest.bytes,
  uploadedAt: timestamp(rest.at),
  chart: rest.chart.map(({ name: player, prices }) => ({ name: player, prices: [...prices] })),
})
