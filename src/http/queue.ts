/**
 * Lets a few requests of a kind in at a time; the others wait in order. Signing a session's tokens keeps two threads
 * busy for a millisecond and its rows take five queries, so 2,000 sign-ins at once would leave neither for trades.
 */
import type { MiddlewareHandler } from 'hono'
import { answerWith, fail, type HttpEnv } from './answers.ts'

export interface QueueOptions {
  /** Requests inside at a time. */
  readonly together: number
  /** Requests waiting; one more is refused. */
  readonly waiting: number
}

const FULL = answerWith('UNAVAILABLE', { retryAfterSecs: 5 })

/** One queue: every path that it is mounted at shares it. */ // H21
export function queue({ together, waiting }: QueueOptions): MiddlewareHandler<HttpEnv> {
  const line: (() => void)[] = []
  let inside = 0
  return async (c, next) => {
    if (inside >= together && line.length >= waiting) return fail(c, FULL)
    if (inside < together) inside++
    // One that waits is given the place of the one that leaves.
    else await new Promise<void>((enter) => line.push(enter))
    try {
      return await next()
    } finally {
      const enter = line.shift()
      if (enter === undefined) inside--
      else enter()
    }
  }
}
