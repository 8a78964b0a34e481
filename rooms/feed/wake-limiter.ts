/** Limits how many matches are activated at once for clients, at both endpoints, and remembers what does not exist. */
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/
const AT_ONCE_MAX = 8
const WAITING_MAX = 256
/** How long nothing is asked about what was unknown: a client that repeats itself costs no query. */
const UNKNOWN_MS = 2 * SECOND_MS
const UNKNOWN_MAX = 10_000

/** `busy`: the match exists but has no prices yet, for example because its owner has just died; to be tried again. */
export type ActivationResult = 'active' | 'unknown' | 'busy'

/** Activates the match of an instrument. Rejects with a fault. */
export type Wake = (id: InstrumentId) => Promise<ActivationResult>

/** Whether this can be an instrument: the database rejects anything but a UUID. */
export const couldBeInstrument = (id: InstrumentId): boolean => UUID.test(id)

export class WakeLimiter {
  readonly #world: Pick<World, 'now'>
  readonly #underWay = new Map<InstrumentId, Promise<ActivationResult>>()
  readonly #waiting: (() => void)[] = []
  /** Until when each is taken to be unknown. */
  readonly #unknown = new Map<string, Instant>()
  #running = 0

  constructor(world: Pick<World, 'now'>) {
    this.#world = world
  }

  /** Whether this instrument or match was found to be unknown within the last two seconds. */
  isUnknown(name: string): boolean {
    const until = this.#unknown.get(name)
    return until !== undefined && until > this.#world.now()
  }

  rememberUnknown(name: string): void {
    if (this.#unknown.size >= UNKNOWN_MAX) this.#unknown.clear()
    this.#unknown.set(name, instant(this.#world.now() + UNKNOWN_MS))
  }

  /** Activates the match of an instrument. Also `busy` when too many activations wait. Rejects with a fault. */
  async wake(id: InstrumentId, activate: Wake): Promise<ActivationResult> {
    const same = this.#underWay.get(id)
    if (same !== undefined) return same
    const lookup = this.inTurn(() => activate(id)).finally(() => this.#underWay.delete(id))
    this.#underWay.set(id, lookup)
    const result = await lookup
    if (result === 'unknown') this.rememberUnknown(id)
    return result
  }

  /** Carries out an activation when fewer than eight are under way; `busy` when too many wait already. */
  async inTurn<T>(activate: () => Promise<T>): Promise<T | 'busy'> {
    if (this.#running >= AT_ONCE_MAX && this.#waiting.length >= WAITING_MAX) return 'busy'
    // A queued activation inherits the slot of the finished one.
    if (this.#running < AT_ONCE_MAX) this.#running++
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await activate()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }
}
