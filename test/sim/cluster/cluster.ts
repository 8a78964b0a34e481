/** The simulated cluster: its processes, its matches and users, and a watch over all of them. */
import { LocalDriver, LocalPresence, matchMaker } from '@colyseus/core'
import { type FixtureId, fixtureId, type InstrumentId } from '../../../actors/kernel/ids.ts'
import { LEASE_TTL_MS } from '../../../actors/kernel/limits.ts'
import { lots, money } from '../../../actors/kernel/micros.ts'
import { instant } from '../../../actors/kernel/world.ts'
import type { Batch, MatchStore, Verdict } from '../../../actors/match/store.ts'
import type { Chance } from '../../../actors/replay/chance.ts'
import { openOrder, P, player, snapshot, U } from '../../support/fixtures.ts'
import { MemoryMatchStore } from '../../support/memory-store.ts'
import { SimulatedDatabase } from './database.ts'
import { Gaps, type Loss } from './gaps.ts'
import { hold } from './invariants.ts'
import { Load } from './load.ts'
import { SimulatedNetwork } from './network.ts'
import { SimulatedProcess } from './process.ts'
import { type Lease, Records } from './records.ts'
import type { VirtualTime } from './virtual-time.ts'
import { committing } from '../../support/committing.ts'

interface Match {
  readonly id: FixtureId
  readonly instrument: InstrumentId
  seq: number
  /** Whether it has been stored. */
  hasBegun: boolean
}

const USERS = 200
/** More than all orders of a run cost. */
const RICH = money(1_000_000_000_000)
const WATCH_EVERY_MS = 20
const TRADE_EVERY_MS = 100
/** Between two updates of a match. */
const FEED_EVERY_MS = 10_000
/** Clocks of processes differ by up to this. */
const SKEW_MS = 5_000
/** After a fault of its own a process may lose matches for this long: until it has noticed, and others have acted. */
const EXCUSED_MS = 20_000

export class Cluster {
  readonly time: VirtualTime
  readonly chance: Chance
  readonly network: SimulatedNetwork
  readonly database: SimulatedDatabase
  readonly gaps = new Gaps()
  readonly load: Load
  readonly processes: SimulatedProcess[] = []
  readonly counts = new Map<string, number>()
  readonly #store = new MemoryMatchStore()
  readonly #records: Records
  readonly #matches: Match[] = []
  readonly #byInstrument = new Map<InstrumentId, FixtureId>()
  readonly #byId = new Map<string, SimulatedProcess>()
  /** Until when a process, by its id, may lose matches although it runs. */
  readonly #excused = new Map<string, number>()
  readonly #writers = new Map<string, SimulatedProcess>()
  #ids = 0
  #violation: unknown = null

