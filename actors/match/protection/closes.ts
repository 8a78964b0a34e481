/** The closes of a match that news may still move. */
import type { PositionId } from '../../kernel/ids.ts'
import { MOVABLE_CLOSES_MAX } from '../../kernel/limits.ts'
import type { Instant } from '../../kernel/world.ts'
import type { ClosedPosition } from '../../position/position.ts'

export interface MovableClose {
  readonly position: ClosedPosition
  /** From this instant on it stands. */
  readonly until: Instant
}

/** The latest of them by position. Those that stand are dropped as others come, and so are the first beyond a limit. */
export class MovableCloses implements Iterable<MovableClose> {
  readonly #closes = new Map<PositionId, MovableClose>()

  put(close: MovableClose): void {
    this.#closes.delete(close.position.id)
    this.#closes.set(close.position.id, close)
    const now = close.position.close.at
    for (const [id, { until }] of this.#closes) {
      if (until > now && this.#closes.size <= MOVABLE_CLOSES_MAX) return
      this.#closes.delete(id)
    }
  }

  forget(id: PositionId): void {
    this.#closes.delete(id)
  }

  [Symbol.iterator](): Iterator<MovableClose> {
    return this.#closes.values()
  }
}
