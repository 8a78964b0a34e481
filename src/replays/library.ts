/**
 * The library of recordings, by name: the bundled files, what operators have uploaded, and every ended match whose
 * journal is kept, as `match-<id>`.
 */
import { readFile } from 'node:fs/promises'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import type { Upload } from '../../db/uploads.ts'
import { present } from '../../actors/kernel/assert.ts'
import { type Packing, packingOf, readRecording, type RecordingFile } from './recordings.ts'

/** A recording as it is stored. */
export interface StoredRecording {
  readonly name: string
  /** Tells it from another that had this name before. */
  readonly version: string
  readonly bytes: Uint8Array
  readonly packing: Packing
}

export interface LibraryOptions {
  readonly bundled: readonly RecordingFile[]
  readonly uploads: {
    list(): Promise<readonly Upload[]>
    find(name: string): Promise<{ readonly id: string; readonly data: Uint8Array } | null>
  }
  readonly ended: {
    find(matchId: FixtureId): Promise<MatchInfo | null>
    lines(info: MatchInfo): AsyncGenerator<string>
  }
}

const ENDED = /^match-([1-9]\d{0,14})$/

export class RecordingLibrary {
  readonly #options: LibraryOptions

  constructor(options: LibraryOptions) {
    this.#options = options
  }

  get bundled(): readonly RecordingFile[] {
    return this.#options.bundled
  }

  uploads(): Promise<readonly Upload[]> {
    return this.#options.uploads.list()
  }

  /** What tells the recording of this name from another that had it before; null without one. */
  async version(name: string): Promise<string | null> {
    const { bundled, uploads } = this.#options
    if (bundled.some((one) => one.name === name)) return 'bundled'
    const info = await this.#endedMatch(name)
    return info === null ? ((await uploads.find(name))?.id ?? null) : 'ended'
  }

  /** Null for an unknown name. */
  async find(name: string): Promise<StoredRecording | null> {
    const { bundled, uploads, ended } = this.#options
    const file = bundled.find((one) => one.name === name)
    if (file !== undefined) {
      const packing = present(packingOf(file.path) ?? undefined, 'packing')
      return { name, version: 'bundled', bytes: await readFile(file.path), packing }
    }
    const info = await this.#endedMatch(name)
    if (info !== null) {
      const lines = await Array.fromAsync(ended.lines(info))
      return { name, version: 'ended', bytes: Buffer.from(lines.join('')), packing: 'plain' }
    }
    const upload = await uploads.find(name)
    return upload === null ? null : { name, version: upload.id, bytes: upload.data, packing: 'brotli' }
  }

  async #endedMatch(name: string): Promise<MatchInfo | null> {
    const [, id] = ENDED.exec(name) ?? []
    return id === undefined ? null : this.#options.ended.find(fixtureId(Number(id)))
  }
}

/** Throws a RecordingFlaw. */
export const readStored = ({ name, bytes, packing }: Omit<StoredRecording, 'version'>): Promise<Recording> =>
  readRecording(name, sliced(bytes), packing)

/** Text in one piece would hold up the event loop. */
const SLICE_BYTES = 64 * 1024

function* sliced(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}
