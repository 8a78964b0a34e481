/**
 * A closed load: each caller asks again when its answer has arrived. Only answers count, and a slow answer delays the
 * next request, so the numbers are what patient clients would see.
 */
import { performance } from 'node:perf_hooks'

export interface LoadOptions {
  /** Requests in flight at any time. */
  readonly callers: number
  readonly seconds: number
  /** Runs before the clock starts; its answers are in `answered`, but are not timed. */
  readonly warmUpSeconds: number
  /** Sends one request and resolves with its answer. A rejection ends the load. */
  readonly ask: (caller: number) => Promise<void>
}

export interface Load {
  /** Every answer, including those of the warm-up and the last ones: what an audit must find. */
  readonly answered: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export async function closedLoop({ callers, seconds, warmUpSeconds, ask }: LoadOptions): Promise<Load> {
  const from = performance.now() + warmUpSeconds * 1_000
  const until = from + seconds * 1_000
  const tookMs: number[] = []
  let answered = 0
  const caller = async (n: number): Promise<void> => {
    for (let askedAt = performance.now(); askedAt < until;) {
      await ask(n)
      answered++
      const answeredAt = performance.now()
      if (answeredAt >= from && answeredAt < until) tookMs.push(answeredAt - askedAt)
      askedAt = answeredAt
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, n) => caller(n)))
  const sorted = Float64Array.from(tookMs).toSorted()
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { answered, perSecond: sorted.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
}
