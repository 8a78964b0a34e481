/** The stores: the database, migrated, and the fast store. Each is embedded, or reached over the network. */
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { checkSession } from '../../db/postgres/session.ts'
import { seedDistricts } from '../../db/seed.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { type FastOrElse, fastOrElse } from '../../db/fast/fast-or-else.ts'
import type { FastStore } from '../../db/fast/fast-store.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import type { Base } from './base.ts'
import { databaseOf } from '../config.ts'

export interface Stores {
  readonly connection: Connection
  readonly db: Connection['db']
  readonly fast: FastStore
  readonly askFast: FastOrElse
  readonly walletCache: WalletCache
}

export async function openStores({ config, world, log, lifecycle }: Base): Promise<Stores> {
  const connection = await connect(databaseOf(config))
  lifecycle.add({ name: 'database', kind: 'store', stop: () => connection.close() })
  const { db } = connection
  await connection.withoutTimeout(checkSession)
  const migrations = await connection.withoutTimeout((patient) => migrate(patient))
  if (migrations.length > 0) log.info('schema_migrated', { migrations })
  await seedDistricts(db)

  const fast = config.redisUrl === null ? new FastMemory(world.steady) : await reachRedis(config.redisUrl.reveal())
  lifecycle.add({ name: 'fast-store', kind: 'store', stop: () => fast.close() })
  const shared = config.redisUrl === null ? null : fast
  const walletCache = new WalletCache(shared, (error) => log.warn('wallet_cache_failed', { error }))
  walletCache.timeline = await timelineOf(db)
  return { connection, db, fast, askFast: fastOrElse(fast, world.steady), walletCache }
}

async function reachRedis(url: string): Promise<FastStore> {
  // An embedded server starts faster without the driver.
  const [{ connectRedis }, { redisHosts }] = await Promise.all([
    import('../../db/fast/fast-redis.ts'),
    import('../../db/fast/redis-address.ts'),
  ])
  try {
    return await connectRedis({ url })
  } catch (error) {
    throw new FastStoreUnavailable(redisHosts(url), error)
  }
}

/** Redis cannot be reached at the start, which ends it. A process that has started continues without Redis. */
class FastStoreUnavailable extends Error {
  override name = 'FastStoreUnavailable'

  constructor(where: string, cause: unknown) {
    super(`Redis at ${where} does not answer (${cause instanceof Error ? cause.message : String(cause)})`, { cause })
  }
}
