/** A PostgreSQL of a test's own with a streaming standby. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { vi } from 'vitest'
import { OwnPostgres } from '../../ops/rehearse/rig/postgres.ts'

const PATIENCE = { timeout: 60_000, interval: 20 }

export interface Pair {
  readonly primary: OwnPostgres
  readonly standby: OwnPostgres
  /** Waits until the standby shows what the primary has written by now. */
  replayed(): Promise<void>
  /** Ends both and removes their files. */
  remove(): Promise<void>
}

/** Null if no server can be run on this machine. */
export async function startPair(): Promise<Pair | null> {
  const folder = mkdtempSync(join(tmpdir(), 'touchline-standby-'))
  const primary = await OwnPostgres.start(folder)
  if (primary === null) return null
  const standby = await primary.standby(folder)
  return {
    primary,
    standby,
    async replayed() {
      const [written] = await rowsOf(primary, 'select pg_current_wal_lsn()::text as lsn')
      const isThere = `select pg_last_wal_replay_lsn() >= '${String(written?.['lsn'])}'::pg_lsn as there`
      await vi.waitUntil(async () => (await rowsOf(standby, isThere))[0]?.['there'] === true, PATIENCE)
    },
    async remove() {
      await standby.stop()
      await primary.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function rowsOf({ url }: OwnPostgres, query: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(query)).rows
  } finally {
    await client.end()
  }
}
