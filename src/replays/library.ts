/**
 * The library of recordings, by name: the bundled files, every ended match whose journal is kept, as `match-<id>`, and
 * what features add.
 */
import { readFile } from 'node:fs/promises'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Recording } from '../../actors/replay/recording.ts'
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

/** What a list says of a recording. */
interface ShelvedRecording {
  readonly name: string
  /** "Home vs Away". */
  readonly fixtureName: string
  readonly title: string
  readonly minutes: number
  readonly players: number
}

/** Recordings from elsewhere. */
export interface Shelf {
  list(): Promise<readonly ShelvedRecording[]>
  /** Compressed with brotli. The id tells it from another that had this name before. Null for an unknown name. */
  find(name: string): Promise<{ readonly id: string; readonly data: Uint8Array } | null>
}

export interface LibraryOptions {
  readonly bundled: readonly RecordingFile[]
  readonly ended: {
    find(matchId: FixtureId): Promise<MatchInfo | null>
    lines(info: MatchInfo): AsyncGenerator<string>
  }
}

const ENDED = /^match-([1-9]\d{0,14})$/

export class RecordingLibrary {
  readonly #options: LibraryOptions
  readonly #shelves: Shelf[] = []

  constructor(options: LibraryOptions) {
    this.#options = options
  }

  get bundled(): readonly RecordingFile[] {
    return this.#options.bundled
  }

  /** Adds recordings from elsewhere, whose names differ from those of others. */
  add(shelf: Shelf): void {
    this.#shelves.push(shelf)
  }

  /** What has been added. */
  async added(): Promise<readonly ShelvedRecording[]> {
    return (await Promise.all(this.#shelves.map((shelf) => shelf.list()))).flat()
  }

  /** What tells the recording of this name from another that had it before; null without one. */
  async version(name: string): Promise<string | null> {
    const { bundled } = this.#options
    if (bundled.some((one) => one.name === name)) return 'bundled'
    const info = await this.#endedMatch(name)
    return info === null ? ((await this.#shelved(name))?.id ?? null) : 'ended'
  }

  /** Null for an unknown name. */
  async find(name: string): Promise<StoredRecording | null> {
    const { bundled, ended } = this.#options
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
    const shelved = await this.#shelved(name)
    return shelved === null ? null : { name, version: shelved.id, bytes: shelved.data, packing: 'brotli' }
  }

  async #shelved(name: string): Promise<Awaited<ReturnType<Shelf['find']>>> {
    for (const shelf of this.#shelves) {
      const found = await shelf.find(name)
      if (found !== null) return found
    }
    return null
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
