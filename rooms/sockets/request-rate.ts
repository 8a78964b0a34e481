/** How often one socket may speak, whichever door it came through. */
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'

/** Whoever says more is closed. */
export const MESSAGES_PER_SECOND_MAX = 10

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
