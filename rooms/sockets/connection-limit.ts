/** Counts who is connected, over both doors: the house has a limit, and so has each user. */
import type { UserId } from '../../actors/kernel/ids.ts'

/** Of one process (specification 8). */
export const CONNECTIONS_MAX = 20_000
/** Of one user: some tabs, a phone, and those that are broken but not yet known to be. */
export const CONNECTIONS_PER_USER_MAX = 10

/** The right to one connection. Giving it back twice is giving it back once. */
export interface Pass {
  readonly userId: UserId
  giveBack(): void
}

export interface ConnectionLimits {
  readonly connectionsMax: number
  readonly perUserMax: number
}

export class ConnectionLimit {
  readonly #limits: ConnectionLimits
  readonly #byUser = new Map<UserId, number>()
  #inside = 0

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { connectionsMax: CONNECTIONS_MAX, perUserMax: CONNECTIONS_PER_USER_MAX, ...limits }
  }

  get inside(): number {
    return this.#inside
  }

  /** A pass, or why there is none: this user has too many connections, or the house is full. */
  enter(userId: UserId): Pass | 'too_many' | 'full' {
    const his = this.#byUser.get(userId) ?? 0
    if (his >= this.#limits.perUserMax) return 'too_many'
    if (this.#inside >= this.#limits.connectionsMax) return 'full'
    this.#byUser.set(userId, his + 1)
    this.#inside++
    let isInside = true
    return {
      userId,
      giveBack: () => {
        if (isInside) this.#leave(userId)
        isInside = false
      },
    }
  }

  #leave(userId: UserId): void {
    this.#inside--
    const left = (this.#byUser.get(userId) ?? 0) - 1
    if (left > 0) this.#byUser.set(userId, left)
    else this.#byUser.delete(userId)
  }
}
