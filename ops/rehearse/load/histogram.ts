/** Durations by the million in a few kilobytes: counts in buckets that are 1/32 of their power of two wide (3 % off at most). */

const SUB_BUCKETS = 32
const SUB_BITS = 5

export type Counts = readonly (readonly [bucket: number, count: number])[]

/** Milliseconds in, milliseconds out; kept in microseconds. */
export class Histogram {
  readonly #counts = new Map<number, number>()
  #total = 0
  #max = 0

  static from({ counts, max }: { readonly counts: Counts; readonly max: number }): Histogram {
    const histogram = new Histogram()
    histogram.merge({ counts, max })
    return histogram
  }

  get total(): number {
    return this.#total
  }

  get max(): number {
    return this.#max
  }

  record(ms: number): void {
    const us = Math.max(0, Math.round(ms * 1_000))
    this.#add(bucketOf(us), 1)
    this.#max = Math.max(this.#max, us / 1_000)
  }

  merge({ counts, max }: { readonly counts: Counts; readonly max: number }): void {
    for (const [bucket, count] of counts) this.#add(bucket, count)
    this.#max = Math.max(this.#max, max)
  }

  /** The smallest duration that so many per cent do not exceed, to within a bucket; 0 when nothing was recorded. */
  percentile(percent: number): number {
    let left = Math.ceil((this.#total * percent) / 100)
    for (const [bucket, count] of this.#sorted()) {
      left -= count
      if (left <= 0) return Math.min(this.#max, endOf(bucket) / 1_000)
    }
    return this.#max
  }

  /** The share of all that took at most so long. 1 when nothing was recorded. */
  within(ms: number): number {
    if (this.#total === 0) return 1
    let sum = 0
    for (const [bucket, count] of this.#counts) if (endOf(bucket) <= ms * 1_000) sum += count
    return sum / this.#total
  }

  /** Counts by duration, in bars that are each `factor` times as long as the one before, from `fromMs`. */
  bars(fromMs: number, factor: number): { readonly upToMs: number; readonly count: number }[] {
    const bars: { upToMs: number; count: number }[] = []
    for (const [bucket, count] of this.#sorted()) {
      const ms = endOf(bucket) / 1_000
      const n = Math.max(0, Math.ceil(Math.log(ms / fromMs) / Math.log(factor)))
      while (bars.length <= n) bars.push({ upToMs: fromMs * factor ** bars.length, count: 0 })
      const bar = bars[n]
      if (bar !== undefined) bar.count += count
    }
    return bars
  }

  toJSON(): { counts: Counts; max: number } {
    return { counts: [...this.#counts], max: this.#max }
  }

  #add(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count)
    this.#total += count
  }

  #sorted(): [number, number][] {
    return [...this.#counts].toSorted(([a], [b]) => a - b)
  }
}

/** Below 64 each microsecond has a bucket of its own. */
function bucketOf(us: number): number {
  if (us < 2 * SUB_BUCKETS) return us
  const shift = Math.floor(Math.log2(us)) - SUB_BITS
  return (shift + 1) * SUB_BUCKETS + (Math.floor(us / 2 ** shift) - SUB_BUCKETS)
}

/** The last microsecond of a bucket. */
function endOf(bucket: number): number {
  if (bucket < 2 * SUB_BUCKETS) return bucket
  const shift = Math.floor(bucket / SUB_BUCKETS) - 1
  return (SUB_BUCKETS + (bucket % SUB_BUCKETS) + 1) * 2 ** shift - 1
}
