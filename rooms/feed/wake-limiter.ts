/** Limits how many matches are activated at once for clients that follow unpublished instruments. */
import type { InstrumentId } from '../../actors/kernel/ids.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const AT_ONCE_MAX = 8
const WAITING_MAX = 256

/** `busy`: the match exists but has no prices yet, for example because its owner has just died; to be tried again. */
export type ActivationResult = 'active' | 'unknown' | 'busy'

/** Activates the match of an instrument. Rejects with a fault. */
export type Wake = (id: InstrumentId) => Promise<ActivationResult>

export class WakeLimiter {
  readonly #wake: Wake
  readonly #underWay = new Map<InstrumentId, Promise<ActivationResult>>()
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(wake: Wake) {
    this.#wake = wake
  }

  /** Whether this can be an instrument: the database rejects anything but a UUID. */
  couldKnow(id: InstrumentId): boolean {
    return UUID.test(id)
  }

  /** Also `busy` when too many lookups wait. Rejects with a fault. */
  async wake(id: InstrumentId): Promise<ActivationResult> {
    const same = this.#underWay.get(id)
    if (same !== undefined) return same
    if (this.#waiting.length >= WAITING_MAX) return 'busy'
    const lookup = this.#take(id).finally(() => this.#underWay.delete(id))
    this.#underWay.set(id, lookup)
    return lookup
  }

  async #take(id: InstrumentId): Promise<ActivationResult> {
    // A queued lookup inherits the slot of the finished one.
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
