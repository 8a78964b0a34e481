/** The message rate limit of a socket, at both endpoints. */
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'

/** A socket that sends more is closed. */
export const MESSAGES_PER_SECOND_MAX = 10

export class RequestRate {
  #left = 0
  #next: number
  #windowEnds = instant(0)

  /** `extra`: admitted in the first second beyond the limit. */
  constructor(extra = 0) {
    this.#next = MESSAGES_PER_SECOND_MAX + extra
  }

  /** Counts one message; false when it exceeds the limit of this second. */
  admits(now: Instant): boolean {
    if (now >= this.#windowEnds) {
      this.#windowEnds = instant(now + SECOND_MS)
      this.#left = this.#next
      this.#next = MESSAGES_PER_SECOND_MAX
    }
    return --this.#left >= 0
  }
}
