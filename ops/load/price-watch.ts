/** Checks that a socket is told every price of what it follows: each move must continue from the one before. */
import { FLAG, type PriceFrame } from '../../rooms/price-frame.ts'

interface Known {
  readonly epoch: number
  readonly seq: number
  readonly price: number
}

export class PriceWatch {
  readonly #known = new Map<string, Known>()
  /** By match, the newest frame seen: where a resumption goes on. */
  readonly #newest = new Map<number, { epoch: number; seq: number }>()
  gaps = 0

  /** What to resume a match's prices from; undefined before the first frame. */
  since(fixture: number): { readonly epoch: number; readonly seq: number } | undefined {
    return this.#newest.get(fixture)
  }

  /** Counts a gap when moves are missing between this frame and the one before, or it comes out of order. */
  see(frame: PriceFrame): void {
    const { epoch, seq, instrumentId, price } = frame
    const before = this.#known.get(instrumentId)
    if (before !== undefined && before.epoch === epoch && !this.#continues(before, frame)) this.gaps++
    this.#known.set(instrumentId, { epoch, seq, price })
    const newest = this.#newest.get(frame.fixtureId)
    if (newest === undefined || newest.epoch !== epoch || newest.seq < seq)
      this.#newest.set(frame.fixtureId, { epoch, seq })
  }

  #continues(before: Known, { flags, seq, previous }: PriceFrame): boolean {
    // A snapshot says how things stand, and may repeat what is known.
    if ((flags & FLAG.snapshot) !== 0) return seq >= before.seq
    if (seq <= before.seq) return false
    return (flags & FLAG.conflated) !== 0 || previous === before.price
  }
}
