/** Where a program under test keeps its data: a folder, or a database of its own and a shared Redis. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { userId } from '../../../actors/kernel/ids.ts'
import { PURSES } from '../../../actors/kernel/purse.ts'
import { keys } from '../../../db/fast/fast-store.ts'
import { installationOf } from '../../../db/installation.ts'
import { connect } from '../../../db/postgres/connect.ts'
import type { Connection } from '../../../db/postgres/connection.ts'
import { createMigrated, makeTemplate } from './migrated.ts'
import type { Settings } from './program.ts'
import { refuse } from './options.ts'
import { namedServer } from './scratch-database.ts'

export interface DataPlace {
  /** The settings that make the program use this place. */
  readonly env: Settings
  readonly description: string
  /** Opens the database. The embedded one can be opened only while no program uses it. */
  look<T>(at: (connection: Connection) => Promise<T>): Promise<T>
  /** Removes everything that a program left here. */
  remove(): Promise<void>
}

/** A new folder, in which the embedded database begins migrated. */
export async function folderPlace(): Promise<DataPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-place-'))
  await makeTemplate()
  return {
    env: { DATA_DIR: folder },
    description: `PGlite in ${folder}`,
    look: (at) => look({ databaseUrl: null, dataDir: folder }, at),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

/** A new database on this server, with this Redis if there is one. */
export async function serverPlace(server: string, redisUrl: string | null): Promise<DataPlace> {
  const { name, url, drop } = await createMigrated(server)
  // Signing keys are kept here.
  const folder = mkdtempSync(join(tmpdir(), 'touchline-place-'))
  const shared = redisUrl === null ? {} : { REDIS_URL: redisUrl, BUS_KEY: 'a key of 32 characters, all test' }
  const lookHere: DataPlace['look'] = (at) => look({ databaseUrl: url, dataDir: null }, at)
  return {
    env: { DATA_DIR: folder, DATABASE_URL: url, ...shared },
    description: `PostgreSQL database ${name}${redisUrl === null ? '' : ' and Redis'}`,
    look: lookHere,
    async remove() {
      try {
        if (redisUrl !== null) await lookHere((connection) => forget(redisUrl, connection))
      } finally {
        await drop()
        rmSync(folder, { recursive: true })
      }
    },
  }
}

/** The same on the servers that DATABASE_URL and REDIS_URL (or TEST_…) name. */
export async function namedPlace(): Promise<DataPlace> {
  const redisUrl = process.env['REDIS_URL'] ?? process.env['TEST_REDIS_URL']
  return serverPlace(namedServer(), redisUrl ?? refuse('REDIS_URL must name a Redis server'))
}

/** Removes what the users of a database have in Redis. */
async function forget(redisUrl: string, { db }: Connection): Promise<void> {
  const redis = new Redis(redisUrl)
  const users = await db.selectFrom('users').select('id').execute()
  if (users.length > 0) await redis.unlink(users.map(({ id }) => keys.wallet(userId(id))))
  const installation = await installationOf(db)
  for (const purse of PURSES) {
    for await (const found of redis.scanStream({ match: `${keys.boards(installation, purse)}:*`, count: 1_000 })) {
      const left: string[] = found
      if (left.length > 0) await redis.unlink(left)
    }
  }
  await redis.quit()
}

async function look<T>(where: Parameters<typeof connect>[0], at: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await connect(where)
  try {
    return await at(connection)
  } finally {
    await connection.close()
  }
}
