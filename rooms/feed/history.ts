/**
 * The recent moves of one match, for clients that come back. Thousands come back at once and have all missed about the
 * same moves, so each move is flagged once, and the moves after one sequence number are joined once, for all of them.
 */
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import { FLAG, flagged, type Pack, type PublishedPrice, type Since } from './price-frame.ts'

/** Moves kept per match: a few minutes of a busy match, 100 KiB. */
export const HISTORY_MAX = 1_024
/** Missed moves that a client is sent; one that missed more gets the current prices instead. */
export const RESENT_MAX = 256
/** Sequence numbers whose missed moves are kept joined, until the next move. */
const WINDOWS_MAX = 64

/** Messages for one client, in order. */
export interface CatchUp {
  readonly bytes: readonly Buffer[]
  /** How many prices they are. */
  readonly prices: number
}

/** A move, and the messages that resend it. */
class Move {
  readonly price: PublishedPrice
  readonly #resent = new Map<Pack, Buffer>()

  constructor(price: PublishedPrice) {
    this.price = price
  }

  resent(pack: Pack): Buffer {
    let message = this.#resent.get(pack)
    if (message === undefined) {
      message = pack(flagged(this.price.frame, FLAG.replay))
      this.#resent.set(pack, message)
    }
    return message
  }
}

/** The moves of a match after one sequence number, in order. */
class Window {
  readonly #moves: readonly Move[]
  readonly #moved: ReadonlySet<InstrumentId>
  readonly #joined = new Map<Pack, CatchUp>()

  constructor(moves: readonly Move[]) {
    this.#moves = moves
    this.#moved = new Set(moves.map(({ price }) => price.instrumentId))
  }

  /** What a follower of these instruments missed; null when that is more than RESENT_MAX. */
  missedBy(ids: ReadonlySet<InstrumentId>, pack: Pack): CatchUp | null {
    if (!this.#moved.isSubsetOf(ids)) {
      return joined(
        this.#moves.filter(({ price }) => ids.has(price.instrumentId)),
        pack,
      )
    }
    const known = this.#joined.get(pack)
    if (known !== undefined) return known
    const all = joined(this.#moves, pack)
    if (all !== null) this.#joined.set(pack, all)
    return all
  }
}

function joined(moves: readonly Move[], pack: Pack): CatchUp | null {
  if (moves.length > RESENT_MAX) return null
  if (moves.length === 0) return { bytes: [], prices: 0 }
  return { bytes: [Buffer.concat(moves.map((move) => move.resent(pack)))], prices: moves.length }
}

/** The recent moves of a match in one epoch, oldest first. */
export class History {
  readonly #epoch: number
  readonly #moves: Move[] = []
  readonly #windows = new Map<number, Window>()
  /** All moves after this number are kept. */
  #keptAfter: number
  /** The newest number, of a move or of a price that stood still. */
  #last: number

  /** What came up to `seq` was published before, and is not kept. */
  constructor(epoch: number, seq: number) {
    this.#epoch = epoch
    this.#keptAfter = seq
    this.#last = seq
  }

  append(price: PublishedPrice): void {
    this.pass(price)
    this.#windows.clear()
    this.#moves.push(new Move(price))
    if (this.#moves.length < HISTORY_MAX * 2) return
    // Trimmed by halves: shifting a thousand entries for every move would cost more than the move.
    const dropped = this.#moves.splice(0, this.#moves.length - HISTORY_MAX)
    this.#keptAfter = dropped.at(-1)?.price.seq ?? this.#keptAfter
  }

  /** A price that stood still was published again: who missed it has missed no move. */
  pass({ seq }: Pick<PublishedPrice, 'seq'>): void {
    this.#last = seq
  }

  /** What a follower of these instruments missed after `since`; null when only the current prices can help. */
  missed(ids: ReadonlySet<InstrumentId>, since: Since, pack: Pack): CatchUp | null {
    return this.#after(since)?.missedBy(ids, pack) ?? null
  }

  /** Null when the moves after `since` are no longer all kept. */
  #after({ epoch, seq }: Since): Window | null {
    if (epoch !== this.#epoch) return null
    const known = this.#windows.get(seq)
    if (known !== undefined) return known
    if (seq > this.#last || seq < this.#keptAfter) return null
    const from = this.#moves.findLastIndex(({ price }) => price.seq <= seq) + 1
    const window = new Window(this.#moves.slice(from))
    if (this.#windows.size < WINDOWS_MAX) this.#windows.set(seq, window)
    return window
  }
}
