/** The message rate limit of a socket, at both endpoints. */
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'

/** A socket that sends more is closed. */
export const MESSAGES_PER_SECOND_MAX = 10

export class RequestRate {
  #count = 0
  #windowEnds = instant(0)

  /** Counts one message; false when it exceeds the limit of this second. */
  admits(now: Instant): boolean {
    if (now >= this.#windowEnds) {
      this.#windowEnds = instant(now + SECOND_MS)
      this.#count = 0
    }
    return ++this.#count <= MESSAGES_PER_SECOND_MAX
  }
}
