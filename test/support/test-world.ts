/** A world that a test controls: a clock that only the test moves, counted ids, and seeded chance. */
import { type Instant, instant, type World } from '../../actors/kernel/world.ts'

export class TestWorld implements World {
  /** Starts at zero, as that of a process does: a rule that takes zero for long ago would be found. */
  readonly steady = { now: () => instant(this.#now - this.#start) }
  readonly #start: Instant
  #now: Instant
  #ids = 0
  #seed: number

  constructor(options: { readonly now?: number; readonly seed?: number } = {}) {
    this.#start = this.#now = instant(options.now ?? Date.UTC(2026, 7, 22, 15, 0, 0))
    this.#seed = options.seed ?? 1
  }

  now(): Instant {
    return this.#now
  }

  pass(ms: number): void {
    this.#now = instant(this.#now + ms)
  }

  /** Shaped like a UUIDv7, so that databases take it and age is order. */
  newId(): string {
    const n = (++this.#ids).toString(16).padStart(12, '0')
    return `00000000-0000-7000-8000-${n}`
  }

  /** mulberry32: small, seedable, good enough to vary a test. */
  randomInt(below: number): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0
    let t = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below)
  }

  secret(bytes: number): string {
    return Array.from({ length: bytes }, () => this.randomInt(256).toString(16).padStart(2, '0')).join('')
  }
}
