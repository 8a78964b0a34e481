/** Where the program keeps its data while it is being killed: a folder, or a database of its own beside a shared Redis. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { userId } from '../../actors/kernel/ids.ts'
import { keys } from '../../db/fast-store.ts'
import type { Settings } from './program.ts'

export interface Place {
  /** What makes the program live here. */
  readonly settings: Settings
  readonly description: string
  /** Removes everything, the cached wallets of these users included. */
  remove(users: readonly string[]): Promise<void>
}

/** The embedded database in a new folder. */
export function folderPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-crash-'))
  return {
    settings: { DATA_DIR: folder },
    description: `PGlite in ${folder}`,
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

/** A new database of this server, and this Redis when there is one. */
export async function serverPlace(server: string, redisUrl: string | null): Promise<Place> {
  const name = `touchline_crash_${randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  // Signing keys are kept here.
  const folder = mkdtempSync(join(tmpdir(), 'touchline-crash-'))
  return {
    settings: { DATA_DIR: folder, DATABASE_URL: url.href, ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }) },
    description: `PostgreSQL database ${name}${redisUrl === null ? '' : ' and Redis'}`,
    async remove(users) {
      if (redisUrl !== null) await forgetWallets(redisUrl, users)
      await administer(server, `drop database ${name} with (force)`)
      rmSync(folder, { recursive: true })
    },
  }
}

async function forgetWallets(redisUrl: string, users: readonly string[]): Promise<void> {
  const redis = new Redis(redisUrl)
  if (users.length > 0) await redis.unlink(users.map((id) => keys.wallet(userId(id))))
  await redis.quit()
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
