/** Checks that a socket gets every price it follows: each move must continue from the one before. */
import { FLAG } from '../../../rooms/feed/price-frame.ts'

/** What a frame needs to be checked, in its reader's units. */
export interface MoveSeen {
  readonly flags: number
  readonly epoch: number
  readonly seq: number
  readonly instrumentId: string
  readonly fixtureId: number
  readonly price: number
  readonly previous: number
}

interface Known {
  readonly fixtureId: number
  readonly epoch: number
  readonly seq: number
  readonly price: number
}

export class PriceWatch {
  readonly #known = new Map<string, Known>()
  /** The newest frame per match, from which to resume. */
  readonly #newest = new Map<number, { epoch: number; seq: number }>()
  gaps = 0
  /** The last gap, to help find its cause; empty before the first. */
  lastGap = ''

  /** What to resume a match's prices from; undefined before the first frame. */
  since(fixture: number): { readonly epoch: number; readonly seq: number } | undefined {
    return this.#newest.get(fixture)
  }

  /** The last price of an instrument; undefined before the first. */
  priceOf(instrumentId: string): number | undefined {
    return this.#known.get(instrumentId)?.price
  }

  /** Counts a gap when moves are missing between this frame and the one before, or it comes out of order. */
  see(frame: MoveSeen): void {
    const { epoch, seq, instrumentId, price, fixtureId } = frame
    const before = this.#known.get(instrumentId)
    if (before !== undefined && isKnown(frame, before)) return
    // A player's next match starts a new sequence.
    if (before !== undefined && before.fixtureId === fixtureId && !this.#continues(before, frame)) {
      this.gaps++
      this.lastGap = `${JSON.stringify(frame)} after ${JSON.stringify(before)}`
    }
    this.#known.set(instrumentId, { fixtureId, epoch, seq, price })
    const newest = this.#newest.get(frame.fixtureId)
    if (newest === undefined || newest.epoch !== epoch || newest.seq < seq)
      this.#newest.set(frame.fixtureId, { epoch, seq })
  }

  #continues(before: Known, { flags, epoch, seq, previous }: MoveSeen): boolean {
    // A new owner starts with a snapshot, which may include moves of its own; the former owner sends nothing more.
    if (epoch !== before.epoch) return epoch > before.epoch && (flags & (FLAG.snapshot | FLAG.conflated)) !== 0
    // A snapshot gives the current prices, and may repeat known ones.
    if ((flags & FLAG.snapshot) !== 0) return seq >= before.seq
    if (seq <= before.seq) return false
    return (flags & FLAG.conflated) !== 0 || previous === before.price
  }
}

/**
 * Whether a snapshot repeats the known price under a smaller number. Each process numbers its snapshots by the newest
 * move of the match at that moment, so after a reconnection to another one, a player who has not moved may have the
 * number of an older moment.
 */
const isKnown = ({ flags, epoch, seq, price }: MoveSeen, before: Known): boolean =>
  (flags & FLAG.snapshot) !== 0 && epoch === before.epoch && seq < before.seq && price === before.price
