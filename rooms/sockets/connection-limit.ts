/** Connection limits per process and per user, over the price feed and match rooms. */
import type { UserId } from '../../actors/kernel/ids.ts'
import type { Visitor } from './admission.ts'

/** Per process (specification 8). */
export const CONNECTIONS_MAX = 20_000
/** Per user: some tabs, a phone, and broken connections that have not been noticed yet. */
export const CONNECTIONS_PER_USER_MAX = 10

/** The right to one connection. */
export interface Slot extends Visitor {
  /** Only the first call has an effect. */
  release(): void
}

export interface ConnectionLimits {
  readonly connectionsMax: number
  readonly perUserMax: number
}

export class ConnectionLimit {
  readonly #limits: ConnectionLimits
  readonly #byUser = new Map<UserId, number>()
  #taken = 0

  constructor(limits: Partial<ConnectionLimits> = {}) {
    this.#limits = { connectionsMax: CONNECTIONS_MAX, perUserMax: CONNECTIONS_PER_USER_MAX, ...limits }
  }

  /** A slot; or `too_many` if this user has too many connections, `full` if the process has. */
  take({ userId, sessionId }: Visitor): Slot | 'too_many' | 'full' {
    const ofUser = this.#byUser.get(userId) ?? 0
    if (ofUser >= this.#limits.perUserMax) return 'too_many'
    if (this.#taken >= this.#limits.connectionsMax) return 'full'
    this.#byUser.set(userId, ofUser + 1)
    this.#taken++
    let isTaken = true
    return {
      userId,
      sessionId,
      release: () => {
        if (isTaken) this.#release(userId)
        isTaken = false
      },
    }
  }

  #release(userId: UserId): void {
    this.#taken--
    const left = (this.#byUser.get(userId) ?? 0) - 1
    if (left > 0) this.#byUser.set(userId, left)
    else this.#byUser.delete(userId)
  }
}
