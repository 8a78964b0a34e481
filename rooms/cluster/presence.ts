/**
 * Whether this process hears the others, and whether they are there. A connection can be silent without breaking, so
 * each process sends itself a message every second. And each asks the next process every quarter of a second whether it
 * is there, so that the matches of one that was killed need not wait until its leases expire.
 */
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Report } from '../report.ts'
import type { ProcessId, PubSub } from './bus.ts'
import type { ClusterBus } from './protocol.ts'

/** The processes of the installation, as they say in the database. */
export interface Registry {
  /** Says that this process runs, and whether it hears the bus. Returns the others that run and hear, by id. */
  seen(hears: boolean): Promise<readonly OtherProcess[]>
  /**
   * Says that this process found another gone. Returns how many processes did, 0 if it has left, and the matches that
   * are released if they are enough.
   */
  missed(
    process: ProcessId,
    witnesses: 1 | 2,
  ): Promise<{ readonly witnesses: number; readonly matches: readonly unknown[] }>
  left(): Promise<void>
}

export interface OtherProcess {
  readonly id: ProcessId
  readonly runsMatches: boolean
}

/** The matches of this process. */
export interface Matches {
  /** Stops every match here, and takes none up until `resume`. */
  giveBack(): Promise<void>
  resume(): void
  lookForOrphans(): Promise<void>
}

export interface PresenceOptions {
  readonly pubSub: PubSub
  readonly bus: ClusterBus
  readonly registry: Registry
  readonly matches: Matches
  readonly world: Pick<World, 'steady' | 'randomInt'>
  readonly report: Report
}

const BEAT_MS = SECOND_MS
/** Reconnects after this many beats unheard, and again after as many. */
const RECONNECT_AFTER = 3
/** Beats unheard until a process that can be replaced is. */
const CUT_OFF_AFTER = 8
const PROBE_MS = 250
/** Another process is gone if this many probes in a row had no receiver. Its connection may be coming back. */
const MISSES = 2
/** If no other process can confirm that one is gone, it must be missed for a second. */
const MISSES_ALONE = 5
/**
 * A process that was found gone is passed over by the one that watches it, for there may be another behind it that is
 * gone. It is asked again if it still seems to run: no process may have confirmed, or it was a mistake.
 */
const PASSED_OVER_MS = { missed: SECOND_MS, orphaned: 5 * SECOND_MS } as const
/**
 * The others confirm that a process is gone within this time for each of them, and no longer once enough have: a second
 * witness is needed, not forty.
 */
const CONFIRM_MS = 5
/** After a gap of its own a process is no witness: the others may be as late as it was. */
const SETTLED_MS = 2 * SECOND_MS

const pulseOf = (id: ProcessId): string => `pulse:${id}`

export class Presence {
  readonly #options: PresenceOptions
  #timers: NodeJS.Timeout[] = []
  /** Beats sent since one was heard. A process that stands still sends none, so it does not count its own pauses. */
  #unheard = 0
  #others: readonly OtherProcess[] = []
  #gapAt = 0
  #isCutOff = false
  /** Looks in a row at which this process did not hear, and another that runs matches did. */
  #outdone = 0
  /** Of the processes behind this one, how many probes in a row had no receiver. */
  #misses: ReadonlyMap<ProcessId, number> = new Map()
  #probing = false
  /** Processes found gone, each with the time until which it is not asked again. */
  readonly #passedOver = new Map<ProcessId, number>()

  constructor(options: PresenceOptions) {
    this.#options = options
  }

  /** This process cannot hear the bus, and others can: they have its matches, and clients should go to them. */
  get isCutOff(): boolean {
    return this.#isCutOff
  }

