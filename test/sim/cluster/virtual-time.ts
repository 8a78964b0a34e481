/**
 * Time that only a simulation moves. While it is installed, the timers and clocks of the program are its own, so that
 * the code of the server runs as it is. A timer belongs to the process that set it: it never fires in a dead process,
 * and waits in a frozen one.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** A simulated process, as far as timers are concerned. */
export interface Schedule {
  state: 'running' | 'frozen' | 'dead'
  /** What has come due while it was frozen, in order. */
  readonly parked: Event[]
}

interface Event {
  at: number
  readonly order: number
  readonly owner: Schedule | null
  readonly everyMs: number | null
  readonly run: () => void
  isOff: boolean
}

const REAL = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  clearImmediate: globalThis.clearImmediate,
  dateNow: Date.now,
} as const

const BEGINNING = Date.UTC(2026, 7, 22, 15, 0, 0)

export class VirtualTime {
  readonly #owner = new AsyncLocalStorage<Schedule>()
  /** A binary heap, earliest first. */
  readonly #events: Event[] = []
  #now = 0
  #order = 0

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now
  }

  /** The same as milliseconds since 1970. */
  get instant(): number {
    return BEGINNING + this.#now
  }

  /** Runs something as a part of a process: its timers are those of the process. */
  as<T>(owner: Schedule, run: () => T): T {
    return this.#owner.run(owner, run)
  }

  /** Runs something later, as a part of a process or of none. */
  after(ms: number, run: () => void, owner: Schedule | null = null): void {
    this.#add(ms, run, null, owner)
  }

  /** Runs everything that is due within this time, each event to its end before the next. */
  async pass(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      const next = this.#events[0]
      if (next === undefined || next.at > until) break
      this.#take()
      if (next.isOff) continue
      this.#now = Math.max(this.#now, next.at)
      if (next.owner?.state === 'dead') continue
      if (next.owner?.state === 'frozen') {
        next.owner.parked.push(next)
        continue
      }
      this.#fire(next)
      await turn()
    }
    this.#now = until
  }

  /** What came due while a process was frozen is due now. */
  thaw(owner: Schedule): void {
    for (const { run, everyMs, isOff } of owner.parked.splice(0)) {
      if (!isOff) this.#add(0, run, everyMs, owner)
    }
  }

  /** Replaces the timers and clocks of the program. Returns what puts them back. */
  install(): () => void {
    const handle = (event: Event) => {
      const own = { ref: () => own, unref: () => own, hasRef: () => true, refresh: () => own, event }
      return own
    }
    const clear = (timer: unknown): void => {
      if (typeof timer === 'object' && timer !== null && 'event' in timer) (timer.event as Event).isOff = true
    }
    const owner = (): Schedule | null => this.#owner.getStore() ?? null
    const set =
      (repeats: boolean) =>
      (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
        const delay = Math.max(1, ms)
        return handle(this.#add(delay, () => run(...args), repeats ? delay : null, owner()))
      }
    Object.assign(globalThis, {
      setTimeout: set(false),
      setInterval: set(true),
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
        handle(this.#add(0, () => run(...args), null, owner())),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    })
    Date.now = () => this.instant
    Object.defineProperty(performance, 'now', { value: () => this.#now, configurable: true })
    return () => {
      const { dateNow, ...timers } = REAL
      Object.assign(globalThis, timers)
      Date.now = dateNow
      Reflect.deleteProperty(performance, 'now')
    }
  }

  #fire(event: Event): void {
    const { owner, run, everyMs } = event
    if (everyMs !== null) {
      event.at = this.#now + everyMs
      this.#push(event)
    }
    if (owner === null) run()
    else this.#owner.run(owner, run)
  }

  #add(ms: number, run: () => void, everyMs: number | null, owner: Schedule | null): Event {
    const event: Event = { at: this.#now + ms, order: ++this.#order, owner, everyMs, run, isOff: false }
    this.#push(event)
    return event
  }

  #push(event: Event): void {
    const heap = this.#events
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (above === undefined || isBefore(above, event)) break
      heap[at] = above
      at = parent
    }
    heap[at] = event
  }

  #take(): void {
    const heap = this.#events
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || isBefore(last, child)) break
      heap[at] = child
      at = child === left ? 2 * at + 1 : 2 * at + 2
    }
    heap[at] = last
  }
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** Lets every promise that can settle do so. */
const turn = (): Promise<void> => new Promise((resolve) => REAL.setImmediate(resolve))
