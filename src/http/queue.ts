/**
 * Lets a few requests of a kind in at a time; the others wait in order. Signing a session's tokens keeps two threads
 * busy for a millisecond and its rows take five queries, so 2,000 sign-ins at once would leave neither for trades.
 */
import { answerWith } from './answers.ts'

export interface QueueOptions {
  /** Requests inside at a time. */
  readonly together: number
  /** Requests waiting; one more is refused. */
  readonly waiting: number
  /** After this time in the queue a request is refused. */
  readonly withinMs: number
}

export interface FairQueueOptions extends QueueOptions {
  /** Requests of one owner that wait for the owner's own. */
  readonly waitingOfOne: number
}

/** Sign-ins and refreshes: who has waited for ten seconds is better told to come back. */
export const SIGN_INS: QueueOptions = { together: 2, waiting: 4_000, withinMs: 10_000 }
/** As many as may wait for a socket: a process that has lost its sockets signs tokens for all of them. */
export const SOCKET_TOKENS: QueueOptions = { together: 4, waiting: 20_000, withinMs: 30_000 }

/** To a request that was not let in, or waited too long. */
export const QUEUE_FULL = answerWith('UNAVAILABLE', { retryAfterSecs: 5 })

/**
 * Work in the order of its callers. One that has waited too long, or has gone, leaves the queue. A request enters when
 * it has been read and found valid: what a client sends slowly, or wrongly, keeps no other waiting.
 */ // H21
export class Queue {
  readonly #options: QueueOptions
  readonly #line = new Set<() => void>()
  #inside = 0

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** What the work returns, or null if it was not begun. `gone` aborts when its caller has. */
  async run<T>(gone: AbortSignal, work: () => Promise<T>): Promise<T | null> {
    if (!(await this.#entered(gone))) return null
    try {
      return await work()
    } finally {
      const [next] = this.#line
      if (next === undefined) this.#inside--
      // One that waits is given the place of the one that leaves.
      else next()
    }
  }

  #entered(gone: AbortSignal): Promise<boolean> {
    const { together, waiting, withinMs } = this.#options
    if (this.#inside < together) {
      this.#inside++
      return Promise.resolve(true)
    }
    if (this.#line.size >= waiting || gone.aborted) return Promise.resolve(false)
    const over = AbortSignal.any([gone, AbortSignal.timeout(withinMs)])
    return new Promise((resolve) => {
      const leave = (isNext: boolean): void => {
        this.#line.delete(enter)
        over.removeEventListener('abort', giveUp)
        resolve(isNext)
      }
      const enter = (): void => leave(true)
      const giveUp = (): void => leave(false)
      this.#line.add(enter)
      over.addEventListener('abort', giveUp)
    })
  }
}

/**
 * A queue in which one owner is inside once at a time: the rest of what they ask for waits in a line of their own. So a
 * user who asks for something slow many times at once keeps no other waiting.
 */ // H21
export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #all: Queue
  /** The lines of owners who are inside or wait. */
  readonly #lines = new Map<string, { readonly line: Queue; callers: number }>()

  constructor(options: FairQueueOptions) {
    this.#options = options
    this.#all = new Queue(options)
  }

  /** As in a queue; the time in both lines counts. */
  async run<T>(owner: string, gone: AbortSignal, work: () => Promise<T>): Promise<T | null> {
    const { waitingOfOne, withinMs } = this.#options
    const own = this.#lines.get(owner) ?? {
      line: new Queue({ together: 1, waiting: waitingOfOne, withinMs }),
      callers: 0,
    }
    this.#lines.set(owner, own)
    own.callers++
    const over = AbortSignal.any([gone, AbortSignal.timeout(withinMs)])
    try {
      return await own.line.run(over, () => this.#all.run(over, work))
    } finally {
      if (--own.callers === 0) this.#lines.delete(owner)
    }
  }
}
