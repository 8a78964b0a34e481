/**
 * Visits every member of a large set once per period, a few at a time, so that 20,000 of them do not block the loop.
 */

const SLICES = 40

/**
 * Members may be added and removed during a sweep: an added one is visited in this sweep or the next, a removed one is
 * not visited.
 */
export class Sweeper<T> {
  readonly #members: ReadonlySet<T>
  readonly #visit: (member: T) => void
  readonly #timer: NodeJS.Timeout
  #slice = 0
  #left: Iterator<T>
  #share = 0

  constructor(members: ReadonlySet<T>, periodMs: number, visit: (member: T) => void) {
    this.#members = members
    this.#visit = visit
    this.#left = members.values()
    this.#timer = setInterval(() => this.#step(), periodMs / SLICES)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #step(): void {
    if (this.#slice === 0) {
      this.#left = this.#members.values()
      this.#share = Math.ceil(this.#members.size / SLICES)
    }
    this.#slice = (this.#slice + 1) % SLICES
    for (let visited = 0; visited < this.#share; visited++) {
      const next = this.#left.next()
      if (next.done === true) return
      this.#visit(next.value)
    }
  }
}