  /** How long this process has not heard itself, to the second. One beat is always under way. */
  get unheardMs(): number {
    return Math.max(0, this.#unheard - 1) * BEAT_MS
  }

  async open(): Promise<void> {
    const { pubSub, bus } = this.#options
    const own = bus.processId
    await pubSub.subscribe(pulseOf(own), (from) => {
      if (from.toString() === own) this.#unheard = 0
    })
    bus.onGap(() => (this.#gapAt = this.#options.world.steady.now()))
    await bus.subscribe('missed', (id) => void this.#confirm(id))
    await bus.subscribe('orphaned', (id) => {
      this.#passOver(id, PASSED_OVER_MS.orphaned)
      this.#lookForOrphans()
    })
    this.#gapAt = this.#options.world.steady.now()
    this.#timers = [setInterval(() => this.#beat(), BEAT_MS), setInterval(() => void this.#probe(), PROBE_MS)]
  }

  /** Says in the database whether this process hears, and gives its matches back if not. To be called every second. */
  async look(): Promise<void> {
    const { registry, matches, report } = this.#options
    const isDeaf = this.#unheard >= CUT_OFF_AFTER
    // Says so long before it acts: when all lose the bus, no process may seem to hear.
    const hears = this.#unheard < RECONNECT_AFTER
    this.#others = await registry.seen(hears)
    const wasCutOff = this.#isCutOff
    // No process hears: the bus is unavailable. Trades continue whose client and match are in one process.
    this.#isCutOff = isDeaf && this.#others.length > 0
    if (this.#isCutOff && !wasCutOff) report('bus_unheard', new Error('cut off from the other processes'), {})
    this.#outdone = !hears && this.#others.some(({ runsMatches }) => runsMatches) ? this.#outdone + 1 : 0
    // When the bus comes back to all, the first to hear it must not get the matches of those that follow.
    if (isDeaf && this.#outdone >= CUT_OFF_AFTER - RECONNECT_AFTER) await matches.giveBack()
    else matches.resume()
    for (const [id, until] of this.#passedOver)
      if (until <= this.#options.world.steady.now()) this.#passedOver.delete(id)
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#options.registry.left().catch(() => undefined)
  }

  #beat(): void {
    const { pubSub, bus } = this.#options
    this.#unheard++
    if (this.#unheard % (RECONNECT_AFTER + 1) === RECONNECT_AFTER) pubSub.reconnect()
    pubSub.publish(pulseOf(bus.processId), Buffer.from(bus.processId)).catch(() => undefined)
  }

  /**
   * Each process watches the next one that runs matches, in the order of their ids; and where that one is gone also the
   * one after it, and so on, for many may die at once.
   */
  async #probe(): Promise<void> {
    if (this.#probing || !this.#isWitness) return
    this.#probing = true
    try {
      const misses = new Map<ProcessId, number>()
      for (const id of this.#next()) {
        if (!(await this.#isGone(id))) break
        misses.set(id, (this.#misses.get(id) ?? 0) + 1)
      }
      this.#misses = misses
      const isAlone = this.#others.length < 2
      const gone = [...misses].filter(([, count]) => count >= (isAlone ? MISSES_ALONE : MISSES))
      await Promise.all(gone.map(([id]) => this.#found(id, isAlone)))
    } finally {
      this.#probing = false
    }
  }

  async #found(id: ProcessId, isAlone: boolean): Promise<void> {
    this.#passOver(id, PASSED_OVER_MS.missed)
    const witnesses = await this.#miss(id, isAlone ? 1 : 2)
    // Another is needed; and none if the process has left.
    if (!isAlone && witnesses === 1) this.#options.bus.publish('missed', id)
  }

  /** The processes that run matches, beginning after this one. */
  #next(): readonly ProcessId[] {
    const own = this.#options.bus.processId
    const hosts = this.#others.flatMap(({ id, runsMatches }) => (runsMatches && !this.#passedOver.has(id) ? [id] : []))
    return [...hosts.filter((id) => id > own), ...hosts.filter((id) => id < own)]
  }

  #passOver(id: ProcessId, ms: number): void {
    this.#passedOver.set(id, this.#options.world.steady.now() + ms)
  }

  /** A process reports a third one gone. */
  async #confirm(id: ProcessId): Promise<void> {
    if (id === this.#options.bus.processId) return
    await pause(this.#options.world.randomInt(1 + this.#others.length * CONFIRM_MS))
    if (!this.#isWitness || this.#passedOver.has(id)) return
    if (await this.#isGone(id)) await this.#miss(id, 2)
  }

  /** Returns how many miss it; 0 if it has left, or if that is not known. */
  async #miss(id: ProcessId, witnesses: 1 | 2): Promise<number> {
    const { registry, bus, report } = this.#options
    const missed = await registry.missed(id, witnesses).catch((error: unknown) => {
      report('process_missed_unsaid', error, { process: id })
      return { witnesses: 0, matches: [] }
    })
    const isReleased = missed.matches.length > 0
    if (isReleased) report('process_gone', new Error('its matches are taken over'), { process: id })
    // The last witness that was needed says so even of a process without matches, so that the others need not look.
    if (isReleased || missed.witnesses === witnesses) bus.publish('orphaned', id)
    return missed.witnesses
  }

  #lookForOrphans(): void {
    const { matches, report } = this.#options
    matches.lookForOrphans().catch((error: unknown) => report('orphan_scan_failed', error))
  }

  get #isWitness(): boolean {
    return this.#unheard <= 1 && this.#options.world.steady.now() - this.#gapAt > SETTLED_MS
  }

  /** Whether nothing receives messages to that process. Unknown is no. */
  async #isGone(id: ProcessId): Promise<boolean> {
    const { pubSub, bus } = this.#options
    return pubSub.send(pulseOf(id), Buffer.from(bus.processId)).then(
      (reached) => reached === 0,
      () => false,
    )
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
