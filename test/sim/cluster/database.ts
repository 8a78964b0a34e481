/** The database of the simulated cluster: every statement takes time, and all wait while it stalls. */
import type { Chance } from '../../../actors/replay/chance.ts'
import type { Schedule, VirtualTime } from './virtual-time.ts'

export interface DatabaseOptions {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly onStatement: (name: string, by: Schedule) => void
}

/** On the way there, and on the way back. */
const HOP_MS = { least: 0.2, spread: 2 } as const

export class SimulatedDatabase {
  readonly #options: DatabaseOptions
  #stalledUntil = 0

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  get isStalled(): boolean {
    return this.#stalledUntil > this.#options.time.now
  }

  /** Statements that arrive from now on wait this long. */
  stall(ms: number): void {
    this.#stalledUntil = this.#options.time.now + ms
  }

  /**
   * A port whose every call is a statement. One that was sent is carried out even if its process dies; the answer is
   * then lost.
   */
  behind<T extends object>(port: T, by: Schedule): T {
    return new Proxy(port, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        return (...args: unknown[]) => this.#call(String(name), by, () => Reflect.apply(method, target, args))
      },
    })
  }

  #call(name: string, by: Schedule, carryOut: () => unknown): Promise<unknown> {
    const { time, onStatement } = this.#options
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => time.after(this.#hop(), settle, by)
      const arrive = (): void => {
        if (this.isStalled) return time.after(this.#stalledUntil - time.now + this.#hop(), arrive)
        onStatement(name, by)
        Promise.resolve(carryOut()).then(
          (result) => answer(() => resolve(result)),
          (error: unknown) => answer(() => reject(error)),
        )
      }
      time.after(this.#hop(), arrive)
    })
  }

  #hop(): number {
    return HOP_MS.least + this.#options.chance.uniform() * HOP_MS.spread
  }
}
