/** Starts the parts of the process in order and stops them in the reverse order, even if one fails. */

/**
 * What a part is decides when it stops. An `endpoint` is what clients are connected to, a `worker` begins work without
 * being asked, and a `store` is what both of them write to: databases, outgoing mail, traces.
 */
export type PartKind = 'endpoint' | 'worker' | 'store'

export interface Part {
  readonly name: string
  readonly kind: PartKind
  /** Left out by a part that runs from the moment it is added. */
  readonly start?: () => Promise<void> | void
  /** Accepts nothing new from now on, and finishes what it has. Must not throw. */
  readonly drain?: () => void
  /** Must cope with a start that failed half-way. */
  readonly stop: () => Promise<void> | void
}

export interface LifecycleOptions {
  /** How long a process that is asked to stop carries on, so that balancers see at `/ready` that it is leaving. */
  readonly drainMs: number
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<unknown>
}

/**
 * A part that takes longer counts as failed, and the next one is stopped; the process as a whole has ten seconds
 * (`src/main.ts`). Real time takes up to five by design. A worker only finishes a step, and can do that again later.
 */
const DEADLINE_MS: Readonly<Record<PartKind, number>> = { worker: 2_000, endpoint: 6_000, store: 6_000 }

/** A part did not stop in time. */
class StopOverdue extends Error {
  override name = 'StopOverdue'

  constructor({ name, kind }: Part) {
    super(`${name} did not stop within ${DEADLINE_MS[kind]} ms`)
  }
}

export class Lifecycle {
  readonly #options: LifecycleOptions
  readonly #parts: Part[] = []
  /** Parts that have been started, or were running when they were added. */
  readonly #running = new Set<Part>()
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: LifecycleOptions) {
    this.#options = options
  }

  get isStopping(): boolean {
    return this.#stopping !== null
  }

  add(part: Part): void {
    this.#parts.push(part)
    if (part.start === undefined) this.#running.add(part)
  }

  /** Starts the parts in the order in which they were added. When one of them fails, all are stopped. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /**
   * Endpoints stop accepting; then workers stop, endpoints close and stores close, each kind in reverse order, the
   * workers without waiting for one another. A part that fails or hangs does not keep the others from stopping: what
   * failed is thrown at the end, together. May be called at any time, and again.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #start(): Promise<void> {
    try {
      for (const part of this.#parts) {
        if (part.start === undefined) continue
        this.#running.add(part)
        await part.start()
      }
    } catch (error) {
      await this.#stopParts().catch(() => undefined) // why it could not start matters more
      throw error
    }
  }

  async #stop(): Promise<void> {
    // A process that is still starting finishes that first: a part that is half built cannot be taken down.
    const hasStarted = await this.#starting?.then(
      () => true,
      () => false,
    )
    if (hasStarted === true) await this.#options.pause(this.#options.drainMs)
    await this.#stopParts()
  }

  async #stopParts(): Promise<void> {
    for (const part of this.#running) part.drain?.()
    const failed: unknown[] = []
    const stop = (part: Part): Promise<void> => this.#inTime(part).catch((error: unknown) => void failed.push(error))
    // First, so that nothing new is begun for clients that are being disconnected.
    await Promise.all(this.#runningOf('worker').map(stop))
    for (const part of this.#runningOf('endpoint')) await stop(part)
    for (const part of this.#runningOf('store')) await stop(part)
    this.#running.clear()
    if (failed.length > 0) throw new AggregateError(failed, `${failed.length} parts could not be stopped`)
  }

  #runningOf(kind: PartKind): readonly Part[] {
    return this.#parts.filter((part) => part.kind === kind && this.#running.has(part)).toReversed()
  }

  async #inTime(part: Part): Promise<void> {
    const inTime = new AbortController()
    const overdue = this.#options.pause(DEADLINE_MS[part.kind], inTime.signal).then(() => {
      throw new StopOverdue(part)
    })
    overdue.catch(() => undefined) // aborted, as it should be
    try {
      await Promise.race([part.stop(), overdue])
    } finally {
      inTime.abort()
    }
  }
}
