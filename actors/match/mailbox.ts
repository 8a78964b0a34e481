/** A bounded queue of the messages a match has yet to decide. It hands them out in batches, in order. */
import type { UserId } from '../kernel/ids.ts'
import { BATCH_MAX, MAILBOX_MAX } from '../kernel/limits.ts'

/** A queued message. System messages have no user, and a full mailbox still takes them. */
export interface Message {
  readonly userId: UserId | null
}

export class Mailbox<T extends Message> {
  #queue: T[] = []
  #users = 0
  readonly #max: number

  constructor(max: number = MAILBOX_MAX) {
    this.#max = max
  }

  get size(): number {
    return this.#queue.length
  }

  /** The number of messages that users have sent. */
  get fromUsers(): number {
    return this.#users
  }

  /** False when the mailbox is full and the message was not taken. */
  put(message: T): boolean {
    if (message.userId !== null && this.#queue.length >= this.#max) return false
    this.#queue.push(message)
    if (message.userId !== null) this.#users++
    return true
  }

  /**
   * The next batch: at most `max` messages in order and one per user, so that the check against the user's balance is
   * exact. A user's other messages wait for the next batch, still in order. A system message begins a batch, or waits
   * while `isHeld`.
   */ // A2
  take({ max = BATCH_MAX, isHeld = false }: { readonly max?: number; readonly isHeld?: boolean } = {}): T[] {
    const batch: T[] = []
    const left: T[] = []
    const users = new Set<UserId>()
    let isFull = false
    for (const message of this.#queue) {
      if (message.userId === null && !isHeld && batch.length > 0) isFull = true
      if (isFull || (message.userId === null ? isHeld : users.has(message.userId))) {
        left.push(message)
        continue
      }
      if (message.userId !== null) users.add(message.userId)
      isFull = batch.push(message) >= max
    }
    this.#queue = left
    this.#users -= users.size
    return batch
  }

  /** Puts messages that were taken back at the front, in their order. */
  putBack(messages: readonly T[]): void {
    this.#queue = [...messages, ...this.#queue]
    this.#users += messages.filter(({ userId }) => userId !== null).length
  }

  /** Empties the mailbox and returns what it held. */
  clear(): T[] {
    const all = this.#queue
    this.#queue = []
    this.#users = 0
    return all
  }
}
