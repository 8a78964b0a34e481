/**
 * Lets a crowd in a few at a time. Every connection costs a handshake, a token to verify, and the messages that the
 * client sends first; ten thousand in one turn of the event loop would keep those who are connected waiting for
 * seconds.
 */
import type { Clock } from '../../actors/kernel/world.ts'

/** The number of clients admitted at once. */
const TOGETHER_MAX = 10
/**
 * The pause until the next are admitted. If the event loop is late by then, so is everything else, and the pause
 * doubles.
 */
const PAUSE_MS = 10
/** More clients than a process has room for. */
const WAITING_MAX = 20_000

export class Pacer {
  /** Turns are taken from the front of `#calling`; those that come meanwhile wait behind it. */
  #calling: (() => void)[] = []
  #waiting: (() => void)[] = []
  readonly #clock: Clock
  #left = TOGETHER_MAX
  #timer: NodeJS.Timeout | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The number of waiting clients. */
  get waiting(): number {
    return this.#calling.length + this.#waiting.length
  }

  /** Resolves when it is this caller's turn: at once unless there is a crowd. False at once when too many wait. */
  async turn(): Promise<boolean> {
    if (this.#left > 0 && this.waiting === 0) {
      this.#left--
      this.#rest(PAUSE_MS)
      return true
    }
    if (this.waiting >= WAITING_MAX) return false
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return true
  }

  /** Admits all waiting clients, and stops. */
  stop(): void {
    clearTimeout(this.#timer)
    for (const proceed of [...this.#calling.splice(0).toReversed(), ...this.#waiting.splice(0)]) proceed()
  }

  #rest(ms: number): void {
    if (this.#timer !== undefined) return
    const dueAt = this.#clock.now() + ms
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      const lateMs = this.#clock.now() - dueAt
      if (lateMs > PAUSE_MS && this.waiting > 0) return this.#rest(Math.min(lateMs, 10 * PAUSE_MS))
      this.#letIn()
    }, ms)
  }

  #letIn(): void {
    this.#left = TOGETHER_MAX
    while (this.#left > 0 && this.waiting > 0) {
      if (this.#calling.length === 0) [this.#calling, this.#waiting] = [this.#waiting.toReversed(), []]
      this.#left--
      this.#calling.pop()?.()
    }
    if (this.#left < TOGETHER_MAX) this.#rest(PAUSE_MS)
  }
}
