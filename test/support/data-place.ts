/** Runs suites on each place where a server keeps its data. */
import { Redis } from 'ioredis'
import { describe, it } from 'vitest'
import { type DataPlace, folderPlace, serverPlace } from '../../ops/rehearse/rig/data-place.ts'
import { requireNamed } from './needs.ts'

export type { DataPlace } from '../../ops/rehearse/rig/data-place.ts'

export interface ServerPlace extends DataPlace {
  readonly redis: Redis
}

/** Runs a suite on the embedded stores, and on PostgreSQL with Redis where the environment names both. */
export function eachDataPlace(suite: (settle: () => Promise<DataPlace>) => void): void {
  describe('embedded', () => suite(() => embeddedPlace()))
  onServers(suite)
}

/** Runs a suite on PostgreSQL with Redis; it is reported as skipped where the environment names no servers. */
export function onServers(suite: (settle: () => Promise<ServerPlace>) => void): void {
  requireNamed('e2e')
  const database = process.env['TEST_DATABASE_URL'] ?? ''
  const redis = process.env['TEST_REDIS_URL'] ?? ''
  const areNamed = database !== '' && redis !== ''
  describe.skipIf(!areNamed)('on PostgreSQL and Redis', () => suite(() => withRedis(database, redis)))
  if (!areNamed && process.env['CI'] === 'true') {
    it('has a PostgreSQL and a Redis to live on', () => {
      throw new Error(
        'CI is set but TEST_DATABASE_URL or TEST_REDIS_URL is not: the server would not be tested on them',
      )
    })
  }
}

/** A data folder, in which the database begins migrated. */
export async function embeddedPlace(): Promise<DataPlace> {
  requireNamed('e2e')
  return folderPlace()
}

async function withRedis(database: string, redisUrl: string): Promise<ServerPlace> {
  const place = await serverPlace(database, redisUrl)
  const redis = new Redis(redisUrl)
  const remove = async (): Promise<void> => {
    await redis.quit()
    await place.remove()
  }
  return { ...place, redis, remove }
}
