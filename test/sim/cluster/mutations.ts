/** Deliberate breakages of the cluster. The simulator must catch every one of them. */
import type { Mutation } from '../../support/mutants.ts'

const mutation = (name: string, file: string, from: string, to: string): Mutation => ({
  name,
  edits: [{ file, from, to }],
})

const ROOM = 'rooms/match/match-room.ts'
const HOST = 'rooms/match/match-host.ts'
const SEARCH = 'rooms/match/orphan-search.ts'
const PEERS = 'rooms/cluster/peers.ts'
const PRESENCE = 'rooms/cluster/presence.ts'
const RECORDS = 'test/sim/cluster/records.ts'
const STORE = 'test/support/memory-store.ts'

export const CLUSTER_MUTATIONS: readonly Mutation[] = [
  mutation('the fence is removed', STORE, `this.#epochs.get(batch.matchId) !== batch.epoch`, `batch.epoch < 0`),
  mutation(
    'a running lease can be taken',
    RECORDS,
    `if (holder !== undefined && holder.owner !== owner) return null`,
    ``,
  ),
  mutation('no match is ever taken over', SEARCH, `while (!isOff())`, `while (isOff() && !isOff())`),
  mutation('leases are not renewed', ROOM, `if (this.#renewing) return`, `if (!this.#renewing) return`),
  mutation(
    'a match that stops keeps its lease',
    HOST,
    `await this.#context.leases.release(this.matchId, this.epoch)`,
    ``,
  ),
  mutation('no process is ever missed', PRESENCE, `if (this.#probing || !this.#isWitness) return`, `return`),
  {
    name: 'only the next process is watched',
    edits: [
      {
        file: PRESENCE,
        from: `if (!(await this.#isGone(id))) break`,
        to: `if (misses.size > 0 || !(await this.#isGone(id))) break`,
      },
      { file: PRESENCE, from: `this.#passedOver.set(id, this.#options.world.steady.now() + ms)`, to: `` },
    ],
  },
  mutation('all confirm at once', PRESENCE, `const CONFIRM_MS = 5`, `const CONFIRM_MS = 0`),
  mutation(
    'a process that lost its own connection is a witness',
    PRESENCE,
    `SETTLED_MS = 2 * SECOND_MS`,
    `SETTLED_MS = 0`,
  ),
  mutation(
    'all processes take orphans in the same order',
    SEARCH,
    `orphans[orphans.length > 1 ? world.randomInt(orphans.length) : 0]`,
    `orphans[0]`,
  ),
  mutation('nothing decides between equals', PEERS, `most: 400, chance: 60`, `most: 400, chance: 1`),
  mutation(
    'matches go to the same process',
    PEERS,
    `Math.min(size * perMatch, most) +`,
    `(Number.parseInt(this.#options.bus.processId, 16) % most) +`,
  ),
  mutation(
    'matches go to the process with the most',
    PEERS,
    `Math.min(size * perMatch, most) +`,
    `most - Math.min(size * perMatch, most) +`,
  ),
]
