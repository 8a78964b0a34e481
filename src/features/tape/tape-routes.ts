/** `/api/public/tape`: what matches have made public of themselves, for anyone to check. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { answerWith, errors, fail, type HttpEnv, notFound } from '../../http/answers.ts'
import { keptFor, matches } from '../../http/caching.ts'
import { addressOf } from '../../http/client-address.ts'
import { Downloads } from '../../http/downloads.ts'
import { INPUT } from '../../http/error-codes.ts'
import { PUBLIC_SECURITY } from '../../http/gates.ts'
import { FixtureIdInput } from '../../http/inputs.ts'
import type { FixtureId } from '../../../actors/kernel/ids.ts'
import { instant } from '../../../actors/kernel/world.ts'
import { canComeBack } from '../../../actors/match/new-playing.ts'
import type { PublicTape } from '../../../db/public-tape.ts'
import type { HttpDeps } from '../../http/ports.ts'
import { json } from '../../http/schemas.ts'

/** Downloads of one process at a time, and of one address. */
const [TOGETHER_MAX, PER_ADDRESS_MAX] = [16, 4]
const BUSY = answerWith('BUSY', { retryAfterSecs: 2 })
/** Nothing of an ended match changes, unless it was void and is played again. */
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
    'Lines of JSON up to a checkpoint, one of which is made each minute: what the match was asked, and what ' +
    'followed. Up to the newest one that is at least `watch.delay_secs` old; of a match that settled so long ago, ' +
    'all. Each has the hash of the one before, and names positions by pseudonyms. `docs/tape.md` describes them; ' +
    '`npm run verify` checks them. The tape of an ended match never changes; that of a void ' +
    'one goes on if it is played again.',
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
  description:
    'Signatures over the tape as it was, one a minute while it grew, and one at its end: those that are at ' +
    'least `watch.delay_secs` old, and all of a match that settled so long ago.',
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
    'The payloads behind the digests on its tape, as lines of JSON. With them anyone can derive every price again. ' +
    'Available `watch.delay_secs` after the settlement: of bundled recordings and tournaments always, of other ' +
    'matches if the setting `tape.recordings` is on.',
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
  /** Whether anyone may download what a match heard. */
  readonly isRecordingOpen: (matchId: FixtureId) => Promise<boolean>
}

type Deps = TapePorts & Pick<HttpDeps, 'recordings' | 'watching' | 'world' | 'trustedProxies'>

/** How long a client may keep what it was sent. */
interface Kept {
  readonly etag: string
  readonly forHowLong: string
}

export function publicTape({ tapes, isRecordingOpen, recordings, watching, world, trustedProxies }: Deps) {
  const downloads = new Downloads({ together: TOGETHER_MAX, perOwner: PER_ADDRESS_MAX })
  /** Lines of JSON, packed as the client accepts; 304 to one that has them. */
  const send = async (c: Context<HttpEnv>, { etag, forHowLong }: Kept, chunks: () => AsyncGenerator<string>) => {
    const isKnown = matches(c, etag)
    const owner = addressOf(c, trustedProxies)
    const begun = isKnown ? null : await downloads.beginPacked(c, { owner, chunks })
    if (begun === null && !isKnown) return fail(c, BUSY)
    keptFor(c, forHowLong)
    c.header('ETag', etag)
    if (begun !== null) return c.body(begun.body, 200, { 'Content-Type': 'application/x-ndjson' })
    c.header('Vary', 'Accept-Encoding', { append: true })
    return c.body(null, 304)
  }
  /** The newest instant of a match that may be seen from outside. */
  const shownUntil = () => instant(world.now() - watching.delayMs)
  return new OpenAPIHono<HttpEnv>()
    .openapi(keys, async (c) => c.json({ keys: [...(await tapes.keys())] }, 200))
    .openapi(tape, async (c) => {
      const { id } = c.req.valid('param')
      const last = await tapes.last(id, shownUntil())
      if (last === null) return fail(c, notFound('tape'))
      const kept = { etag: `W/"${last.hash}"`, forHowLong: last.isEnd ? FOR_EVER : A_WHILE }
      return send(c, kept, () => tapes.lines(id, last.n))
    })
    .openapi(checkpoints, async (c) => {
      const { id } = c.req.valid('param')
      const last = await tapes.last(id, shownUntil())
      const found = last === null ? [] : (await tapes.checkpoints(id)).filter(({ n }) => n <= last.n)
      return found.length === 0 ? fail(c, notFound('tape')) : c.json({ checkpoints: found }, 200)
    })
    .openapi(recording, async (c) => {
      const info = await recordings.find(c.req.valid('param').id)
      const isSeen = info?.settledAt !== undefined && info.settledAt !== null && info.settledAt <= shownUntil()
      if (info === null || !isSeen || !(await isRecordingOpen(info.matchId))) return fail(c, notFound('recording'))
      const etag = `W/"recording-${info.matchId}-${info.settledAt}"`
      const kept = { etag, forHowLong: canComeBack(info) ? A_WHILE : FOR_EVER }
      return send(c, kept, () => recordings.lines(info))
    })
}
