/** A bounded queue of the messages a match has yet to decide. It hands them out in batches, in order. */
import type { UserId } from '../kernel/ids.ts'
import { BATCH_MAX, MAILBOX_MAX } from '../kernel/limits.ts'

/** A queued message. System messages have no user, and a full mailbox still takes them. */
export interface Message {
  readonly userId: UserId | null
}

export class Mailbox<T extends Message> {
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
   * The next batch: at most BATCH_MAX messages in order and one per user, so that the check against the user's balance
   * is exact. A user's other messages wait for the next batch, still in order.
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

  /** Empties the mailbox and returns what it held. */
  clear(): T[] {
    const all = this.#queue
    this.#queue = []
    return all
  }
}
