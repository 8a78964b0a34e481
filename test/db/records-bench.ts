/** The tables of leases and processes, for the contract that both keep. */
import { sql } from 'kysely'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { SqlLeases } from '../../db/leases.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { Processes } from '../../db/processes.ts'
import type { RecordsBench } from '../contract/records.ts'
import { record } from '../support/fixtures.ts'
import { insertMatch } from '../support/rows.ts'

export const recordsBench = ({ db }: Connection): RecordsBench => ({
  leasesOf: (owner) => new SqlLeases(db, { owner, ttlMs: 5 * SECOND_MS, alone: false }),
  at: (id, runsMatches = true) => new Processes(db, { id, runsMatches }),
  store: async (matches) => {
    const { info } = record()
    for (const { id: matchId, isSettled } of matches) {
      await insertMatch(db, { ...info, matchId, settledAt: isSettled ? info.startsAt : null })
    }
  },
  expire: async (id) => {
    await sql`update match_leases set expires_at = clock_timestamp() where match_id = ${id}`.execute(db)
  },
  unseen: async (id, secs) => {
    await sql`update processes set seen_at = seen_at - make_interval(secs => ${secs}) where id = ${id}`.execute(db)
  },
  missedBefore: async (secs) => {
    await sql`update processes set missed_at = missed_at - make_interval(secs => ${secs})`.execute(db)
  },
})
