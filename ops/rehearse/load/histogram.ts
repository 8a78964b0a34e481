/** Durations in milliseconds, kept in microseconds by an HDR histogram: a million of them take some kilobytes. */
import { Int32Histogram } from 'hdr-histogram-js'

type Counts = readonly (readonly [us: number, count: number])[]

const LONGEST_US = 3_600_000_000
/** Two significant digits: 1 % off at most. */
const DIGITS = 2

export class Histogram {
  readonly #hdr = new Int32Histogram(1, LONGEST_US, DIGITS)
  #max = 0

  static from(json: { readonly counts: Counts; readonly max: number }): Histogram {
    const histogram = new Histogram()
    histogram.merge(json)
    return histogram
  }

  get total(): number {
    return this.#hdr.totalCount
  }

  get max(): number {
    return this.#max
  }

  record(ms: number): void {
    const us = Math.min(LONGEST_US, Math.max(0, Math.round(ms * 1_000)))
    this.#hdr.recordValue(us)
    this.#max = Math.max(this.#max, us / 1_000)
  }

  merge({ counts, max }: { readonly counts: Counts; readonly max: number }): void {
    for (const [us, count] of counts) this.#hdr.recordValueWithCount(us, count)
    this.#max = Math.max(this.#max, max)
  }

  /** The smallest duration that `percent` of all do not exceed; 0 when nothing was recorded. */
  percentile(percent: number): number {
    return Math.min(this.#max, this.#hdr.getValueAtPercentile(percent) / 1_000)
  }

  /** The share of all that took at most this long. 1 when nothing was recorded. */
  within(ms: number): number {
    if (this.total === 0) return 1
    let sum = 0
    for (const [us, count] of this.#recorded()) if (us <= ms * 1_000) sum += count
    return sum / this.total
  }

  toJSON(): { counts: Counts; max: number } {
    return { counts: [...this.#recorded()], max: this.#max }
  }

  /** The values that occurred, ascending, with their counts. */
  *#recorded(): Generator<readonly [us: number, count: number]> {
    const values = this.#hdr.recordedValuesIterator
    values.reset()
    while (values.hasNext()) {
      const { valueIteratedTo, countAddedInThisIterationStep } = values.next()
      yield [this.#hdr.highestEquivalentValue(valueIteratedTo), countAddedInThisIterationStep]
    }
  }
}
