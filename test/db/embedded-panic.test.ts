/** A database that cannot write its log any more. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const BUSY_MACHINE_MS = 120_000

it(
  'ends its process with advice, and has what was committed when it is started again',
  { timeout: BUSY_MACHINE_MS },
  () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'touchline-panic-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true }))
    const program = (work: string) => `
    const { connect } = await import(${JSON.stringify(join(import.meta.dirname, '../../db/postgres/connect.ts'))})
    const { sql } = await import(${JSON.stringify(import.meta.resolve('kysely'))})
    const { db, close } = await connect({ databaseUrl: null, dataDir: ${JSON.stringify(dataDir)} })
    ${work}
    await close()`
    const run = (work: string) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', program(work)], { encoding: 'utf8' })
    run('await sql`create table kept (n integer)`.execute(db); await sql`insert into kept values (7)`.execute(db)')
    const fills = `for (;;) await db.transaction().execute((tx) =>
    sql\`insert into kept select 8 from generate_series(1, 9999)\`.execute(tx)).catch(() => undefined)`
    // No file may grow beyond 8 MB, and the log is written to one of 16.
    const limited = spawnSync(
      'bash',
      ['-c', 'ulimit -f 8192; exec "$0" --input-type=module -e "$1"', process.execPath, program(fills)],
      {
        encoding: 'utf8',
        timeout: BUSY_MACHINE_MS / 2,
      },
    )
    expect([limited.status, limited.stderr]).toEqual([1, expect.stringContaining('Make room and start again')])
    expect(run('console.log((await sql`select n from kept where n = 7`.execute(db)).rows.length)')).toBe('1\n')
  },
)
