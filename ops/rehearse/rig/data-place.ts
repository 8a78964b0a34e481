/** Where a program under test keeps its data: a folder, or a database of its own and a shared Redis. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { userId } from '../../../actors/kernel/ids.ts'
import { keys } from '../../../db/fast/fast-store.ts'
import { createMigrated, putMigrated } from './migrated.ts'
import type { Settings } from './program.ts'

export interface DataPlace {
  /** The settings that make the program use this place. */
  readonly settings: Settings
  readonly description: string
  /** Removes everything, including the cached wallets of these users. */
  remove(users: readonly string[]): Promise<void>
}

/** The embedded database, migrated, in a new folder. */
export async function folderPlace(): Promise<DataPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-crash-'))
  await putMigrated(folder)
  return {
    settings: { DATA_DIR: folder },
    description: `PGlite in ${folder}`,
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

/** A new database on this server, with this Redis if there is one. */
export async function serverPlace(server: string, redisUrl: string | null): Promise<DataPlace> {
  const { name, url, drop } = await createMigrated(server)
  // Signing keys are kept here.
  const folder = mkdtempSync(join(tmpdir(), 'touchline-crash-'))
  return {
    settings: { DATA_DIR: folder, DATABASE_URL: url, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) },
    description: `PostgreSQL database ${name}${redisUrl === null ? '' : ' and Redis'}`,
    async remove(users) {
      if (redisUrl !== null) await forgetWallets(redisUrl, users)
      await drop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function forgetWallets(redisUrl: string, users: readonly string[]): Promise<void> {
  const redis = new Redis(redisUrl)
  if (users.length > 0) await redis.unlink(users.map((id) => keys.wallet(userId(id))))
  await redis.quit()
}
