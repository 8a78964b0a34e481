import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { LedgerMonitor } from '../../db/ledger-monitor.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { eachDatabase } from '../support/databases.ts'
import { info } from '../support/fixtures.ts'
import { insertMatch } from '../support/rows.ts'
import { TestWorld } from '../support/test-world.ts'

const FINE = { imbalanceMicros: 0, unbalancedTransactions: 0, mismatchedWallets: 0 }

eachDatabase((open) => {
  let world = new TestWorld()
  beforeEach(async () => {
    world = new TestWorld()
    await sql`truncate users, wallets, ledger_entries, matches, outbox, outbox_cursors, outbox_failures cascade`.execute(
      open().db,
    )
    await seedDistricts(open().db)
  })
  /** Users with starting balances of now: two entries in each purse. */
  const grant = (...names: string[]) => new Users(open().db, world, []).createSyntheticMany(names)

  it('the check reads every ledger entry once, when its transaction must be complete', async () => {
    const pulse = new LedgerMonitor(open().db, world)
    await grant('Ada', 'Bob')
    expect(await pulse.books(), 'too new').toEqual({ entries: 0, ...FINE })
    world.pass(21 * SECOND_MS)
    await grant('Cid')
    expect(await pulse.books()).toEqual({ entries: 8, ...FINE })
    expect(await pulse.books()).toEqual({ entries: 0, ...FINE })
    world.pass(20 * MINUTE_MS)
    const caughtUp = [await pulse.books(), await pulse.books()]
    expect(
      caughtUp.map(({ entries }) => entries),
      'a few minutes at a time',
    ).toEqual([4, 0])
  })

  it('it finds a transaction that does not sum to zero, and a wallet that differs from the sum of its entries', async () => {
    const pulse = new LedgerMonitor(open().db, world)
    const [ada, bob] = await grant('Ada', 'Bob')
    await sql`update ledger_entries set amount_micros = amount_micros - 5
               where account = 'house' and purse = 'main' and reference = ${ada?.user.id}::uuid`.execute(open().db)
    await sql`update wallets set balance_micros = balance_micros + 1 where purse = 'practice' and user_id = ${bob?.user.id}::uuid`.execute(
      open().db,
    )
    world.pass(MINUTE_MS)
    const found = { entries: 8, imbalanceMicros: -5, unbalancedTransactions: 1, mismatchedWallets: 1 }
    expect(await pulse.books()).toEqual(found)
  })

  it('counts unsettled and overdue matches, and commits without reactions', async () => {
    const { db } = open()
    const pulse = new LedgerMonitor(db, world)
    expect(await pulse.workLeft()).toEqual({
      unsettled: 0,
      overdue: 0,
      quarantined: 0,
      unreacted: 0,
      unreactedMs: 0,
      setAside: 0,
      unpaid: 0,
      monthsMissing: 0,
      webhookFailingMs: 0,
      archiveFailingMs: 0,
    })
    await insertMatch(db, info({ startsAt: world.now() }))
    await insertMatch(db, info({ matchId: fixtureId(7), replay: true, startsAt: world.now() }))
    await sql`insert into outbox_cursors (match_id, seq) values (${info().matchId}::bigint, 3)
                on conflict (match_id) do update set seq = 3`.execute(db)
    const events = JSON.stringify([])
    await sql`insert into outbox (match_id, seq, at, events)
                select ${info().matchId}::bigint, n, ${new Date(world.now())}::timestamptz, ${events}::jsonb
                  from generate_series(1, 5) n`.execute(db)
    world.pass(5 * HOUR_MS)
    expect(await pulse.workLeft()).toEqual({
      unsettled: 2,
      overdue: 1,
      quarantined: 0,
      unreacted: 2,
      unreactedMs: 5 * HOUR_MS,
      setAside: 0,
      unpaid: 0,
      monthsMissing: 0,
      webhookFailingMs: 0,
      archiveFailingMs: 0,
    })
    const putOff = { phase: 'off', state: 'POSTPONED', startsAt: instant(0) } as const
    await insertMatch(db, info({ ...putOff, matchId: fixtureId(8) }))
    expect(await pulse.workLeft(), 'put off before its kick-off').toMatchObject({ unsettled: 3, overdue: 1 })
    await insertMatch(db, info({ ...putOff, matchId: fixtureId(9), kickedOffAt: instant(1) }))
    expect(await pulse.workLeft()).toMatchObject({ unsettled: 4, overdue: 2 })
  })

  it('tells how long the webhook that has failed longest has failed, unless it is paused', async () => {
    const { db } = open()
    const pulse = new LedgerMonitor(db, world)
    const failing = async (state: string, minutes: number | null): Promise<void> => {
      const since = minutes === null ? null : new Date(world.now() - minutes * MINUTE_MS)
      await sql`insert into webhooks (id, url, types, secret_digest, state, created_at, position, seq, read, failing_since)
                  values (gen_random_uuid(), 'https://a.example', '{}', '', ${state}::text, now(), 1, 0, 0,
                          ${since}::timestamptz)`.execute(db)
    }
    await failing('active', null)
    await failing('paused', 50)
    expect(await pulse.workLeft()).toMatchObject({ webhookFailingMs: 0 })
    await failing('active', 3)
    await failing('disabled', 20)
    expect(await pulse.workLeft()).toMatchObject({ webhookFailingMs: 20 * MINUTE_MS })
  })

  it('tells how long nothing has been archived while the attempts fail', async () => {
    await open()
      .db.connection()
      .execute(async (db) => {
        // Stands for PostgreSQL's own view, which no test can write.
        await sql`create schema if not exists archiver`.execute(db)
        await sql`create table archiver.pg_stat_archiver (last_archived_time timestamptz, last_failed_time timestamptz,
                                                        stats_reset timestamptz)`.execute(db)
        const turn = (mode: string) =>
          sql`create or replace function archiver.current_setting(text) returns text language sql
                as ${sql.lit(`select '${mode}'`)}`.execute(db)
        await turn('on')
        await sql`set search_path = archiver, public, pg_catalog`.execute(db)
        const pulse = new LedgerMonitor(db, world)
        const failingWith = async (archived: number | null, failed: number | null): Promise<number> => {
          const at = (ago: number | null) => (ago === null ? null : new Date(world.now() - ago * MINUTE_MS))
          await sql`delete from archiver.pg_stat_archiver`.execute(db)
          await sql`insert into archiver.pg_stat_archiver
                  values (${at(archived)}::timestamptz, ${at(failed)}::timestamptz, ${at(90)}::timestamptz)`.execute(db)
          return (await pulse.workLeft()).archiveFailingMs / MINUTE_MS
        }
        try {
          expect([await failingWith(null, null), await failingWith(30, null), await failingWith(30, 40)]).toEqual([
            0, 0, 0,
          ])
          expect([await failingWith(30, 1), await failingWith(null, 1)]).toEqual([30, 90])
          await turn('off')
          expect(await failingWith(30, 1)).toBe(0)
        } finally {
          await sql`reset search_path`.execute(db)
          await sql`drop schema archiver cascade`.execute(db)
        }
      })
  })
})
