/** What can happen to a cluster. Each action leaves it so that it can become whole again. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../../actors/replay/chance.ts'
import type { Cluster } from './cluster.ts'
import type { OwnRedis } from './redis.ts'

export interface Victims {
  readonly cluster: Cluster
  readonly redis: OwnRedis
  readonly chance: Chance
}

export interface Action {
  readonly name: string
  readonly weight: number
  readonly happen: (victims: Victims) => Promise<void>
}

/** Longer than a lease, so that another process takes over and the frozen one wakes up fenced. */
const LONG_FREEZE_MS = 7_000
const between = (chance: Chance, least: number, most: number): number => least + chance.below(most - least)

export const ACTIONS: readonly Action[] = [
  {
    name: 'the owner of the match is killed',
    weight: 3,
    happen: async ({ cluster }) => (await cluster.owner()).kill(),
  },
  {
    name: 'the owner of the match is frozen for longer than its lease',
    weight: 2,
    async happen({ cluster }) {
      const owner = await cluster.owner()
      owner.freeze()
      await pause(LONG_FREEZE_MS)
      owner.wake()
    },
  },
  {
    name: 'the owner of the match is frozen for a moment',
    weight: 2,
    async happen({ cluster, chance }) {
      const owner = await cluster.owner()
      owner.freeze()
      await pause(between(chance, 100, 3_000))
      owner.wake()
    },
  },
  {
    name: 'the owner of the match is asked to stop',
    weight: 2,
    happen: async ({ cluster }) => void (await (await cluster.owner()).stop()),
  },
  {
    name: 'a process without the match is killed',
    weight: 1,
    happen: async ({ cluster }) => (await cluster.bystander()).kill(),
  },
  {
    name: 'the process that serves clients is killed',
    weight: 1,
    happen: async ({ cluster }) => cluster.api.kill(),
  },
  {
    name: 'Redis is killed, and is back after a while with nothing in it',
    weight: 2,
    async happen({ redis, chance }) {
      await redis.kill()
      await pause(between(chance, 200, 5_000))
      await redis.start()
    },
  },
  { name: 'Redis is emptied', weight: 1, happen: async ({ redis }) => redis.flush() },
  {
    name: 'Redis answers nobody for a while',
    weight: 1,
    async happen({ redis, chance }) {
      redis.freeze()
      await pause(between(chance, 200, 4_000))
      redis.wake()
    },
  },
  {
    name: 'every connection to the database breaks',
    weight: 2,
    happen: async ({ cluster }) => cluster.cutDatabase(),
  },
]
