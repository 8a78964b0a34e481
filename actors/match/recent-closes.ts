/** The closes of a match that late news may reach: those of the last minutes, and those that news has found already. */
import type { PositionId } from '../kernel/ids.ts'
import { LATE_REACH_MAX_MS, RECENT_CLOSES_MAX } from '../kernel/limits.ts'
import type { Instant } from '../kernel/world.ts'
import type { RecentClose } from '../position/recent-close.ts'

export class RecentCloses implements Iterable<RecentClose> {
  /** Not found by any news yet, in the order in which they were closed. */
  readonly #recent = new Map<PositionId, RecentClose>()
  /**
   * Awaited or corrected: closes in the seconds before news. Each is kept to the end, because what was booked may be
   * taken back however late, and each position is here at most once.
   */
  readonly #found = new Map<PositionId, RecentClose>()

  put(close: RecentClose): void {
    const { id } = close.position
    const isFound = close.awaited || close.corrections.length > 0
    this.#recent.delete(id)
    this.#found.delete(id)
    if (isFound) this.#found.set(id, close)
    else this.#recent.set(id, close)
    this.#forget(close.position.close.at)
  }

  forget(id: PositionId): void {
    this.#recent.delete(id)
    this.#found.delete(id)
  }

  *[Symbol.iterator](): Iterator<RecentClose> {
    yield* this.#recent.values()
    yield* this.#found.values()
  }

  #forget(now: Instant): void {
    for (const [id, { position }] of this.#recent) {
      if (this.#recent.size <= RECENT_CLOSES_MAX && now - position.close.at <= LATE_REACH_MAX_MS) return
      this.#recent.delete(id)
    }
  }
}
