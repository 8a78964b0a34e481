/** Limits concurrent calls; a slow call gives its slot to the next, up to a hard cap. */

export interface CallLimitOptions {
  /** Concurrent calls while all are quick. */
  readonly together: number
  /** A call that takes longer is slow, and gives its slot to the next. */
  readonly slowAfterMs: number
  /** The hard cap, slow calls included. */
  readonly atMost: number
}

/**
 * A few quick calls at a time use the database best, but a slow one (waiting for a locked row, say) must not delay the
 * others. Waiting calls run in order, each after all that the end of the one before it wakes up; callers bound their
 * number themselves.
 */
export class CallLimit {
  readonly #options: CallLimitOptions
  readonly #waiting: (() => void)[] = []
  #quick = 0
  #running = 0

  constructor(options: CallLimitOptions) {
    this.#options = options
  }

  /** Calls that wait for a slot. */
  get waiting(): number {
    return this.#waiting.length
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#hasRoom()) this.#enter()
    else await new Promise<void>((resolve) => this.#waiting.push(() => process.nextTick(resolve)))
    let isQuick = true
    const leaveQuick = (): void => {
      if (!isQuick) return
      isQuick = false
      this.#quick--
      this.#next()
    }
    const slow = setTimeout(leaveQuick, this.#options.slowAfterMs)
    try {
      return await call()
    } finally {
      clearTimeout(slow)
      this.#running--
      if (isQuick) leaveQuick()
      else this.#next()
    }
  }

  #hasRoom(): boolean {
    return this.#quick < this.#options.together && this.#running < this.#options.atMost
  }

  #enter(): void {
    this.#running++
    this.#quick++
  }

  /** A waiting call takes its slot before it is woken, so that no other call can take it in between. */
  #next(): void {
    const wake = this.#hasRoom() ? this.#waiting.shift() : undefined
    if (wake === undefined) return
    this.#enter()
    wake()
  }
}
