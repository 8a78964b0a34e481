/**
 * The lines of a tape as they are stored, and as everybody may read them. Stored lines tell whose a position is and
 * what its levels are; published ones have pseudonyms, seals and hashes instead (docs/tape.md). The same stored lines
 * give the same published ones at any time, so that commits are spared the digests.
 */
import { hash as digestOf } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import type { PositionId, UserId } from '../actors/kernel/ids.ts'
import type { Fact } from '../actors/tape/facts.ts'
import { ownerText, padText, PSEUDONYM_LENGTH, pseudonymText, sealed } from '../actors/tape/seal.ts'
import type { Levels } from '../actors/position/position.ts'

/** A fact, with what is not published as it is. */
interface StoredLine extends Fact {
  /** The position that it is about. */
  readonly of?: PositionId
  /** Of an opened position. */
  readonly user?: UserId
  readonly levels?: Levels
}

/** A place on a tape: the number of a line, and its hash in hex. */
export interface Place {
  readonly n: number
  readonly hash: string
}

/** What the first line follows. */
export const BEGINNING: Place = { n: 0, hash: '0'.repeat(64) }

interface Name {
  readonly pseudonym: string
  /** Binds the owner; only they are told. */
  readonly salt: string
  /** Opens the levels; told with the close. */
  readonly key: string
}

/** The names of positions on one tape. Half of a truncated digest says nothing about the other half or the secret. */
export class Names {
  readonly #secret: string

  constructor(secret: Uint8Array) {
    this.#secret = Buffer.from(secret).toString('hex')
  }

  of(id: PositionId): Name {
    const derived = digestOf('sha512', `${this.#secret} ${id}`, 'hex')
    const [salt, key] = [derived.slice(0, 48), derived.slice(48, 96)]
    const pseudonym = digestOf('sha256', pseudonymText(key), 'hex').slice(0, PSEUDONYM_LENGTH)
    return { pseudonym, salt, key }
  }
}

/** Publishes the lines of a tape one after another. */
export class TapePublisher {
  readonly #names: Names
  #place: Place

  constructor(secret: Uint8Array, after: Place = BEGINNING) {
    this.#names = new Names(secret)
    this.#place = after
  }

  /** The line that was published last. */
  get place(): Place {
    return this.#place
  }

  /** The next line, from its stored text. */
  publish(stored: string): string {
    const n = this.#place.n + 1
    const line = `{"n":${n},"prev":"${this.#place.hash}",${this.#told(stored, n).slice(1)}`
    const hash = digestOf('sha256', line, 'hex')
    this.#place = { n, hash }
    return `${line.slice(0, -1)},"hash":"${hash}"}`
  }

  #told(stored: string, n: number): string {
    // The others have nothing to hide.
    if (!stored.startsWith('{"of":"')) return stored
    const { kind, of, user, levels, ...rest }: StoredLine = JSON.parse(stored)
    if (of === undefined) return stored
    const { pseudonym: id, salt, key } = this.#names.of(of)
    if (kind === 'close') return JSON.stringify({ kind, id, ...rest, key })
    if (levels === undefined) return JSON.stringify({ kind, id, ...rest })
    const seal = sealed(levels, digestOf('sha256', padText(key, n), 'hex'))
    if (user === undefined) return JSON.stringify({ kind, id, levels: seal, ...rest })
    const owner = digestOf('sha256', ownerText(salt, user, of), 'hex')
    return JSON.stringify({ kind, id, owner, levels: seal, ...rest })
  }
}

/** Typical lines, with which short rows are compressed. It must never change: rows are read with it. */
export const DICTIONARY = Buffer.from(
  [
    '{"kind":"price","player":"","price":1,"base":,"imbalance":,"cause":"match","event":0}',
    '{"kind":"state","phase":"live","state":"INPLAY_1ST_HALF","minute":,"speed":1,"settling":null,"settledAt":null}',
    '{"kind":"hear","what":"update","digest":"',
    '{"of":"0","kind":"close","by":"user","reason":null,"price":,"base":,"pnl":-,"after":',
    '{"kind":"commit","epoch":1,"at":17,"room":500}',
    '{"of":"0","user":"0","levels":{"stopLoss":null,"takeProfit":null},"kind":"open","player":"0","direction":"short",' +
      '"direction":"long","lots":1000000,"price":,"base":,"margin":,"after":',
  ].join('\n'),
)
/** More than the longest row: a batch of 10,000 corrections. */
const INFLATED_MAX_BYTES = 64 * 1_024 * 1_024

/** The stored lines in a row. Throws when it cannot be read. */
export const unpacked = (lines: Uint8Array): readonly string[] =>
  inflateRawSync(lines, { dictionary: DICTIONARY, maxOutputLength: INFLATED_MAX_BYTES }).toString('utf8').split('\n')
