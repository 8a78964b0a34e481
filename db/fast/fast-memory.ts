/** The fast store in the memory of a process that runs alone. */
import { assert } from '../../actors/kernel/assert.ts'
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import { type Allowance, type FastStore, type Fields, type Hits, keys, type Put, type Spent } from './fast-store.ts'

/** When each mark may be dropped. */
type Marks = Map<string, number>

interface Entry {
  readonly value: string | Fields | Marks
  readonly expiresAt: number
}

/**
 * About 70 MB of claims (measured). A further new key is refused with an error, because a claim or a revocation must
 * never be dropped to make room.
 */
const KEYS_MAX = 500_000
/** Keys checked for expiry with every write. With two, fewer expired keys remain than live ones. */
const SWEEP_STEPS = 2
/** Pause between searches of a full store for expired keys: a search takes milliseconds. */
const FULL_SWEEP_EVERY_MS = 1_000

export class FastMemory implements FastStore {
  readonly #world: Pick<World, 'now'>
  readonly #keysMax: number
  readonly #entries = new Map<string, Entry>()
  #sweeper = this.#entries.entries()
  #sweptAt = -Infinity
  #open = true

  constructor(world: Pick<World, 'now'>, keysMax: number = KEYS_MAX) {
    this.#world = world
    this.#keysMax = keysMax
  }

  get connected(): boolean {
    return this.#open
  }

  /** Keys in memory, including expired ones that have not been swept. */
  get size(): number {
    return this.#entries.size
  }

  async get(key: string): Promise<string | null> {
    return this.#text(key)
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#write(key, value, ttlMs)
  }

  async del(key: string): Promise<void> {
    this.#living(key)
    this.#entries.delete(key)
  }

  async take(key: string): Promise<string | null> {
    const value = this.#text(key)
    this.#entries.delete(key)
    return value
  }

  async claim(key: string, ttlMs: number): Promise<boolean> {
    if (this.#living(key) !== undefined) return false
    this.#write(key, '1', ttlMs)
    return true
  }

  async mark(key: string, marks: readonly string[], ttlMs: number, ifMarked?: string): Promise<boolean> {
    const now = this.#world.now()
    const present = this.#marks(key)
    if (ifMarked !== undefined && !present.has(ifMarked)) return false
    for (const [mark, until] of present) if (until <= now) present.delete(mark)
    for (const mark of marks) present.set(mark, Math.max(present.get(mark) ?? 0, now + ttlMs))
    this.#write(key, present, Math.max(ttlMs, (this.#living(key)?.expiresAt ?? now) - now))
    return true
  }

  async marked(key: string, marks: readonly string[]): Promise<readonly boolean[]> {
    const present = this.#marks(key)
    return marks.map((mark) => present.has(mark))
  }

  async hashGet(key: string): Promise<Fields | null> {
    return this.#fields(key)
  }

  async hashGetMany(wanted: readonly string[]): Promise<readonly (Fields | null)[]> {
    return wanted.map((key) => this.#fields(key))
  }

  async putIfNewer(key: string, fields: Fields, version: number, ttlMs: number): Promise<boolean> {
    return this.#putIfNewer({ key, fields, version }, ttlMs)
  }

  async putManyIfNewer(puts: readonly Put[], ttlMs: number): Promise<void> {
    for (const put of puts) this.#putIfNewer(put, ttlMs)
  }

  async hit(key: string, windowMs: number): Promise<Hits> {
    const running = this.#living(key)
    if (running === undefined) {
      this.#write(key, '1', windowMs)
      return { count: 1, endsInMs: windowMs }
    }
    const count = Number(this.#text(key)) + 1
    this.#entries.set(key, { value: String(count), expiresAt: running.expiresAt })
    return { count, endsInMs: running.expiresAt - this.#world.now() }
  }

  async spend(key: string, { calls, windowMs }: Allowance): Promise<Spent> {
    const now = this.#world.now()
    const times = this.#text(key)?.split(' ').map(Number) ?? []
    const counted = times.filter((at) => at > now - windowMs)
    const allowed = counted.length < calls
    if (allowed) {
      counted.push(now)
      this.#write(key, counted.join(' '), windowMs)
    }
    return { allowed, left: calls - counted.length, inMs: (counted[0] ?? now) + windowMs - now }
  }

  async probe(): Promise<void> {
    await this.hit(keys.probe(0), SECOND_MS)
  }

  async close(): Promise<void> {
    this.#open = false
    this.#entries.clear()
  }

  #putIfNewer({ key, fields, version }: Put, ttlMs: number): boolean {
    const present = this.#fields(key)
    if (present !== null && Number(present['version'] ?? Number.NaN) >= version) return false
    this.#write(key, { ...present, ...fields, version: String(version) }, ttlMs)
    return true
  }

  #living(key: string): Entry | undefined {
    if (!this.#open) throw new Error('Connection is closed.')
    const entry = this.#entries.get(key)
    return entry !== undefined && entry.expiresAt > this.#world.now() ? entry : undefined
  }

  #text(key: string): string | null {
    const value = this.#living(key)?.value ?? null
    assert(value === null || typeof value === 'string', `${key} holds fields, not text`)
    return value
  }

  #fields(key: string): Fields | null {
    const value = this.#living(key)?.value ?? null
    return typeof value === 'object' && !(value instanceof Map) ? value : null
  }

  #marks(key: string): Marks {
    const value = this.#living(key)?.value
    return value instanceof Map ? value : new Map<string, number>()
  }

  #write(key: string, value: Entry['value'], ttlMs: number): void {
    assert(Number.isSafeInteger(ttlMs) && ttlMs > 0, `not a time to live: ${ttlMs}`)
    if (!this.#open) throw new Error('Connection is closed.')
    this.#sweep()
    if (!this.#entries.has(key)) this.#makeRoom()
    this.#entries.set(key, { value, expiresAt: this.#world.now() + ttlMs })
  }

  /** A few steps of an endless cycle over all keys. */
  #sweep(): void {
    const now = this.#world.now()
    for (let step = 0; step < SWEEP_STEPS; step++) {
      const next = this.#sweeper.next()
      if (next.done === true) {
        this.#sweeper = this.#entries.entries()
        return
      }
      const [key, entry] = next.value
      if (entry.expiresAt <= now) this.#entries.delete(key)
    }
  }

  #makeRoom(): void {
    if (this.#entries.size < this.#keysMax) return
    const now = this.#world.now()
    if (now - this.#sweptAt >= FULL_SWEEP_EVERY_MS) {
      this.#sweptAt = now
      for (const [key, entry] of this.#entries) if (entry.expiresAt <= now) this.#entries.delete(key)
    }
    if (this.#entries.size >= this.#keysMax) throw new Error(`OOM the fast store holds ${this.#keysMax} keys`)
  }
}
