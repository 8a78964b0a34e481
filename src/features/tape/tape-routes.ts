/** `/api/public/tape`: what matches have made public of themselves, for anybody to check. */
import { type Duplex, PassThrough, pipeline, Readable } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { matches } from '../../http/caching.ts'
import { encodingFor } from '../../http/compression.ts'
import { INPUT } from '../../http/error-codes.ts'
import { PUBLIC_SECURITY } from '../../http/gates.ts'
import { FixtureIdInput } from '../../http/inputs.ts'
import type { PublicTape } from '../../../db/public-tape.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'

/** Downloads of one process at a time. */
const TOGETHER_MAX = 8
const BUSY = answerWith('BUSY', { retryAfterSecs: 2 })
/** Nothing of an ended match changes any more. */
const FOR_EVER = 'public, max-age=31536000, immutable'
/** Until the next checkpoint. */
const A_WHILE = 'public, max-age=10'

const CheckpointBody = z
  .object({
    matchId: z.int().openapi({ example: 19_155_071 }),
    n: z.int().openapi({ description: 'The line that was signed.', example: 4_310 }),
    hash: z.string().openapi({ description: 'Its hash.', example: 'b1946ac92492d2347c6235b4d2611184' }),
    at: z.int().openapi({ description: 'When, in ms.', example: 1_787_410_000_000 }),
    kid: z.string().openapi({ description: 'The key.', example: '9f86d081884c7d65' }),
    signature: z.string().openapi({
      description: 'Ed25519 in base64, over the text of the other members in this order.',
      example: 'k5v0…==',
    }),
  })
  .openapi('TapeCheckpoint')

const params = z.object({ id: FixtureIdInput })
const lines = (description: string) => ({
  description,
  content: {
    'application/x-ndjson': { schema: z.string().openapi({ example: '{"n":1,"prev":"0000…","kind":"match"}' }) },
  },
})

const keys = createRoute({
  method: 'get',
  path: '/api/public/tape/keys',
  operationId: 'getTapeKeys',
  tags: ['Public'],
  summary: 'The keys that sign tapes',
  description: 'All that have ever signed, the newest first: Ed25519 public keys in base64url.',
  security: PUBLIC_SECURITY,
  responses: {
    200: json(
      z.object({
        keys: z.array(
          z
            .object({
              kid: z.string().openapi({ example: '9f86d081884c7d65' }),
              publicKey: z.string().openapi({ example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }),
              since: z.int().openapi({ description: 'In ms.', example: 1_787_410_000_000 }),
            })
            .openapi('TapeKey'),
        ),
      }),
      'The keys.',
    ),
    ...errors(),
  },
})

const tape = createRoute({
  method: 'get',
  path: '/api/public/tape/{id}',
  operationId: 'getTape',
  tags: ['Public'],
  summary: 'The tape of a match',
  description:
    'Lines of JSON up to the last checkpoint, which is a minute old at most: what the match was asked, and what ' +
    'followed. Each has the hash of the one before, and names positions by pseudonyms. `docs/tape.md` describes them; ' +
    '`npm run verify` checks them. The tape of an ended match never changes.',
  security: PUBLIC_SECURITY,
  request: { params },
  responses: {
    200: lines('The tape.'),
    304: { description: 'As the client has it.' },
    ...errors(...INPUT, 'NOT_FOUND', 'BUSY'),
  },
})

const checkpoints = createRoute({
  method: 'get',
  path: '/api/public/tape/{id}/checkpoints',
  operationId: 'getTapeCheckpoints',
  tags: ['Public'],
  summary: 'The checkpoints of a tape',
  description: 'Signatures over the tape as it was, one a minute while it grew, and one at its end.',
  security: PUBLIC_SECURITY,
  request: { params },
  responses: {
    200: json(z.object({ checkpoints: z.array(CheckpointBody) }), 'In the order of their lines.'),
    ...errors(...INPUT, 'NOT_FOUND'),
  },
})

const recording = createRoute({
  method: 'get',
  path: '/api/public/tape/{id}/recording',
  operationId: 'getTapeRecording',
  tags: ['Public'],
  summary: 'What an ended match heard',
  description:
    'The payloads behind the digests on its tape, as lines of JSON. With them anybody can derive every price again. ' +
    'Replays of recordings are open; live matches are if the setting `tape.recordings` says so.',
  security: PUBLIC_SECURITY,
  request: { params },
  responses: {
    200: lines('The recording.'),
    304: { description: 'As the client has it.' },
    ...errors(...INPUT, 'NOT_FOUND', 'BUSY'),
  },
})

export interface TapePorts {
  readonly tapes: Pick<PublicTape, 'last' | 'lines' | 'checkpoints' | 'keys' | 'proofOf'>
  /** Whether anybody may download what live matches heard. */
  readonly areRecordingsOpen: () => boolean
}

type Deps = TapePorts & Pick<HttpDeps, 'recordings'>

export function publicTape({ tapes, areRecordingsOpen, recordings }: Deps) {
  let together = 0
  /** A download, compressed if the client wants, as fast as it reads; null while there are too many. */
  const packed = (c: Context<HttpEnv>, source: AsyncGenerator<string>): ReadableStream<Uint8Array> | null => {
    if (together >= TOGETHER_MAX) return null
    together++
    const encoding = encodingFor(c.req.header('accept-encoding') ?? '')
    const packing = packer(encoding)
    // A failure of the source ends the download early, which the client sees.
    pipeline(Readable.from(source), packing, () => void together--)
    c.header('Content-Type', 'application/x-ndjson')
    c.header('Vary', 'Accept-Encoding')
    if (encoding !== null) c.header('Content-Encoding', encoding)
    return Readable.toWeb(packing)
  }
  return new OpenAPIHono<HttpEnv>()
    .openapi(keys, async (c) => c.json({ keys: [...(await tapes.keys())] }, 200))
    .openapi(tape, async (c) => {
      const { id } = c.req.valid('param')
      const last = await tapes.last(id)
      if (last === null) return fail(c, notFound('tape'))
      c.header('Cache-Control', last.isEnd ? FOR_EVER : A_WHILE)
      const etag = `W/"${last.hash}"`
      c.header('ETag', etag)
      if (matches(c, etag)) return c.body(null, 304)
      const body = packed(c, tapes.lines(id, last.n))
      return body === null ? fail(c, BUSY) : c.body(body, 200)
    })
    .openapi(checkpoints, async (c) => {
      const found = await tapes.checkpoints(c.req.valid('param').id)
      return found.length === 0 ? fail(c, notFound('tape')) : c.json({ checkpoints: [...found] }, 200)
    })
    .openapi(recording, async (c) => {
      const info = await recordings.find(c.req.valid('param').id)
      if (info === null || !(info.replay || areRecordingsOpen())) return fail(c, notFound('recording'))
      const etag = `W/"recording ${info.matchId}"`
      c.header('Cache-Control', FOR_EVER)
      c.header('ETag', etag)
      if (matches(c, etag)) return c.body(null, 304)
      const body = packed(c, recordings.lines(info))
      return body === null ? fail(c, BUSY) : c.body(body, 200)
    })
}

/** A stream that compresses, or passes everything on. */
function packer(encoding: ReturnType<typeof encodingFor>): Duplex {
  if (encoding === null) return new PassThrough()
  if (encoding === 'gzip') return createGzip()
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 } })
}
