/** A PostgreSQL of a test's own with a streaming standby. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OwnPostgres } from '../../ops/rehearse/rig/postgres.ts'

export interface Pair {
  readonly primary: OwnPostgres
  readonly standby: OwnPostgres
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
    async remove() {
      await standby.stop()
      await primary.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
