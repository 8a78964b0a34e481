/** How often one socket may speak, whichever door it came through. */
import { type Instant, instant, SECOND_MS } from '../actors/kernel/world.ts'

const MESSAGES_PER_SECOND_MAX = 10
/** Closes a socket that speaks more often. */
export const CLOSE_TOO_MANY_MESSAGES = 4029

export class RequestRate {
  #count = 0
  #windowEnds = instant(0)

  /** Counts one message; false when it is one too many in this second. */
  admits(now: Instant): boolean {
    if (now >= this.#windowEnds) {
      this.#windowEnds = instant(now + SECOND_MS)
      this.#count = 0
    }
    return ++this.#count <= MESSAGES_PER_SECOND_MAX
  }
}
