/**
 * Writes the tape of each match (actors/tape). A row has the lines of a commit and is written by that commit.
 * db/tape-lines.ts publishes them.
 */
import { hash as digestOf } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { present } from '../actors/kernel/assert.ts'
import type { FixtureId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import { BATCH_MAX } from '../actors/kernel/limits.ts'
import type { Batch } from '../actors/match/store.ts'
import type { Position } from '../actors/position/position.ts'
import { factsOf, headOf, type Standing, type Told } from '../actors/tape/facts.ts'
import type { JournalLine } from './journal-codec.ts'
import { DICTIONARY, Names } from './tape-lines.ts'

/** The lines of one commit. */
export interface TapeRow {
  /** The numbers of its first and last line. */
  readonly first: number
  readonly last: number
  /** What owners are hidden with: in the first row of a match. */
  readonly secret: Uint8Array | null
  readonly lines: Uint8Array
}

/** Where the tape of a match ends. */
export interface End {
  readonly n: number
  readonly secret: Buffer
}

interface Chain extends End {
  readonly epoch: number
  readonly standing: Standing
}

const SECRET_BYTES = 32
/** Matches whose end is remembered. That of any other is read again. */
const MATCHES_MAX = 256

/** Reads where the tape of a match ends; null for one without a tape. */
export type ReadEnd = (matchId: FixtureId) => Promise<End | null>

export class TapeWriter {
  readonly #endOf: ReadEnd
  readonly #world: Pick<World, 'secret'>
  readonly #chains = new Map<FixtureId, Chain>()

  constructor(endOf: ReadEnd, world: Pick<World, 'secret'>) {
    this.#endOf = endOf
    this.#world = world
  }

  /**
   * The row of a commit, with what its journal says of what it heard; null if nothing is to be told. `keep` is to be
   * called when it is committed.
   */
  async row(
    batch: Batch,
    journaled: readonly JournalLine[],
  ): Promise<(TapeRow & { readonly keep: () => void }) | null> {
    const { matchId, epoch, at, room = BATCH_MAX, heard = [], events } = batch
    if (events.length === 0 && heard.length === 0) return null
    const known = this.#chains.get(matchId)
    const from =
      known?.epoch === epoch ? known : { ...((await this.#endOf(matchId)) ?? this.#begun()), epoch, standing: null }
    const names = new Names(from.secret)
    const { told, standing } = factsOf(
      { epoch, at, room, heard, events },
      from.standing,
      (id) => names.of(id).pseudonym,
    )
    const isFirst = from.n === 0
    const head = isFirst ? headFrom(batch) : null
    if (isFirst && head === null) return null // a commit to a match that has no tape
    const lines = head === null ? told : [{ fact: head, position: null, heard: null }, ...told]
    const digests = journaled.map((line) => digestOf('sha256', JSON.stringify(line), 'hex'))
    let next = 0
    const texts = lines.map((one) =>
      textOf(one, one.heard === null ? null : present(digests[next++], 'journaled line')),
    )
    const n = from.n + lines.length
    const after = { epoch, standing, n, secret: from.secret }
    return {
      first: from.n + 1,
      last: n,
      secret: isFirst ? from.secret : null,
      lines: packed(texts),
      keep: () => this.#keep(matchId, after),
    }
  }

  #begun(): End {
    return { n: 0, secret: Buffer.from(this.#world.secret(SECRET_BYTES), 'hex') }
  }

  #keep(matchId: FixtureId, chain: Chain): void {
    this.#chains.delete(matchId)
    const [oldest] = this.#chains.keys()
    if (this.#chains.size >= MATCHES_MAX && oldest !== undefined) this.#chains.delete(oldest)
    this.#chains.set(matchId, chain)
  }
}

/** A tape begins with the first update: a match that ends without any has no prices and no trades. */
function headFrom({ events, heard = [] }: Batch): ReturnType<typeof headOf> | null {
  if (!heard.some((one) => one.heard.kind === 'update')) return null
  for (const event of events) if (event.kind === 'match_updated') return headOf(event.info)
  return null
}

/** The text of a StoredLine, made without a copy of the fact. */
function textOf({ fact, position }: Told, digest: string | null): string {
  const text = JSON.stringify(fact)
  if (digest !== null) return `${text.slice(0, -1)},"digest":"${digest}"}`
  if (position === null) return text
  if (fact.kind !== 'open' && fact.kind !== 'levels') return `{"of":"${position.id}",${text.slice(1)}`
  const { id, userId, stopLoss, takeProfit } = position as Position // both tell the position as it is
  const user = fact.kind === 'open' ? `"user":"${userId}",` : ''
  return `{"of":"${id}",${user}"levels":{"stopLoss":${stopLoss},"takeProfit":${takeProfit}},${text.slice(1)}`
}

const DEFLATE = { level: 6, windowBits: 14, memLevel: 6, chunkSize: 4_096, dictionary: DICTIONARY } as const
/**
 * Above this a row is compressed fast: 500 openings in 2 ms. Beside the event loop they would take six times as long,
 * because the loop would hear of it only after its other work, and their users would wait.
 */
const LARGE = 16_384
const LARGE_DEFLATE = { level: 1, dictionary: DICTIONARY } as const

function packed(texts: readonly string[]): Buffer {
  const text = texts.join('\n')
  return deflateRawSync(text, text.length > LARGE ? LARGE_DEFLATE : DEFLATE)
}
