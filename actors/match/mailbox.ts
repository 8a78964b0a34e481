/** A bounded queue of what a match has been told and has not yet decided. Handed out in batches, in order. */
import type { UserId } from '../kernel/ids.ts'
import { BATCH_MAX, MAILBOX_MAX } from '../kernel/limits.ts'

/** Something waiting. System messages have no user and are never refused for lack of room. */
export interface Waiting {
  readonly userId: UserId | null
}

export class Mailbox<T extends Waiting> {
  #queue: T[] = []
  readonly #max: number

  constructor(max: number = MAILBOX_MAX) {
    this.#max = max
  }

  get size(): number {
    return this.#queue.length
  }

  /** False when the mailbox is full and the message was not taken. */
  put(message: T): boolean {
    if (message.userId !== null && this.#queue.length >= this.#max) return false
    this.#queue.push(message)
    return true
  }

  /**
   * The next batch: at most BATCH_MAX messages in order, and one per user, so that the check against his balance is
   * exact. A user's further messages wait for the next batch, still in order.
   */ // A2
  take(max: number = BATCH_MAX): T[] {
    const batch: T[] = []
    const left: T[] = []
    const users = new Set<UserId>()
    for (const message of this.#queue) {
      if (batch.length >= max || (message.userId !== null && users.has(message.userId))) {
        left.push(message)
        continue
      }
      if (message.userId !== null) users.add(message.userId)
      batch.push(message)
    }
    this.#queue = left
    return batch
  }

  /** Everything that waits, which then waits no more. */
  clear(): T[] {
    const all = this.#queue
    this.#queue = []
    return all
  }
}
