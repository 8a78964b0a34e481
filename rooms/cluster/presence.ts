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
  /** Says that this process found another gone; enough witnesses release its matches, which are returned. */
  missed(process: ProcessId, witnesses: 1 | 2): Promise<readonly unknown[]>
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
  readonly world: Pick<World, 'now'>
  readonly report: Report
}

const BEAT_MS = SECOND_MS
/** Beats unheard until the connection is made anew, and again after as many. */
const RECONNECT_AFTER = 3
/** Beats unheard until a process that can be replaced is. */
const CUT_OFF_AFTER = 8
const PROBE_MS = 250
/** Another process is gone if this many probes in a row had no receiver. Its connection may be coming back. */
const MISSES = 2
/** A process that nobody else can confirm to be gone is missed for a second. */
const MISSES_ALONE = 5
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
  #neighbour: { readonly id: ProcessId; misses: number } | null = null
  #probing = false

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
    bus.onGap(() => (this.#gapAt = this.#options.world.now()))
    await bus.subscribe('missed', (id) => void this.#confirm(id))
    await bus.subscribe('orphaned', () => this.#lookForOrphans())
    this.#gapAt = this.#options.world.now()
    this.#timers = [setInterval(() => this.#beat(), BEAT_MS), setInterval(() => void this.#probe(), PROBE_MS)]
  }

  /** Says in the database whether this process hears, and gives its matches back if not. To be called every second. */
  async look(): Promise<void> {
    const { registry, matches, bus, report } = this.#options
    const isDeaf = this.#unheard >= CUT_OFF_AFTER
    // Says so long before it acts: when all lose the bus, nobody may seem to hear.
    this.#others = await registry.seen(this.#unheard < RECONNECT_AFTER)
    const wasCutOff = this.#isCutOff
    // Where nobody hears, the bus is away: trades go on whose client and match are in one process.
    this.#isCutOff = isDeaf && this.#others.length > 0
    if (this.#isCutOff && !wasCutOff) report('bus_unheard', new Error('cut off from the other processes'), {})
    if (isDeaf && this.#others.some(({ runsMatches }) => runsMatches)) await matches.giveBack()
    else matches.resume()
    this.#choose(bus.processId)
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

  /** Each process watches the next one that runs matches, in the order of their ids. */
  #choose(own: ProcessId): void {
    const hosts = this.#others.filter(({ runsMatches }) => runsMatches).map(({ id }) => id)
    const next = hosts.find((id) => id > own) ?? hosts[0] ?? null
    if (next !== (this.#neighbour?.id ?? null)) this.#neighbour = next === null ? null : { id: next, misses: 0 }
  }

  async #probe(): Promise<void> {
    const neighbour = this.#neighbour
    if (neighbour === null || this.#probing || !this.#isWitness) return
    this.#probing = true
    try {
      neighbour.misses = (await this.#isGone(neighbour.id)) ? neighbour.misses + 1 : 0
      const isAlone = this.#others.length < 2
      if (neighbour.misses < (isAlone ? MISSES_ALONE : MISSES)) return
      if (!isAlone) this.#options.bus.publish('missed', neighbour.id)
      await this.#miss(neighbour.id, isAlone ? 1 : 2)
    } finally {
      this.#probing = false
    }
  }

  /** Another process misses a third. */
  async #confirm(id: ProcessId): Promise<void> {
    if (id === this.#options.bus.processId || !this.#isWitness) return
    if (await this.#isGone(id)) await this.#miss(id, 2)
  }

  async #miss(id: ProcessId, witnesses: 1 | 2): Promise<void> {
    const { registry, bus, report } = this.#options
    try {
      if ((await registry.missed(id, witnesses)).length === 0) return
    } catch (error) {
      return report('process_missed_unsaid', error, { process: id })
    }
    report('process_gone', new Error('its matches are taken over'), { process: id })
    bus.publish('orphaned', id)
  }

  #lookForOrphans(): void {
    const { matches, report } = this.#options
    matches.lookForOrphans().catch((error: unknown) => report('orphan_scan_failed', error))
  }

  get #isWitness(): boolean {
    return this.#unheard <= 1 && this.#options.world.now() - this.#gapAt > SETTLED_MS
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
