/**
 * Lists the partitions of the ledger and the archives with their sizes: `npm run ops -- months`. `--detach 2026-08`
 * makes that month tables of their own, which can be dumped and dropped. Until they are attached again
 * (`--attach 2026-08`), users do not see it in their history. Neither takes a lock that trading waits for. It reads the
 * environment of the server.
 */
import { parseArgs } from 'node:util'
import { Months } from '../../db/months.ts'
import { systemWorld } from '../../src/system-world.ts'
import { onDatabase } from './on-database.ts'

const { values } = parseArgs({ options: { detach: { type: 'string' }, attach: { type: 'string' } } })
await onDatabase(async (db) => {
  try {
    const months = new Months(db, systemWorld())
    if (values.detach !== undefined) {
      const obstacle = await months.obstacle(values.detach)
      if (obstacle !== null) throw new Error(`${values.detach} cannot be detached: ${obstacle}`)
      for (const name of await months.detach(values.detach)) console.log(`${name} is detached: dump it, then drop it`)
    } else if (values.attach !== undefined) {
      const attached = await months.attach(values.attach)
      for (const name of attached) console.log(`${name} is attached again`)
      if (attached.length === 0) console.log(`no table of ${values.attach} was detached`)
    } else {
      for (const { table, rows, bytes } of await months.list()) {
        console.log(`${table}: about ${rows.toLocaleString('en')} rows, ${(bytes / 1e6).toFixed(1)} MB`)
      }
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 2
  }
})
