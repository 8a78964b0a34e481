/** What is asked often reads little of what has piled up. */
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { REPLAY_FIXTURES_FROM } from '../../actors/kernel/limits.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { Catalogue } from '../../db/catalogue.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { eachDatabase } from '../support/databases.ts'
import { plansOf } from '../support/plans.ts'
import { TestWorld } from '../support/test-world.ts'

/** Matches that are over, and as many replays. */
const OVER = 3_000

eachDatabase((open) => {
  const world = new TestWorld()

  beforeAll(async () => {
    const { db } = open()
    const match = sql`'ended', false, now() - n * interval '1 hour', now(), '{"settling": "full_time"}'::jsonb, '{}'::jsonb`
    await sql`
      insert into matches (id, phase, replay, starts_at, settled_at, info, pricing)
        select n, ${match} from generate_series(1, ${OVER}::integer) n
        union all
        select ${REPLAY_FIXTURES_FROM}::bigint + n, ${match} from generate_series(1, ${OVER}::integer) n`.execute(db)
    await sql`
      insert into fixtures (id, starts_at, info)
        select n, now() + interval '1 day', '{"phase": "scheduled"}'::jsonb from generate_series(${OVER}::integer, ${OVER + 9}) n`.execute(
      db,
    )
    await sql`
      insert into replays (id, recording, match_id, speed, traders, state, started_at)
        select gen_random_uuid(), 'derby', ${REPLAY_FIXTURES_FROM}::bigint + n, 1, 0,
               case n when ${OVER}::integer then 'running' else 'finished' end, now()
          from generate_series(1, ${OVER}::integer) n`.execute(db)
    await sql`analyze matches, fixtures, replays`.execute(db)
  })

  it('of the matches that are over a list looks for the few that are announced again alone', async () => {
    const [plan = ''] = await plansOf(open().db, () => new Catalogue(open().db, world).matches())
    const loops = [...plan.matchAll(/Scan .*fixtures.*loops=(\d+)/g)].map(([, times]) => Number(times))
    expect(loops.length).toBeGreaterThan(1)
    expect(Math.max(...loops), plan).toBeLessThan(20)
  })

  it('the replays that play are found without the others', async () => {
    const runs = new ReplayRuns(open().db, world, new AuditLog(open().db, world))
    const [plan = ''] = await plansOf(open().db, () => runs.unfinished())
    expect(await runs.unfinished()).toHaveLength(1)
    const read = [...plan.matchAll(/Scan .*(?:replays|matches).*rows=(\d+)/g)].map(([, rows]) => Number(rows))
    expect(read.length).toBeGreaterThan(2)
    expect(Math.max(...read), plan).toBeLessThan(20)
    expect(plan).not.toContain('Rows Removed')
  })
})
