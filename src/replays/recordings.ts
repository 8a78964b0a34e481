/**
 * Reads recordings of matches, plain or compressed: a line with the title, then one for each payload. A line that is a
 * list is what changed in the line before (`actors/replay/json-patch.ts`): the bundled recordings have such lines, and
 * are read in a third of the time.
 */
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { z } from 'zod'
import type { Recording } from '../../actors/replay/recording.ts'
import { sharing } from '../../actors/replay/sharing.ts'
import { patched } from '../../actors/replay/json-patch.ts'

/** How the text of a recording is packed. */
export type Packing = 'plain' | 'gzip' | 'brotli'

const PACKINGS: Readonly<Record<string, Packing>> = { '.jsonl': 'plain', '.jsonl.gz': 'gzip', '.jsonl.br': 'brotli' }

const MEBIBYTE = 1024 * 1024
/** A match with extra time has 32 MB of text in 834 lines of 57 kB. */
const TEXT_MAX_BYTES = 128 * MEBIBYTE
/** Nine times a line of that match: reading one holds up the process. */
const LINE_MAX_CHARS = MEBIBYTE / 2
const LINES_MAX = 10_000
/** A line or two are unpacked at once: each piece waits for its turn. */
const UNPACKED = { chunkSize: 64 * 1024 } as const
const TITLE_MAX_CHARS = 120
const ANCHORS_MAX = 1_000

/** What is wrong with a recording, for the person who made it. */
export class RecordingFlaw extends Error {
  override name = 'RecordingFlaw'
}

const header = z.object({
  recording: z.object({
    name: z.string().optional(),
    title: z.string().max(TITLE_MAX_CHARS).optional(),
    anchors: z.record(z.string().regex(/^\d{1,15}$/), z.number().positive().max(1_000_000)).optional(),
  }),
})
const named = z.object({ name: z.string() })

/** By the ending of a file's name; null for another file. */
export const packingOf = (path: string): Packing | null => PACKINGS[extensionOf(path) ?? ''] ?? null

const extensionOf = (path: string): string | undefined => Object.keys(PACKINGS).find((ending) => path.endsWith(ending))

/** A downloaded recording has everything that its match heard, of which only the payloads of updates are played. */
const heard = z.object({
  kind: z.enum(['rules', 'update', 'clock', 'end']),
  at: z.int(),
  payload: z.unknown().optional(),
})

function payloadsIn(line: unknown): readonly unknown[] {
  const found = heard.safeParse(line)
  if (!found.success) return [line]
  return found.data.payload === undefined ? [] : [found.data.payload]
}

export interface RecordingFile {
  readonly name: string
  readonly path: string
}

/** The recordings in a directory, by name; empty if the directory does not exist. */
export async function listRecordings(dir: string): Promise<readonly RecordingFile[]> {
  const files = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return files
    .flatMap((file) => {
      const extension = extensionOf(file)
      return extension === undefined ? [] : [{ name: basename(file, extension), path: join(dir, file) }]
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Reads a file, as `readRecording` does. */
export async function loadRecording(path: string): Promise<Recording> {
  const extension = extensionOf(path)
  const packing = packingOf(path)
  if (extension === undefined || packing === null) throw new Error(`not a recording: ${path}`)
  return readRecording(basename(path, extension), createReadStream(path), packing)
}

/**
 * Reads a recording, and unpacks no more of it than one may hold. `name` is used where its head has none. Throws a
 * RecordingFlaw when it is too large, or a line of it cannot be read.
 */
export async function readRecording(
  name: string,
  source: Readable | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  packing: Packing,
): Promise<Recording> {
  const lines = await parseLines(linesIn(unpacked(source, packing)))
  const head = header.safeParse(lines[0])
  if (!head.success && typeof lines[0] === 'object' && lines[0] !== null && 'recording' in lines[0]) {
    throw new RecordingFlaw(`line 1, the head: ${z.prettifyError(head.error)}`)
  }
  const { recording } = head.data ?? { recording: {} }
  if (Object.keys(recording.anchors ?? {}).length > ANCHORS_MAX) {
    throw new RecordingFlaw(`line 1, the head: at most ${ANCHORS_MAX} anchors`)
  }
  const frames = (head.success ? lines.slice(1) : lines).flatMap(payloadsIn)
  const fixture = named.safeParse(frames[0])
  const ownName = recording.name ?? name
  const fixtureName = fixture.success ? fixture.data.name : ownName
  return {
    name: ownName,
    title: recording.title ?? fixtureName,
    fixtureName,
    anchors: recording.anchors ?? {},
    frames,
  }
}

function unpacked(source: Readable | Iterable<Uint8Array> | AsyncIterable<Uint8Array>, packing: Packing): Readable {
  const packed = source instanceof Readable ? source : Readable.from(source)
  if (packing === 'plain') return packed
  const unpacking = packing === 'gzip' ? createGunzip(UNPACKED) : createBrotliDecompress(UNPACKED)
  pipeline(packed, unpacking, () => undefined) // the reader is told of a failure
  return unpacking
}

async function* linesIn(text: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [bytes, rest] = [0, '']
  try {
    for await (const chunk of text as AsyncIterable<Uint8Array>) {
      bytes += chunk.length
      if (bytes > TEXT_MAX_BYTES) throw new RecordingFlaw(`it unpacks to more than ${TEXT_MAX_BYTES / MEBIBYTE} MiB`)
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
      if (rest.length > LINE_MAX_CHARS) throw new RecordingFlaw(`a line has more than ${LINE_MAX_CHARS} characters`)
    }
    const last = rest + decoder.decode()
    if (last !== '') yield last
  } catch (error) {
    if (error instanceof TypeError) throw new RecordingFlaw('it is not text in UTF-8')
    if (!(error instanceof RecordingFlaw) && isPackingError(error)) throw new RecordingFlaw('it cannot be unpacked')
    throw error
  } finally {
    text.destroy()
  }
}

const isPackingError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(Z_|ERR_)/.test(String(error.code))

/** About 20 ms of work. */
const FRAMES_A_TURN = 8

/**
 * A frame repeats most of the one before, so equal parts are kept once: a tenth of the memory. A whole match takes
 * seconds to read, so the loop yields every few frames to the matches in play in this process.
 */
async function parseLines(texts: AsyncIterable<string>): Promise<readonly unknown[]> {
  const lines: unknown[] = []
  let n = 0
  for await (const text of texts) {
    n += 1
    if (n > LINES_MAX) throw new RecordingFlaw(`it has more than ${LINES_MAX} lines`)
    if (text.trim() === '') continue
    lines.push(sharedLine(lines.at(-1), text, n))
    if (lines.length % FRAMES_A_TURN === 0) await nextTurn()
  }
  return lines
}

function sharedLine(before: unknown, text: string, n: number): unknown {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    throw new RecordingFlaw(`line ${n} is not JSON`)
  }
  try {
    return Array.isArray(line) ? patched(before, line) : sharing(before, line)
  } catch (error) {
    if (error instanceof RangeError) throw new RecordingFlaw(`line ${n} is nested too deeply`)
    throw new RecordingFlaw(`line ${n} is a list, but not what changed in the line before`)
  }
}
