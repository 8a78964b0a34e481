/** Leaves alone for a while what has failed: longer with each failure in a row, as webhooks are. */
import { MINUTE_MS, SECOND_MS, type World } from '../../../actors/kernel/world.ts'

export interface BreakerOptions {
  readonly world: Pick<World, 'now'>
  /** Failures in a row before it is left alone. */
  readonly failures: number
}

const WAIT_MS = 5 * SECOND_MS
const WAIT_MAX_MS = 5 * MINUTE_MS
/** Names that are remembered; of more, the one that failed longest ago is forgotten. */
const NAMES_MAX = 10_000

interface Failing {
  readonly failures: number
  readonly until: number
}

export class Breaker {
  readonly #options: BreakerOptions
  readonly #failing = new Map<string, Failing>()

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  /** Until when a name is left alone; null if it may be tried. */
  heldUntil(name: string): number | null {
    const until = this.#failing.get(name)?.until ?? 0
    return until > this.#options.world.now() ? until : null
  }

  succeeded(name: string): void {
    this.#failing.delete(name)
  }

  failed(name: string): void {
    const { world, failures: most } = this.#options
    const failures = (this.#failing.get(name)?.failures ?? 0) + 1
    const wait = failures < most ? 0 : Math.min(WAIT_MAX_MS, WAIT_MS * 2 ** (failures - most))
    this.#failing.delete(name)
    if (this.#failing.size >= NAMES_MAX) {
      const [oldest] = this.#failing.keys()
      if (oldest !== undefined) this.#failing.delete(oldest)
    }
    this.#failing.set(name, { failures, until: world.now() + wait })
  }
}
