/** Lets so many calls run at a time. One that takes long is not waited for: another starts beside it. */

export interface CallLimitOptions {
  /** Calls that run together while all are quick. */
  readonly together: number
  /** What is not quick: from then on a call has no place among those any more. */
  readonly slowAfterMs: number
  /** Calls that run together however slow they are. */
  readonly atMost: number
}

/**
 * Quick calls in small number use the database best, but a slow one (it waits for a row that somebody has locked, say)
 * must not hold up the others. Who has to wait is served in order; callers bound their number themselves.
 */
export class CallLimit {
  readonly #options: CallLimitOptions
  readonly #waiting: (() => void)[] = []
  #quick = 0
  #running = 0

  constructor(options: CallLimitOptions) {
    this.#options = options
  }

  async run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#hasRoom()) this.#enter()
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
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

  /** Whoever waits enters before he is woken, so that nobody can slip in between. */
  #next(): void {
    const wake = this.#hasRoom() ? this.#waiting.shift() : undefined
    if (wake === undefined) return
    this.#enter()
    wake()
  }
}
