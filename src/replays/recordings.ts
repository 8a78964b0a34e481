/** Reads recordings of matches: one payload per line, plain or compressed, after a header line with the title. */
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip } from 'node:zlib'
import { z } from 'zod'
import type { Recording } from '../../actors/replay/recording.ts'

const UNPACK: Readonly<Record<string, (data: Buffer) => Promise<Buffer>>> = {
  '.jsonl': (data) => Promise.resolve(data),
  '.jsonl.gz': promisify(gunzip),
  '.jsonl.br': promisify(brotliDecompress),
}

const header = z.object({
  recording: z.object({
    name: z.string().optional(),
    title: z.string().optional(),
    anchors: z.record(z.string(), z.number().positive()).optional(),
  }),
})
const named = z.object({ name: z.string() })

const extensionOf = (path: string): string | undefined => Object.keys(UNPACK).find((ending) => path.endsWith(ending))

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

/** Reads a whole recording into memory. Throws when the file cannot be read or a line of it is not JSON. */
export async function loadRecording(path: string): Promise<Recording> {
  const extension = extensionOf(path)
  const unpack = extension === undefined ? undefined : UNPACK[extension]
  if (extension === undefined || unpack === undefined) throw new Error(`not a recording: ${path}`)
  const text = (await unpack(await readFile(path))).toString('utf8')
  const lines = await parseLines(text)
  const head = header.safeParse(lines[0])
  const frames = (head.success ? lines.slice(1) : lines).flatMap(payloadsIn)
  const name = (head.success ? head.data.recording.name : undefined) ?? basename(path, extension)
  const fixture = named.safeParse(frames[0])
  const fixtureName = fixture.success ? fixture.data.name : name
  const title = (head.success ? head.data.recording.title : undefined) ?? fixtureName
  const anchors = (head.success ? head.data.recording.anchors : undefined) ?? {}
  return { name, title, fixtureName, anchors, frames }
}

/** About 20 ms of work. */
const FRAMES_A_TURN = 8

/**
 * A frame repeats most of the one before, so equal parts are kept once: a tenth of the memory. A whole match takes
 * seconds to read, so the loop yields every few frames to the matches in play in this process.
 */
async function parseLines(text: string): Promise<readonly unknown[]> {
  const lines: unknown[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    lines.push(sharing(lines.at(-1), JSON.parse(line)))
    if (lines.length % FRAMES_A_TURN === 0) await nextTurn()
  }
  return lines
}

/** `next`, with every part that equals the same part of `last` replaced by it. */
function sharing(last: unknown, next: unknown): unknown {
  if (Array.isArray(next)) {
    const before: readonly unknown[] = Array.isArray(last) ? last : []
    const shared = next.map((item, index) => sharing(before[index], item))
    const same = Array.isArray(last) && shared.length === last.length && shared.every((item, i) => item === before[i])
    return same ? last : shared
  }
  if (!isRecord(next)) return next
  const before = isRecord(last) ? last : {}
  const shared = Object.entries(next).map(([key, value]) => [key, sharing(before[key], value)] as const)
  const same =
    isRecord(last) &&
    shared.length === Object.keys(last).length &&
    shared.every(([key, v]) => key in last && v === last[key])
  return same ? last : Object.fromEntries(shared)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
