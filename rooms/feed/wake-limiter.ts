/** Waking matches for those who name instruments that nobody publishes yet: never more at once than the database bears. */
import type { InstrumentId } from '../../actors/kernel/ids.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const AT_ONCE_MAX = 8
const WAITING_MAX = 256

/** `busy`: there is a match, but nobody can say yet how it stands, as while its owner has just died; to be asked again. */
export type ActivationResult = 'awake' | 'nobody' | 'busy'

/** Sees to it that the match of an instrument is awake. Rejects with a fault. */
export type Wake = (id: InstrumentId) => Promise<ActivationResult>

export class WakeLimiter {
  readonly #wake: Wake
  readonly #underWay = new Map<InstrumentId, Promise<ActivationResult>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(wake: Wake) {
    this.#wake = wake
  }

  /** Whether it makes sense to ask: what is no id is not looked up, a database would call that a fault. */
  couldKnow(id: InstrumentId): boolean {
    return UUID.test(id)
  }

  /** Whether the match of an instrument is awake now; `busy` also when too many lookups wait. Rejects with a fault. */
  async wake(id: InstrumentId): Promise<ActivationResult> {
    const same = this.#underWay.get(id)
    if (same !== undefined) return same
    if (this.#waiting.length >= WAITING_MAX) return 'busy'
    const lookup = this.#take(id).finally(() => this.#underWay.delete(id))
    this.#underWay.set(id, lookup)
    return lookup
  }

  async #take(id: InstrumentId): Promise<ActivationResult> {
    // Whoever is let in from the queue takes the place of the one who leaves.
    if (this.#running < AT_ONCE_MAX) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await this.#wake(id)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
