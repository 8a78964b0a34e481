/** What can happen to a cluster. After each action the cluster can still be repaired. */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '../../../actors/kernel/assert.ts'
import { LEASE_TTL_MS } from '../../../actors/kernel/limits.ts'
import type { Chance } from '../../../actors/replay/chance.ts'
import { demand } from '../rig/account.ts'
import { waitForTrading } from '../rig/consistency.ts'
import type { Cluster, Member } from './cluster.ts'
import { refuse } from '../rig/options.ts'
import type { OwnPostgres } from '../rig/postgres.ts'
import type { OwnRedis } from '../rig/redis.ts'
import type { SimulatedClient } from '../rig/simulated-client.ts'
import { Pauses } from './pauses.ts'
import type { Relay } from './relay.ts'
import type { TradingLoad } from '../rig/trading-load.ts'

export interface Victims {
  readonly trading: Pick<TradingLoad, 'rush'>
  readonly cluster: Cluster
  /** Sends the orders by which pauses are measured. */
  readonly admin: SimulatedClient
  readonly redis: OwnRedis
  /** Null for a shared server; then only connections to it may break. */
  readonly postgres: OwnPostgres | null
  readonly chance: Chance
}

export interface Action {
  /** Its name for `--only`. */
  readonly id: string
  readonly name: string
  /** Its relative frequency. */
  readonly weight: number
  /** How long it takes at least. */
  readonly lastsMs: number
  /**
   * Resolves with the longest time without an order, in milliseconds, if it measures it. Such an action has a round of
   * its own.
   */
  readonly happen: (victims: Victims) => Promise<number | void>
  readonly isMeasured?: true
}

/** Longer than a lease: another process takes over and the old owner comes back fenced. */
const PAST_LEASE_MS = LEASE_TTL_MS + 2_000
const LONG_FREEZE_MS = 30_000
const LONG_OUTAGE_MS = 60_000
const RUSH_MS = 3_000
const MOMENT = [200, 4_000] as const
const WHILE = [500, 9_000] as const
const SKEW = [5_000, 60_000] as const
/** The longest time without an order that is carried out, where an action measures it. */
export const PAUSE_MAX_MS = 10_000
/** Longer than that time: a cluster that needs the repair to trade again is noticed. */
const WATCH_MS = 12_000
const LONG_WATCH_MS = 45_000
/** Without an order where all are cut off, or none can be carried out until the repair: else nothing was broken. */
const FELT_MS = 1_000
/** After the first order that follows a repair. */
const AFTER_MS = 2_000
const LOOK_MS = 50

const between = (chance: Chance, [least, most]: readonly [number, number]): number => least + chance.below(most - least)

async function frozen({ program }: Member, ms: number): Promise<void> {
  program.freeze()
  await pause(ms)
  program.wake()
}

/** A network breaks in one of four ways, and is restored; what it has swallowed stays lost. */
async function broken(wires: readonly Relay[], ms: number, chance: Chance): Promise<void> {
  const way = chance.below(4)
  for (const wire of wires) {
    if (way === 0) wire.silence()
    else if (way === 1) wire.deafen()
    else if (way === 2) wire.swallow()
    else wire.cut()
  }
  await pause(ms)
  for (const wire of wires) wire.mend()
}

/** Everybody orders the same player at once, and most cannot pay. */
async function rushed(trading: Victims['trading'], ms: number, meanwhile?: () => Promise<void>): Promise<void> {
  trading.rush(true)
  try {
    await pause(ms / 2)
    await meanwhile?.()
    await pause(ms / 2)
  } finally {
    trading.rush(false)
  }
}

interface Cut {
  readonly id: string
  readonly name: string
  readonly of: (cluster: Cluster) => Promise<readonly Member[]> | readonly Member[]
  readonly breaks: (member: Member) => void
  /** When orders must be carried out again without the repair, and when only after it. */
  readonly since: 'cut' | 'repair'
  readonly lastsMs?: number
}

/** Breaks the network of processes of a cluster that is whole, and measures the longest time without an order. */
const measured = ({ id, name, of, breaks, since, lastsMs = WATCH_MS }: Cut): Action => ({
  id,
  name,
  weight: 1,
  lastsMs,
  isMeasured: true,
  async happen({ cluster, admin }) {
    await cluster.makeWhole()
    await waitForTrading(cluster.url, admin)
    const pauses = new Pauses(admin)
    await pauses.start(cluster.url)
    try {
      const members = await of(cluster)
      pauses.restart()
      for (const member of members) breaks(member)
      await pause(lastsMs)
      const mustBeFelt = of === all || since === 'repair'
      assert(!mustBeFelt || pauses.longest > FELT_MS, `${id} broke nothing: orders were carried out all the time`)
      for (const member of members) member.heal()
      if (since === 'repair') pauses.restart()
      const repairedAt = performance.now()
      while (pauses.last <= repairedAt && pauses.longest <= 3 * PAUSE_MAX_MS) await pause(LOOK_MS)
      await pause(AFTER_MS)
      return pauses.longest
    } finally {
      await pauses.stop()
    }
  },
})

