/**
 * The journal's entries as bytes. A payload repeats most of the one before, so only the difference is kept, and the
 * text of the differences is compressed with the text before it as dictionary: 80 bytes an update instead of 38 kB.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { FixtureId } from '../actors/kernel/ids.ts'
import { plainRules } from '../actors/match/heard.ts'
import type { Heard, HeardAfter } from '../actors/match/store.ts'
import { changed, type Patch, patched } from '../actors/replay/json-patch.ts'

/** One entry of the journal as plain JSON. An update has a `payload`, or a `snapshot` where no payload is known. */
export type JournalLine = Readonly<Record<string, unknown>> & { readonly kind: Heard['kind']; readonly at: number }

/** The entries of one commit. */
export interface JournalRow {
  /** Whether it can be read without the rows before it. */
  readonly fresh: boolean
  readonly entries: Uint8Array
}

export interface WrittenRow extends JournalRow {
  /** The entries as a reader will find them. */
  readonly lines: readonly JournalLine[]
  /** To be called when the row is committed. */
  readonly keep: () => void
}

/** The part of the text before that is the dictionary of the next row. */
const DICTIONARY_BYTES = 8 * 1_024
/** A small state: setting it up costs more than compressing an update. */
const DEFLATE = { level: 6, windowBits: 13, memLevel: 6, chunkSize: 4_096 } as const
/** Of the text of a row: a larger payload is not journaled, but the snapshot that was read from it. */
const TEXT_MAX_BYTES = 1024 * 1_024
/** The most that a row of the journal may grow to when it is read. */
const INFLATED_MAX_BYTES = 16 * 1_024 * 1_024

/** Matches whose last update is remembered. The next row of any other stands alone. */
const MATCHES_MAX = 256

/** The state of a journal between two rows. */
interface Before {
  /** The last update; null before the first. */
  readonly update: JournalLine | null
  readonly text: Buffer
}

interface Written {
  readonly epoch: number
  readonly before: Before
}

/** Writes the journals of the matches of one process. */
export class JournalWriter {
  readonly #written = new Map<FixtureId, Written>()

  /** The row of a commit; null if it has heard nothing. */
  row(matchId: FixtureId, epoch: number, all: readonly HeardAfter[]): WrittenRow | null {
    if (all.length === 0) return null
    const heard = all.map((one) => one.heard)
    const known = this.#written.get(matchId)
    const before = known?.epoch === epoch ? known.before : null
    const { entries, after, lines } = encodedOrPlain(heard, before)
    return { fresh: before === null, entries, lines, keep: () => this.#keep(matchId, { epoch, before: after }) }
  }

  #keep(matchId: FixtureId, written: Written): void {
    this.#written.delete(matchId)
    const [oldest] = this.#written.keys()
    if (this.#written.size >= MATCHES_MAX && oldest !== undefined) this.#written.delete(oldest)
    this.#written.set(matchId, written)
  }
}

interface Text {
  readonly bytes: Buffer
  readonly lines: readonly JournalLine[]
}

interface Encoded {
  readonly entries: Buffer
  readonly lines: readonly JournalLine[]
  readonly after: Before
}

/** A payload that is too large or too deep for the journal gives way to the snapshot that was read from it. */
function encodedOrPlain(heard: readonly Heard[], before: Before | null): Encoded {
  try {
    const text = textOf(heard, before, true)
    if (text.bytes.length <= TEXT_MAX_BYTES) return compressed(text, before)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return compressed(textOf(heard, before, false), before)
}

function textOf(heard: readonly Heard[], before: Before | null, withPayloads: boolean): Text {
  let last = before?.update ?? null
  const lines = heard.map((one) => (one.kind === 'update' ? updateOf(one, withPayloads) : lineOf(one)))
  const parts = lines.map((line): JournalLine | Patch => {
    if (line.kind !== 'update') return line
    const patch = changed(last, line) ?? UNCHANGED
    last = line
    return patch
  })
  return { bytes: Buffer.from(JSON.stringify(parts)), lines }
}

function compressed({ bytes, lines }: Text, before: Before | null): Encoded {
  const dictionary = before?.text
  const entries = deflateRawSync(bytes, dictionary === undefined ? DEFLATE : { ...DEFLATE, dictionary })
  const update = lines.findLast((line) => line.kind === 'update') ?? before?.update ?? null
  return { entries, lines, after: { update, text: tailOf(dictionary, bytes) } }
}

const UNCHANGED: Patch = [1]

const lineOf = (heard: Exclude<Heard, { kind: 'update' }>): JournalLine =>
  heard.kind === 'rules' ? { ...heard, rules: plainRules(heard.rules) } : heard

function updateOf({ at, update, histories }: Extract<Heard, { kind: 'update' }>, withPayload: boolean): JournalLine {
  const { seq, speed, source, snapshot } = update
  const line = { kind: 'update' as const, at, seq, speed: speed ?? 1, histories: Object.fromEntries(histories) }
  if (source === undefined || !withPayload) return { ...line, snapshot }
  // What the payload does not say by itself, or says in other words.
  const { startsAt, sourceAt, expectedGoals } = snapshot
  return { ...line, players: source.players, startsAt, sourceAt, expectedGoals, payload: source.payload }
}

function tailOf(before: Buffer | undefined, text: Buffer): Buffer {
  const all = before === undefined ? text : Buffer.concat([before, text])
  return Buffer.from(all.subarray(-DICTIONARY_BYTES))
}

/** Reads the rows of one journal, in order. Throws when one cannot be read. */
export class JournalReader {
  #before: Before | null = null

  read({ fresh, entries }: JournalRow): readonly JournalLine[] {
    const before = fresh ? null : this.#before
    if (!fresh && before === null) throw new Error('the journal does not begin with a row that stands alone')
    const limits = { maxOutputLength: INFLATED_MAX_BYTES }
    const text = inflateRawSync(entries, before === null ? limits : { ...limits, dictionary: before.text })
    let last = before?.update ?? null
    const parts: unknown = JSON.parse(text.toString('utf8'))
    if (!Array.isArray(parts)) throw new Error('a row of the journal is not a list')
    const lines = parts.map((part: JournalLine | Patch): JournalLine => {
      if (!isPatch(part)) return part
      last = patched(last, part) as JournalLine
      return last
    })
    this.#before = { update: last, text: tailOf(before?.text, text) }
    return lines
  }
}

const isPatch = (part: JournalLine | Patch): part is Patch => Array.isArray(part)
