/** One process of the simulated cluster: the server's own desk, rooms, bus, presence and tasks over simulated ports. */
import { initializeRoomCache, RoomInternalState } from '@colyseus/core'
import { present } from '../../../actors/kernel/assert.ts'
import type { FixtureId } from '../../../actors/kernel/ids.ts'
import { DEFAULT_RULES, LEASE_TTL_MS } from '../../../actors/kernel/limits.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import { DEFAULT_MODEL } from '../../../actors/market/pricing.ts'
import type { Leases, MatchStore } from '../../../actors/match/store.ts'
import type { Ownership } from '../../../rooms/cluster/peers.ts'
import type { Registry } from '../../../rooms/cluster/presence.ts'
import { AccountStream } from '../../../rooms/feed/account-stream.ts'
import { FanOut } from '../../../rooms/feed/fan-out.ts'
import { clusterMember } from '../../../rooms/join-cluster.ts'
import { FairShare } from '../../../rooms/match/fair-share.ts'
import { type Directory, MatchDesk } from '../../../rooms/match/match-desk.ts'
import { type HostedMatch, MatchRoom, type MatchRoomOptions } from '../../../rooms/match/match-room.ts'
import type { Report } from '../../../rooms/report.ts'
import { WriteDeadline } from '../../../rooms/sockets/write-deadline.ts'
import { Lifecycle } from '../../../src/compose/lifecycle.ts'
import { TaskRunner } from '../../../src/compose/task-runner.ts'
import { matchTasks } from '../../../src/compose/tasks.ts'
import { createLog } from '../../../src/observe/log.ts'
import type { SimulatedEnd } from './network.ts'
import type { Schedule, VirtualTime } from './virtual-time.ts'

/** What a process needs of the cluster. */
export interface Surroundings {
  readonly time: VirtualTime
  readonly end: SimulatedEnd
  readonly store: MatchStore
  readonly leases: Leases & Ownership
  readonly registry: Registry
  readonly directory: Directory
  readonly newId: () => string
  readonly randomInt: (below: number) => number
  /** How far its clock is ahead. */
  readonly skewMs: number
  readonly report: Report
}

/** The tasks of the table that keep matches running. */
const TASKS: ReadonlySet<string> = new Set(['orphan-scan', 'presence'])

export class SimulatedProcess implements Schedule {
  state: Schedule['state'] = 'running'
  readonly parked: Schedule['parked'] = []
  readonly id: string
  readonly end: SimulatedEnd
  readonly hosted = new Map<FixtureId, HostedMatch>()
  readonly desk: MatchDesk
  /** It was asked to stop. */
  isLeaving = false
  readonly #time: VirtualTime
  readonly #member: ReturnType<typeof clusterMember>
  readonly #lifecycle: Lifecycle

  constructor(id: string, surroundings: Surroundings) {
    const { time, end, store, leases, registry, directory, report } = surroundings
    this.id = id
    this.end = end
    this.#time = time
    const world = worldOf(surroundings)
    const fanOut = new FanOut({ clock: world.steady, report })
    const account = new AccountStream({ read: async (questions) => questions.map(() => null), report })
    this.#member = clusterMember({
      pubSub: end,
      processId: id,
      registry,
      ownership: leases,
      fanOut,
      account,
      hosted: this.hosted,
      world,
      report,
    })
    const { peers, prices } = this.#member
    this.desk = new MatchDesk({
      context: {
        store,
        quarantine: async () => null,
        leases,
        leaseTtlMs: LEASE_TTL_MS,
        world,
        rules: () => ({ ...DEFAULT_RULES, openPositionsMax: 100_000 }),
        model: () => DEFAULT_MODEL,
        fanOut,
        account,
        deadline: new WriteDeadline(),
        share: new FairShare(world),
        relay: prices.relay,
        report,
        warn: () => undefined,
        refusedUpdates: { clock_behind: 0, before_kick_off: 0 },
        onCommitted: () => undefined,
      },
      directory,
      ownership: leases,
      hosted: this.hosted,
      openRoom: async (room) => openRoom(room),
      runsMatches: true,
      peers,
      rulesWith: () => null,
      followRemote: (matchId) => prices.follow(matchId),
    })
    this.#lifecycle = new Lifecycle({
      drainMs: 0,
      pause: (ms, signal) =>
        new Promise((resolve, reject) => {
          setTimeout(resolve, ms)
          signal?.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    })
    this.#addParts(world)
  }

  get isServing(): boolean {
    return this.state === 'running'
  }

  start(): Promise<void> {
    return this.#as(() => this.#lifecycle.start())
  }

  /** As after SIGTERM; resolves when the process has ended. */
  async drain(): Promise<void> {
    this.isLeaving = true
    await this.#as(() => this.#lifecycle.stop())
    this.kill()
  }

  /** As after SIGKILL: the kernel closes its connections. */
  kill(): void {
    this.state = 'dead'
    this.end.vanish()
  }

  /** As when its machine loses power: nobody is told. */
  vanish(): void {
    this.state = 'dead'
    this.end.mute()
  }

  /** As by SIGSTOP. */
  freeze(): void {
    this.state = 'frozen'
  }

  thaw(): void {
    if (this.state !== 'frozen') return
    this.state = 'running'
    this.#time.thaw(this)
  }

  /** Does something in this process. */
  #as<T>(run: () => T): T {
    return this.#time.as(this, run)
  }

  do<T>(run: (desk: MatchDesk) => T): T {
    return this.#as(() => run(this.desk))
  }

  #addParts(world: World): void {
    const [member, desk, hosted] = [this.#member, this.desk, this.hosted]
    // As in rooms/boot.ts, without the sockets.
    this.#lifecycle.add({
      name: 'real-time',
      kind: 'endpoint',
      start: () => member.open({ desk, seats: {} as never, runsMatches: true, signedOut: () => undefined }),
      stop: async () => {
        await desk.stop()
        await Promise.all([...hosted.values()].map((match) => match.retire()))
        await member.close()
      },
    })
    const log = createLog({ level: 'silent', world })
    const realTime = { desk, presence: { look: () => present(member.presence(), 'presence').look() } }
    for (const task of matchTasks({ realTime } as never, {} as never, {} as never)) {
      if (!TASKS.has(task.name)) continue
      const runner = new TaskRunner(task, { log, clock: world.steady })
      this.#lifecycle.add({ name: task.name, kind: 'worker', start: () => runner.start(), stop: () => runner.stop() })
    }
  }
}

/** As Colyseus's matchmaker does, which exists once in a program, while here forty processes have one each. */
function openRoom(options: MatchRoomOptions): void {
  const room = new MatchRoom()
  room['__init']()
  room.onCreate(options)
  room['_internalState'] = RoomInternalState.CREATED
  room['_listing'] = initializeRoomCache({ roomId: room.roomId })
}

function worldOf({ time, newId, randomInt, skewMs }: Surroundings): World {
  return {
    now: (): Instant => instant(time.instant + skewMs),
    steady: { now: () => instant(time.instant) },
    newId,
    randomInt,
    secret: (bytes) => Array.from({ length: bytes }, () => randomInt(256).toString(16).padStart(2, '0')).join(''),
  }
}
