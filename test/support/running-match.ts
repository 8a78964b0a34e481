/** A match actor on the real store, for tests of what a commit decides. */
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import type { World } from '../../actors/kernel/world.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { OpenPosition } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { Batch, MatchStore } from '../../actors/match/store.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import type { Connection } from '../../db/postgres/connect.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { openOrder, player, snapshot } from './fixtures.ts'
import { TestWorld } from './test-world.ts'

/** A running match with one player and without a hold. `before` may delay each commit. */
export async function runningMatch(
  connection: Connection,
  world: World,
  n: number,
  before: (batch: Batch) => Promise<void> = async () => undefined,
) {
  const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 60_000, alone: true })
  const sqlStore = new SqlMatchStore(connection, new WalletCache(null, () => undefined), new TestWorld())
  const store: MatchStore = {
    load: (id) => sqlStore.load(id),
    histories: (ids) => sqlStore.histories(ids),
    recall: (user, key) => sqlStore.recall(user, key),
    commit: async (batch) => {
      await before(batch)
      return sqlStore.commit(batch)
    },
  }
  const matchId = fixtureId(n)
  const epoch = present(await leases.acquire(matchId), 'lease')
  const first = snapshot({ fixtureId: matchId, players: [player(n % 10_000)], sourceAt: world.now() })
  const stopped: unknown[] = []
  const actor = new MatchActor({
    record: newMatch(first, { replay: false }),
    epoch,
    store,
    world,
    rules: () => ({ ...DEFAULT_RULES, holdMs: 0 }),
    model: () => DEFAULT_MODEL,
    pause: async () => undefined,
    onCommitted: () => undefined,
    onStopped: (_reason, error) => stopped.push(error),
  })
  await actor.feed({ kind: 'feed_update', seq: 1, snapshot: first })
  const instrument = present([...actor.view.instruments()][0], 'instrument')
  const order = (userId: UserId, over: Partial<OpenPosition> = {}): OpenPosition => ({
    ...openOrder(),
    userId,
    instrumentId: instrument.id,
    clientPrice: instrument.base,
    ...over,
  })
  return { actor, order, stopped }
}
