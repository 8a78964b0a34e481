/** A match actor on the real store, for tests of what a commit decides. */
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import type { World } from '../../actors/kernel/world.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { OpenPosition } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { Batch, MatchRecord, MatchStore } from '../../actors/match/store.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { openOrder, player, snapshot } from './fixtures.ts'
import { committing } from './committing.ts'

export interface RunningMatchOptions {
  /** May delay each commit, or fail it. */
  readonly before?: ((batch: Batch) => Promise<void>) | undefined
  /** May lose the answer to a commit. */
  readonly after?: ((batch: Batch) => Promise<void>) | undefined
  readonly rules?: Partial<TradingRules>
}

/** A running match with one player and without a hold. */
export async function runningMatch(
  connection: Connection,
  world: World,
  n: number,
  { before, after, rules }: RunningMatchOptions = {},
) {
  const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 60_000, alone: true })
  const sqlStore = new SqlMatchStore(connection, new WalletCache(null, () => undefined), world)
  const store: MatchStore = committing(sqlStore, async (batch) => {
    await before?.(batch)
    const verdict = await sqlStore.commit(batch)
    await after?.(batch)
    return verdict
  })
  const matchId = fixtureId(n)
  const first = snapshot({ fixtureId: matchId, players: [player(n % 10_000)], sourceAt: world.now() })
  const stopped: unknown[] = []
  const owned = (record: MatchRecord, epoch: number): MatchActor =>
    new MatchActor({
      record,
      epoch,
      store,
      world,
      rules: () => ({ ...DEFAULT_RULES, holdMs: 0, ...rules }),
      model: () => DEFAULT_MODEL,
      pause: async () => undefined,
      onCommitted: () => undefined,
      onStopped: (_reason, error) => stopped.push(error),
    })
  const lease = async () => present((await leases.acquire(matchId)) ?? undefined, 'lease')
  const actor = owned(newMatch(first, { replay: false }), await lease())
  await actor.feed({ kind: 'feed_update', seq: 1, snapshot: first })
  const instrument = present([...actor.view.instruments()][0], 'instrument')
  const order = (userId: UserId, over: Partial<OpenPosition> = {}): OpenPosition => ({
    ...openOrder(),
    userId,
    instrumentId: instrument.id,
    clientPrice: instrument.base,
    ...over,
  })
  const load = async () => present((await store.load(matchId)) ?? undefined, 'match')
  /** Makes a new owner of the match, from the last commit. */
  const takeOver = async () => owned(await load(), await lease())
  return { actor, order, stopped, load, takeOver, first }
}
