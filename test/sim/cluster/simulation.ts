/** One run of a simulated cluster: it starts, loses processes, its bus and its database, and all are restarted. */
import { chanceFrom, type Chance } from '../../../actors/replay/chance.ts'
import { Cluster } from './cluster.ts'
import type { Loss } from './gaps.ts'
import { CLUSTER_INVARIANTS, ClusterViolation, hold } from './invariants.ts'
import { LIMITS, type Peak, type Phase, PHASES, type Resource } from './load.ts'
import type { SimulatedProcess } from './process.ts'
import { VirtualTime } from './virtual-time.ts'

export interface ClusterRun {
  readonly seed: number
  readonly processes: number
  readonly matches: number
}

/** What a run has measured. The same seed gives the same. */
export interface ClusterReport {
  readonly counts: Readonly<Record<string, number>>
  readonly gaps: Readonly<Record<Loss, readonly number[]>>
  /** The busiest second of each phase. */
  readonly peaks: Readonly<Record<Resource, Readonly<Record<string, Peak>>>>
  /** The most matches of a process, over the mean, after each quiet time. */
  readonly spreads: readonly number[]
}

/** A run that broke an invariant. */
export class ClusterFailed extends Error {
  override name = 'ClusterFailed'
  readonly invariant: string

  constructor({ seed }: ClusterRun, ms: number, cause: unknown) {
    const what = cause instanceof Error ? cause.message : String(cause)
    const invariant = cause instanceof ClusterViolation ? cause.invariant : 'crash'
    const rule = cause instanceof ClusterViolation ? `\n  ${CLUSTER_INVARIANTS[cause.invariant]}` : ''
    super(`seed ${seed}, ${(ms / 1_000).toFixed(2)} s: ${invariant}: ${what}${rule}`, { cause })
    this.invariant = invariant
  }
}

/** Rejects with ClusterFailed at the first violation. Runs alone: it replaces the timers of the program. */
export async function simulateCluster(run: ClusterRun): Promise<ClusterReport> {
  await Cluster.prepare()
  const time = new VirtualTime()
  const restore = time.install()
  try {
    const story = new Story(run, time, chanceFrom(run.seed))
    await story.tell()
    return story.report()
  } catch (error) {
    throw new ClusterFailed(run, time.now, error)
  } finally {
    restore()
  }
}

const FAULTS_PER_RUN = 8
/** Processes that say of another that it is gone, on average. Two are needed. */
const WITNESSES_MAX = 8
/** The most matches of a process, by the mean. A few are a matter of chance. */
const SPREAD = { times: 2.5, more: 3 } as const

class Story {
  readonly #run: ClusterRun
  readonly #chance: Chance
  readonly #cluster: Cluster
  readonly #spreads: number[] = []

  constructor(run: ClusterRun, time: VirtualTime, chance: Chance) {
    this.#run = run
    this.#chance = chance
    this.#cluster = new Cluster(time, chance)
  }

