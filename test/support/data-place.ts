/** Where a server keeps its data during a test: a folder, or its own database and a shared Redis. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, it } from 'vitest'
import { type Connection, connect } from '../../db/postgres/connect.ts'
import { installationOf } from '../../db/installation.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { userId } from '../../actors/kernel/ids.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import { createMigrated, putMigrated } from '../../ops/rehearse/rig/migrated.ts'
import { requireNamed } from './needs.ts'

export interface DataPlace {
  /** The settings that make a server use this place. */
  readonly env: Readonly<Record<string, string>>
  /** Opens the database. The embedded one can be opened only while no server uses it. */
  look<T>(at: (connection: Connection) => Promise<T>): Promise<T>
  /** Removes everything that a server left here. */
  remove(): Promise<void>
}

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
  describe.skipIf(!areNamed)('on PostgreSQL and Redis', () => suite(() => serverDataPlace(database, redis)))
  if (!areNamed && process.env['CI'] === 'true') {
    it('has a PostgreSQL and a Redis to live on', () => {
      throw new Error(
        'CI is set but TEST_DATABASE_URL or TEST_REDIS_URL is not: the server would not be tested on them',
      )
    })
  }
}

/** A data folder, with a migrated database unless it is to be `empty`. */
export async function embeddedPlace(content: 'migrated' | 'empty' = 'migrated'): Promise<DataPlace> {
  requireNamed('e2e')
  const folder = mkdtempSync(join(tmpdir(), 'touchline-test-'))
  if (content === 'migrated') await putMigrated(folder)
  return {
    env: { DATA_DIR: folder },
    look: (at) => look({ databaseUrl: null, dataDir: folder }, at),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

async function serverDataPlace(database: string, redisUrl: string): Promise<ServerPlace> {
  const { url, drop } = await createMigrated(database)
  // The signing keys are also kept here.
  const folder = mkdtempSync(join(tmpdir(), 'touchline-test-'))
  const redis = new Redis(redisUrl)
  const options = { databaseUrl: url, dataDir: null }
  return {
    env: { DATA_DIR: folder, DATABASE_URL: url, REDIS_URL: redisUrl, BUS_KEY: 'a key of 32 characters, all test' },
    redis,
    look: (at) => look(options, at),
    async remove() {
      const users = await look(options, ({ db }) => db.selectFrom('users').select('id').execute())
      if (users.length > 0) await redis.unlink(users.map(({ id }) => keys.wallet(userId(id))))
      const installation = await look(options, ({ db }) => installationOf(db))
      for (const purse of PURSES) {
        for await (const found of redis.scanStream({ match: `${keys.boards(installation, purse)}:*` })) {
          const left: string[] = found
          if (left.length > 0) await redis.unlink(left)
        }
      }
      await redis.quit()
      await drop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function look<T>(where: Parameters<typeof connect>[0], at: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connect(where)
  try {
    return await at(connection)
  } finally {
    await connection.close()
  }
}