const owner = async (cluster: Cluster): Promise<readonly Member[]> => [await cluster.owner()]
const bystander = async (cluster: Cluster): Promise<readonly Member[]> => [await cluster.bystander()]
const api = ({ api: member }: Cluster): readonly Member[] => [member]
const all = ({ running }: Cluster): readonly Member[] => running
const drops = (member: Member): void => member.drop()
const swallows = (member: Member): void => member.swallow()
const forgets = (member: Member): void => member.forget()

const skew = (chance: Chance): number => (chance.happens(0.5) ? 1 : -1) * between(chance, SKEW)

export const ACTIONS: readonly Action[] = [
  {
    id: 'kill-owner',
    name: 'the owner of the match is killed',
    weight: 3,
    lastsMs: 0,
    happen: async ({ cluster }) => (await cluster.owner()).kill(),
  },
  {
    id: 'freeze-owner',
    name: 'the owner of the match is frozen for longer than its lease',
    weight: 2,
    lastsMs: PAST_LEASE_MS,
    happen: async ({ cluster }) => frozen(await cluster.owner(), PAST_LEASE_MS),
  },
  {
    id: 'freeze-owner-long',
    name: 'the owner of the match is frozen for half a minute',
    weight: 1,
    lastsMs: LONG_FREEZE_MS,
    happen: async ({ cluster }) => frozen(await cluster.owner(), LONG_FREEZE_MS),
  },
  {
    id: 'freeze-owner-moment',
    name: 'the owner of the match is frozen for a moment',
    weight: 2,
    lastsMs: 0,
    happen: async ({ cluster, chance }) => frozen(await cluster.owner(), between(chance, MOMENT)),
  },
  {
    id: 'stop-owner',
    name: 'the owner of the match is asked to stop',
    weight: 2,
    lastsMs: 0,
    async happen({ cluster }) {
      const code = await (await cluster.owner()).stop()
      demand(code === 0, () => `asked to stop it ended with ${code}`)
    },
  },
  {
    id: 'kill-bystander',
    name: 'a process without the match is killed',
    weight: 1,
    lastsMs: 0,
    happen: async ({ cluster }) => (await cluster.bystander()).kill(),
  },
  {
    id: 'kill-api',
    name: 'the process that serves clients is killed',
    weight: 1,
    lastsMs: 0,
    happen: async ({ cluster }) => cluster.api.kill(),
  },
  {
    id: 'owner-without-redis',
    name: 'the network between the owner of the match and Redis breaks',
    weight: 2,
    lastsMs: WHILE[0],
    happen: async ({ cluster, chance }) => broken([(await cluster.owner()).redis], between(chance, WHILE), chance),
  },
  {
    id: 'owner-without-database',
    name: 'the network between the owner of the match and the database breaks',
    weight: 2,
    lastsMs: WHILE[0],
    happen: async ({ cluster, chance }) => broken([(await cluster.owner()).database], between(chance, WHILE), chance),
  },
  {
    id: 'owner-alone',
    name: 'the owner of the match is cut off from everything for longer than its lease',
    weight: 2,
    lastsMs: PAST_LEASE_MS,
    happen: async ({ cluster, chance }) => broken((await cluster.owner()).wires, PAST_LEASE_MS, chance),
  },
  {
    id: 'api-without-redis',
    name: 'the network between the process that serves clients and Redis breaks',
    weight: 1,
    lastsMs: WHILE[0],
    happen: async ({ cluster, chance }) => broken([cluster.api.redis], between(chance, WHILE), chance),
  },
  {
    id: 'api-without-database',
    name: 'the network between the process that serves clients and the database breaks',
    weight: 1,
    lastsMs: WHILE[0],
    happen: async ({ cluster, chance }) => broken([cluster.api.database], between(chance, WHILE), chance),
  },
  measured({
    id: 'drop-owner',
    name: 'every packet between the owner of the match and the stores is lost',
    of: owner,
    breaks: drops,
    since: 'cut',
  }),
  measured({
    id: 'drop-bystander',
    name: 'every packet between a process without the match and the stores is lost',
    of: bystander,
    breaks: drops,
    since: 'cut',
  }),
  measured({
    id: 'drop-api',
    name: 'every packet between the process that serves clients and the stores is lost',
    of: api,
    breaks: drops,
    since: 'repair',
  }),
  measured({
    id: 'drop-all',
    name: 'every packet between all processes and the stores is lost',
    of: all,
    breaks: drops,
    since: 'repair',
  }),
  measured({
    id: 'drop-all-long',
    name: 'every packet between all processes and the stores is lost for 45 seconds',
    of: all,
    breaks: drops,
    since: 'repair',
    lastsMs: LONG_WATCH_MS,
  }),
  measured({
    id: 'leave-api',
    name: 'the machine that serves clients is gone from the network',
    of: api,
    breaks: (member) => member.leave(),
    since: 'repair',
  }),
  measured({
    id: 'silent-owner',
    name: 'the connections between the owner of the match and the stores are silent for ever',
    of: owner,
    breaks: swallows,
    since: 'cut',
  }),
  measured({
    id: 'silent-api',
    name: 'the connections between the process that serves clients and the stores are silent for ever',
    of: api,
    breaks: swallows,
    since: 'cut',
  }),
  measured({
    id: 'silent-all',
    name: 'the connections between all processes and the stores are silent for ever',
    of: all,
    breaks: swallows,
    since: 'cut',
  }),
  measured({
    id: 'forget-owner',
    name: 'the network forgets the connections between the owner of the match and the stores',
    of: owner,
    breaks: forgets,
    since: 'cut',
  }),
  measured({
    id: 'forget-all',
    name: 'the network forgets the connections between all processes and the stores',
    of: all,
    breaks: forgets,
    since: 'cut',
  }),
  {
    id: 'redis-restart',
    name: 'Redis is killed, and is back after a while with nothing in it',
    weight: 2,
    lastsMs: 0,
    async happen({ redis, chance }) {
      await redis.kill()
      await pause(between(chance, MOMENT))
      await redis.start()
    },
  },
  {
    id: 'redis-gone',
    name: 'Redis is gone for a minute',
    weight: 1,
    lastsMs: LONG_OUTAGE_MS,
    async happen({ redis }) {
      await redis.kill()
      await pause(LONG_OUTAGE_MS)
      await redis.start()
    },
  },
  {
    id: 'redis-flush',
    name: 'Redis is emptied',
    weight: 1,
    lastsMs: 0,
    happen: async ({ redis }) => redis.flush(),
  },
  {
    id: 'redis-freeze',
    name: 'Redis does not answer for a while',
    weight: 1,
    lastsMs: 0,
    async happen({ redis, chance }) {
      redis.freeze()
      await pause(between(chance, MOMENT))
      redis.wake()
    },
  },
  {
    id: 'postgres-restart',
    name: 'PostgreSQL is restarted',
    weight: 2,
    lastsMs: 0,
    happen: async ({ cluster, postgres, chance }) =>
      postgres === null ? cluster.cutDatabase() : postgres.restart(chance.happens(0.5) ? 'immediate' : 'fast'),
  },
  {
    id: 'postgres-cut',
    name: 'every connection to the database breaks',
    weight: 1,
    lastsMs: 0,
    happen: async ({ cluster }) => cluster.cutDatabase(),
  },
  {
    id: 'skewed-owner',
    name: 'a process whose clock is wrong takes the match over',
    weight: 2,
    lastsMs: 0,
    async happen({ cluster, chance }) {
      await cluster.replace(await cluster.bystander(), skew(chance))
      await (await cluster.owner()).kill()
    },
  },
  {
    id: 'skewed-api',
    name: 'a process whose clock is wrong serves clients',
    weight: 1,
    lastsMs: 0,
    happen: async ({ cluster, chance }) => cluster.replace(cluster.api, skew(chance)),
  },
  {
    id: 'crowd',
    name: 'everybody orders one player at once, and most cannot pay',
    weight: 2,
    lastsMs: RUSH_MS,
    happen: async ({ trading }) => rushed(trading, RUSH_MS),
  },
  {
    id: 'crowd-without-owner',
    name: 'the owner of the match is killed while everybody orders one player',
    weight: 2,
    lastsMs: RUSH_MS,
    happen: async ({ trading, cluster }) => rushed(trading, RUSH_MS, async () => (await cluster.owner()).kill()),
  },
]

/** The actions with these ids, in this order. Ends the program for an unknown id. */
export const actionsNamed = (ids: readonly string[]): Action[] =>
  ids.map(
    (id) =>
      ACTIONS.find((action) => action.id === id) ??
      refuse(`unknown action ${id}; known are ${ACTIONS.map((action) => action.id).join(', ')}`),
  )