  async tell(): Promise<void> {
    const cluster = this.#cluster
    const { processes, matches } = this.#run
    cluster.open()
    for (let n = 0; n < processes; n++) cluster.time.after(this.#chance.below(200), () => void cluster.start())
    await cluster.pass(4_000)
    for (let n = 0; n < matches; n++) cluster.kickOff(2_000)
    await cluster.pass(8_000)
    await this.#quiet()

    this.#enter('faults')
    for (let n = 0; n < FAULTS_PER_RUN; n++) {
      await this.#mishap()
      await this.#makeWhole()
    }

    this.#enter('half die')
    await cluster.pass(3_000)
    for (const process of this.#some(processes >> 1)) process.kill()
    await cluster.pass(15_000)
    await this.#quiet()
    await this.#makeWhole()

    this.#enter('bus away')
    await this.#busAway(5_000)
    await cluster.pass(6_000)
    await this.#quiet()

    this.#enter('rolling restart')
    for (const process of cluster.serving) {
      void process.drain()
      await cluster.pass(700)
      await this.#replace(1)
      await cluster.pass(300)
    }
    await cluster.pass(4_000)
    cluster.bury()
    await this.#quiet()
    this.#checkHerds()
  }

  report(): ClusterReport {
    const { counts, gaps } = this.#cluster
    const peaks = { statements: this.#peaksOf('statements'), messages: this.#peaksOf('messages') }
    return { counts: Object.fromEntries(counts), gaps: gaps.lengths, peaks, spreads: this.#spreads }
  }

  #peaksOf(resource: Resource): Readonly<Record<string, Peak>> {
    return Object.fromEntries(PHASES.map((phase) => [phase, this.#cluster.load.peakOf(phase, resource)]))
  }

  #checkHerds(): void {
    const { counts, living } = this.#cluster
    const [missed, lost] = [counts.get('statement missed') ?? 0, (counts.get('started') ?? 0) - living.length]
    const asked = `${missed} statements say of ${lost} processes that they are gone`
    hold('herd', missed <= WITNESSES_MAX * lost, () => asked)
    for (const resource of ['statements', 'messages'] as const) {
      for (const phase of PHASES) {
        const { process } = this.#cluster.load.peakOf(phase, resource)
        const most = LIMITS[resource](phase, this.#run)
        hold(
          'herd',
          process <= most,
          () => `${process} ${resource} of one process in a second (${phase}), over ${most}`,
        )
      }
    }
  }

  #enter(phase: Phase): void {
    this.#cluster.load.enter(phase)
  }

  /** Nothing happens, and nothing moves. */
  async #quiet(): Promise<void> {
    const cluster = this.#cluster
    cluster.checkAllOwned()
    const { phase } = cluster.load
    this.#enter('calm')
    const before = cluster.counts.get('leases acquired')
    await cluster.pass(3_000)
    const after = cluster.counts.get('leases acquired')
    hold('move', before === after, () => `${(after ?? 0) - (before ?? 0)} leases were acquired in a quiet time`)
    cluster.checkAllOwned()
    const sizes = cluster.sizes()
    const mean = this.#run.matches / sizes.length
    const most = Math.max(...sizes)
    hold(
      'spread',
      most <= SPREAD.times * mean + SPREAD.more,
      () => `a process runs ${most} matches, the mean is ${mean}`,
    )
    this.#spreads.push(most / mean)
    this.#enter(phase)
  }

  async #mishap(): Promise<void> {
    const cluster = this.#cluster
    const ms = 500 + this.#chance.below(8_000)
    switch (this.#chance.below(8)) {
      case 0:
        return this.#toSome(1, 'killed', (process) => process.kill())
      case 1:
        return this.#toSome(3, 'killed', (process) => process.kill())
      case 2:
        return this.#toSome(1, 'without power', (process) => process.vanish())
      case 3:
        this.#toSome(2, 'frozen', (process) => {
          cluster.excuse(process, ms)
          process.freeze()
          cluster.time.after(ms, () => process.thaw())
        })
        return cluster.pass(ms)
      case 4:
        this.#toSome(1, 'without the bus', (process) => {
          cluster.excuse(process, 2 * ms)
          process.end.mute()
          cluster.time.after(2 * ms, () => process.end.unmute())
        })
        return cluster.pass(2 * ms)
      case 5:
        cluster.count('fault: database stalls')
        for (const process of cluster.serving) cluster.excuse(process, ms)
        cluster.gaps.outage(cluster.time.now, cluster.time.now + ms)
        cluster.database.stall(ms)
        return cluster.pass(ms)
      case 6:
        cluster.count('fault: bus away')
        return this.#busAway(ms)
      default:
        return this.#toSome(1, 'drained', (process) => void process.drain())
    }
  }

  #toSome(most: number, name: string, happens: (process: SimulatedProcess) => void): void {
    for (const process of this.#some(1 + this.#chance.below(most))) {
      this.#cluster.count(`fault: ${name}`)
      happens(process)
    }
  }

  /** All connections break, and each is made again when its process tries. */
  async #busAway(ms: number): Promise<void> {
    const { network, gaps, time } = this.#cluster
    gaps.outage(time.now, time.now + ms + 1_000)
    network.stop()
    await this.#cluster.pass(ms)
    network.start()
  }

  #some(count: number): readonly SimulatedProcess[] {
    const left = [...this.#cluster.serving]
    const taken: SimulatedProcess[] = []
    while (taken.length < count && left.length > 1) taken.push(...left.splice(this.#chance.below(left.length), 1))
    return taken
  }

  /** Waits until every match has an owner, and starts a process for each that was lost. */
  async #makeWhole(): Promise<void> {
    await this.#cluster.pass(9_000 + this.#chance.below(1_000))
    this.#cluster.bury()
    await this.#replace(this.#run.processes - this.#cluster.living.length)
    await this.#cluster.pass(3_000)
    this.#cluster.checkAllOwned()
  }

  async #replace(count: number): Promise<void> {
    const { time, chance } = this.#cluster
    for (let n = 0; n < count; n++) time.after(chance.below(200), () => void this.#cluster.start())
    await this.#cluster.pass(200)
  }
}
