/** Leaves alone for a while what has failed: longer with each failure in a row, as webhooks are. */
import { MINUTE_MS, SECOND_MS, type World } from '../../../actors/kernel/world.ts'

export interface BreakerOptions {
  readonly world: Pick<World, 'steady'>
  /** Failures in a row, each of another user, before it is left alone. */
  readonly failures: number
}

const WAIT_MS = 5 * SECOND_MS
export const WAIT_MAX_MS = 5 * MINUTE_MS
/** Names that are remembered; of more, the one that failed longest ago is forgotten. */
const NAMES_MAX = 10_000

interface Failing {
  readonly failures: number
  /** Users whose failures led to the pause; later failures add none. */
  readonly users: ReadonlySet<string>
  /** By the steady clock. */
  readonly until: number
}

export class Breaker {
  readonly #options: BreakerOptions
  readonly #failing = new Map<string, Failing>()

  constructor(options: BreakerOptions) {
    this.#options = options
  }

  /** For how long a name is left alone, in ms; 0 if it may be tried. */
  heldMs(name: string): number {
    const failing = this.#failing.get(name)
    return failing === undefined ? 0 : Math.max(0, failing.until - this.#options.world.steady.now())
  }

  succeeded(name: string): void {
    this.#failing.delete(name)
  }

  /** What was under way when it was left alone counts no more; nor does one user, however often, for two. */
  failed(name: string, user: string): void {
    const { world, failures: most } = this.#options
    const known = this.#failing.get(name) ?? { failures: 0, users: new Set<string>(), until: -Infinity }
    if (known.until > world.steady.now()) return
    if (known.failures < most && known.users.has(user)) return
    const failures = known.failures + 1
    const users = failures > most ? known.users : new Set([...known.users, user])
    const wait = failures < most ? 0 : Math.min(WAIT_MAX_MS, WAIT_MS * 2 ** (failures - most))
    this.#failing.delete(name)
    if (this.#failing.size >= NAMES_MAX) {
      const [oldest] = this.#failing.keys()
      if (oldest !== undefined) this.#failing.delete(oldest)
    }
    this.#failing.set(name, { failures, users, until: world.steady.now() + wait })
  }
}