  constructor(time: VirtualTime, chance: Chance) {
    this.time = time
    this.chance = chance
    this.load = new Load(
      () => time.now,
      () => this.serving.length,
    )
    this.network = new SimulatedNetwork({
      time,
      chance,
      onMessage: (_, end) => this.load.count('messages', end),
    })
    this.database = new SimulatedDatabase({
      time,
      chance,
      onStatement: (name, by) => {
        this.load.count('statements', by)
        this.count(`statement ${name}`)
      },
    })
    this.#records = new Records({
      now: () => time.now,
      unsettled: () => this.#matches.filter(({ hasBegun }) => hasBegun).map(({ id }) => id),
      onAcquired: (matchId, lease, former) => this.#acquired(matchId, lease, former),
    })
    for (let n = 1; n <= USERS; n++) this.#store.grant(U(n), RICH)
  }

  /** To be called once in a program, before the first cluster. */
  static async prepare(): Promise<void> {
    await matchMaker.setup(new LocalPresence(), new LocalDriver())
  }

  /** Begins the watch, the trading and the feed. */
  open(): void {
    this.#every(WATCH_EVERY_MS, () => this.#watch())
    this.#every(TRADE_EVERY_MS, () => this.#trade())
  }

  get serving(): readonly SimulatedProcess[] {
    return this.processes.filter(({ state, isLeaving }) => state === 'running' && !isLeaving)
  }

  get living(): readonly SimulatedProcess[] {
    return this.processes.filter(({ state }) => state !== 'dead')
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  async start(): Promise<SimulatedProcess> {
    const { time, chance, network, database } = this
    const number = (++this.#ids).toString().padStart(4, '0')
    // Neighbours by id are not neighbours by age.
    const id = `${chance.below(0xffff_ffff).toString(16).padStart(8, '0')}-${number}`
    const schedule = { current: null as SimulatedProcess | null }
    const owner = {
      get state() {
        return schedule.current?.state ?? 'running'
      },
      get parked() {
        return schedule.current?.parked ?? []
      },
    }
    const process: SimulatedProcess = new SimulatedProcess(id, {
      time,
      end: network.end(owner),
      store: database.behind(
        this.#watchedStore(() => process),
        owner,
      ),
      leases: database.behind(this.#records.leases(id, LEASE_TTL_MS), owner),
      registry: database.behind(this.#records.registry({ id, runsMatches: true }), owner),
      directory: database.behind(
        {
          matchOfInstrument: async (instrument: InstrumentId) => this.#byInstrument.get(instrument) ?? null,
          matchOfPosition: async () => null,
        },
        owner,
      ),
      newId: () => `00000000-0000-7000-8000-${(++this.#ids).toString(16).padStart(12, '0')}`,
      randomInt: (below) => chance.below(below),
      skewMs: chance.below(2 * SKEW_MS) - SKEW_MS,
      report: (event) => this.count(`report ${event}`),
    })
    schedule.current = process
    this.processes.push(process)
    this.#byId.set(id, process)
    this.count('started')
    await process.start()
    return process
  }

  /** Forgets the dead. */
  bury(): void {
    const living = this.living
    this.processes.splice(0, this.processes.length, ...living)
  }

  /** A match begins within this time: its first update reaches some process. */
  kickOff(withinMs: number): void {
    const n = this.#matches.length
    const match: Match = { id: fixtureId(1_001 + n), instrument: P(2 * n + 1), seq: 0, hasBegun: false }
    this.#matches.push(match)
    this.time.after(this.chance.below(withinMs), () => this.#feed(match))
  }

  /** A process may lose matches from now on for this long and a while. */
  excuse(process: SimulatedProcess, ms = 0): void {
    this.#excused.set(process.id, this.time.now + ms + EXCUSED_MS)
  }

  /** Lets time pass. Throws what was violated meanwhile. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.time.pass(Math.min(100, ms - passed))
      if (this.#violation !== null) throw this.#violation
    }
  }

  /** The numbers of matches of the processes that serve. */
  sizes(): readonly number[] {
    return this.serving.map((process) => [...process.hosted.keys()].filter((id) => this.#serves(process, id)).length)
  }

  /** Every match that has begun has an owner. */
  checkAllOwned(): void {
    for (const { id, hasBegun } of this.#matches) {
      hold('owner', hasBegun && this.#ownerOf(id) !== null, () => `match ${id} has no owner after a quiet time`)
    }
  }

  #every(ms: number, run: () => void): void {
    const again = (): void => {
      try {
        run()
      } catch (error) {
        this.#violation ??= error
      }
      this.time.after(ms, again)
    }
    this.time.after(ms, again)
  }

  #watch(): void {
    const { now } = this.time
    for (const { id, hasBegun } of this.#matches) {
      if (!hasBegun) continue
      if (this.#ownerOf(id) === null) this.gaps.begin(id, now, this.#lossOf(id))
      else this.gaps.end(id, now)
    }
    this.gaps.check(now)
  }

  #ownerOf(id: FixtureId): SimulatedProcess | null {
    const lease = this.#records.leaseOf(id)
    const owner = lease === undefined ? undefined : this.#byId.get(lease.owner)
    return owner !== undefined && this.#serves(owner, id) ? owner : null
  }

  /** It runs, and runs the match under the newest epoch. */
  #serves(process: SimulatedProcess, id: FixtureId): boolean {
    const hosted = process.hosted.get(id)
    return (
      process.state === 'running' &&
      hosted?.leaving === null &&
      hosted.source.epoch === this.#records.leaseOf(id)?.epoch
    )
  }

  #lossOf(id: FixtureId): Loss {
    const owner = this.#byId.get(this.#records.leaseOf(id)?.owner ?? '')
    if (owner === undefined || owner.end.isMute || owner.state === 'frozen') return 'lost'
    if (owner.isLeaving) return 'drained'
    if (owner.state === 'running') return 'lost'
    return this.load.phase === 'half die' ? 'crowd' : 'killed'
  }

  #acquired(matchId: FixtureId, { owner, epoch }: Lease, former: Lease | undefined): void {
    void this.#store.acquire(matchId)
    this.count('leases acquired')
    if (former === undefined || former.owner === owner) return
    const process = this.#byId.get(former.owner)
    if (process === undefined || process.state !== 'running' || process.isLeaving) return
    const hosted = process.hosted.get(matchId)
    const isServed = hosted?.leaving === null && hosted.source.epoch === former.epoch
    const isExcused = (this.#excused.get(process.id) ?? 0) > this.time.now
    const problem = `match ${matchId} moved from ${process.id} to ${owner} in epoch ${epoch} without a reason`
    try {
      hold('move', !isServed || isExcused, () => problem)
    } catch (error) {
      this.#violation ??= error
    }
  }

  #watchedStore(by: () => SimulatedProcess): MatchStore {
    const store = this.#store
    return committing(store, async (batch) => {
      const verdict = await store.commit(batch)
      try {
        this.#committed(batch, verdict, by())
      } catch (error) {
        this.#violation ??= error
      }
      return verdict
    })
  }

  #committed({ matchId, epoch }: Batch, { kind }: Verdict, by: SimulatedProcess): void {
    this.count(`commit ${kind}`)
    if (kind !== 'committed') return
    const newest = this.#records.leaseOf(matchId)?.epoch
    hold('fence', epoch === newest, () => `match ${matchId}: a commit of epoch ${epoch}, the newest is ${newest}`)
    const name = `${matchId} ${epoch}`
    const writer = this.#writers.get(name) ?? by
    hold('fence', writer === by, () => `match ${matchId}, epoch ${epoch}: ${writer.id} and ${by.id} commit`)
    this.#writers.set(name, by)
    const match = this.#matches[matchId - 1_001]
    if (match === undefined || match.hasBegun) return
    match.hasBegun = true
    for (const n of [1, 2]) this.#byInstrument.set(P(2 * (matchId - 1_001) + n), matchId)
  }

  /** An update of a match reaches some process, and is offered again until it has arrived. */
  #feed(match: Match): void {
    const process = this.#anyServing()
    const again = (ms: number): void => this.time.after(ms, () => this.#feed(match))
    if (process === null) return again(1_000)
    const n = match.id - 1_001
    const shown = snapshot({
      fixtureId: match.id,
      players: [player(2 * n + 1), player(2 * n + 2)],
      sourceAt: instant(this.time.instant),
    })
    const update = { kind: 'feed_update', seq: ++match.seq, snapshot: shown } as const
    let isOver = false
    const over = (ms: number): void => {
      if (isOver) return
      isOver = true
      again(ms)
    }
    // The process may die before it answers.
    this.time.after(FEED_EVERY_MS, () => over(0))
    process
      .do((desk) => desk.feed(update, { replay: false }))
      .then(
        (fed) => over(fed === 'elsewhere' ? 1_000 : FEED_EVERY_MS),
        () => over(1_000),
      )
  }

  #trade(): void {
    const begun = this.#matches.filter(({ hasBegun }) => hasBegun)
    const [process, match] = [this.#anyServing(), begun[this.chance.below(begun.length)]]
    if (process === null || match === undefined) return
    const order = openOrder({
      userId: U(1 + this.chance.below(USERS)),
      instrumentId: match.instrument,
      direction: this.chance.happens(0.5) ? 'long' : 'short',
      lots: lots(10_000),
    })
    process
      .do((desk) => desk.submit(order))
      .then(
        (outcome) => {
          this.count(outcome.ok ? 'traded' : `refused ${outcome.refusal.code}`)
          if (!outcome.ok) return
          const { id } = outcome.value.position
          hold('promise', this.#store.positions.has(id), () => `position ${id} was acknowledged and does not exist`)
        },
        () => this.count('order failed'),
      )
      .catch((error: unknown) => (this.#violation ??= error))
  }

  #anyServing(): SimulatedProcess | null {
    const { serving } = this
    return serving[this.chance.below(serving.length)] ?? null
  }
}
