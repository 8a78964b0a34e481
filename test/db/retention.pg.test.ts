import { type RawBuilder, sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { DAY_MS, HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { PriceHistory } from '../../db/price-history.ts'
import { Retention } from '../../db/retention.ts'
import { seedDistricts } from '../../db/seed.ts'
import { eachDatabase } from '../support/databases.ts'
import { info, P, U } from '../support/fixtures.ts'
import { insertMatch } from '../support/rows.ts'
import { TestWorld } from '../support/test-world.ts'

const NOTHING = {
  thinnedTicks: 0,
  ticks: 0,
  recentTrades: 0,
  journals: 0,
  tapes: 0,
  commandResults: 0,
  accountEvents: 0,
  notifications: 0,
  activity: 0,
  fixtures: 0,
  singleUse: 0,
  departed: 0,
  matchRanks: 0,
  registrationNetworks: 0,
}

eachDatabase((open) => {
  let world = new TestWorld()
  let now = world.now()
  const retention = () => new Retention(open().db, world, () => ({ fullDays: 7, days: 30, journalDays: 60 }))
  const at = (ms: number): RawBuilder<Date> => sql<Date>`${new Date(ms).toISOString()}::timestamptz`
  const count = async (table: string) => {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(open().db)
    return rows[0]?.n
  }
  /** Inserts `count` ticks of a player, one second apart, from this instant on. */
  const ticks = (player: number, from: number, many: number, cause = 'match') =>
    sql`insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
          select ${P(player)}::uuid, ${at(from)} + n * interval '1 second', n + 1, 1, 0, ${cause}::text, 0
            from generate_series(0, ${many}::integer - 1) n`.execute(open().db)
  /** Recent trades of a player: how long ago, and the running total with it. */
  const trades = (player: number, all: readonly (readonly [ago: number, traded: number])[]) =>
    open()
      .db.insertInto('recent_trades')
      .values(
        all.map(([ago, traded]) => ({
          instrument_id: P(player),
          at: new Date(now - ago),
          traded_micros: traded,
          trades: '[]',
        })),
      )
      .execute()
  const kept = async (player: number) => {
    const rows = await open()
      .db.selectFrom('ticks')
      .select(['at', 'cause'])
      .where('instrument_id', '=', P(player))
      .orderBy('at')
      .execute()
    return rows.map((row) => [(row.at.getTime() - now) / SECOND_MS, row.cause])
  }

  beforeEach(async () => {
    world = new TestWorld()
    now = world.now()
    await sql`truncate ticks, recent_trades, journal, tape, tape_checkpoints, fixtures, upkeep, command_results, account_events,
              notifications, push_outbox, activity`.execute(open().db)
  })

  it('thins ticks older than a week to one per minute and player, but keeps in-game events', async () => {
    const week = now - 7 * DAY_MS - HOUR_MS
    await ticks(1, week, 150)
    await ticks(2, week + 30 * SECOND_MS, 10)
    await ticks(1, week + 95 * SECOND_MS + 500, 1, 'event')
    await ticks(1, now - HOUR_MS, 100)
    expect(await retention().run()).toEqual({ ...NOTHING, thinnedTicks: 147 + 9 })
    const from = (week - now) / SECOND_MS
    expect((await kept(1)).slice(0, 5)).toEqual([
      [from, 'match'],
      [from + 60, 'match'],
      [from + 95.5, 'event'],
      [from + 120, 'match'],
      [-3_600, 'match'],
    ])
    expect(await kept(2)).toEqual([[from + 30, 'match']])
  })

  it('continues where it stopped, and keeps newer rows', async () => {
    const border = now - 7 * DAY_MS
    await ticks(1, border - 2 * DAY_MS, 120)
    await ticks(1, border - 2 * DAY_MS + 5 * HOUR_MS + 3 * MINUTE_MS, 120)
    await ticks(1, border + MINUTE_MS, 120)
    expect((await retention().run()).thinnedTicks).toBe(118 + 118)
    expect(await retention().run()).toEqual(NOTHING)
    world.pass(HOUR_MS)
    expect((await retention().run()).thinnedTicks).toBe(118)
    expect(await count('ticks')).toBe(6)
  })

  it("drops older ticks, but never a player's first", async () => {
    await ticks(1, now - 90 * DAY_MS, 3, 'event')
    await ticks(1, now - 31 * DAY_MS, 2, 'event')
    await ticks(2, now - 31 * DAY_MS, 2, 'event')
    await ticks(2, now - 29 * DAY_MS, 2, 'event')
    expect((await retention().run()).ticks).toBe(4 + 1)
    expect(await kept(1)).toEqual([[-90 * 86_400, 'event']])
    expect((await kept(2)).map(([secs]) => secs)).toEqual([-31 * 86_400, -29 * 86_400, -29 * 86_400 + 1])
  })

  it('removes expired rows in chunks', async () => {
    const { db } = open()
    await sql`
      insert into command_results
          (id, user_id, fingerprint, result, balance_micros, margin_micros, unrealized_micros, at)
        select gen_random_uuid(), ${U(1)}::uuid, '', '{}', 0, 0, 0,
               ${at(now - 7 * DAY_MS)} - interval '1 second' + (n % 3) * interval '1 second'
          from generate_series(1, 36000) n`.execute(db)
    await sql`
      insert into account_events (user_id, marker, kind, position_id, warned, at)
        select ${U(1)}::uuid, n, 'changed', ${U(2)}::uuid, 0, ${at(now - 30 * DAY_MS)} - interval '1 second' + n * interval '1 second'
          from generate_series(0, 1) n`.execute(db)
    await trades(1, [
      [32 * DAY_MS, 1],
      [31 * DAY_MS, 2],
      [0, 3],
    ])
    await seedDistricts(db)
    await sql`insert into users (id, email, name, username, first_name, district_id, referral_code, created_at)
                values (${U(1)}::uuid, 'u', 'u', 'u', 'u', 1, 'u', now()) on conflict do nothing`.execute(db)
    for (const [n, age] of [366, 364].entries()) {
      const then = at(now - age * DAY_MS)
      await sql`insert into notifications (user_id, type, title, body, data, source, created_at)
                  values (${U(1)}::uuid, '', '', '', '{}', ${String(n)}::text, ${then})`.execute(db)
      await sql`insert into activity (user_id, district_id, type, text, data, source, at)
                  values (${U(1)}::uuid, 1, '', '', '{}', ${String(n)}::text, ${then})`.execute(db)
      await sql`insert into match_ranks (user_id, purse, match_id, settled_at, rank_before, rank_after)
                  values (${U(1)}::uuid, 'main', ${n}::bigint, ${then}, 2, 1)`.execute(db)
    }
    await sql`insert into fixtures values (1, ${at(now - 8 * DAY_MS)}, '{}'), (2, ${at(now)}, '{}')`.execute(db)
    expect(await retention().run()).toEqual({
      ...NOTHING,
      commandResults: 12_000,
      matchRanks: 1,
      accountEvents: 1,
      recentTrades: 1,
      notifications: 1,
      activity: 1,
      fixtures: 1,
    })
    expect(
      await Promise.all(
        ['command_results', 'account_events', 'recent_trades', 'notifications', 'activity', 'fixtures'].map(count),
      ),
    ).toEqual([24_000, 1, 2, 1, 1, 1])
  })

  it("drops old trades, but never a player's newest old one, from which the volume is counted", async () => {
    const volume = async (player: number, days: number) =>
      (await new PriceHistory(open().db).of(P(player), instant(now - days * DAY_MS))).volume
    await trades(1, [
      [40 * DAY_MS, 500],
      [31 * DAY_MS, 700],
      [31 * DAY_MS, 900],
      [HOUR_MS, 905],
    ])
    await trades(2, [[90 * DAY_MS, 800]])
    await trades(3, [
      [29 * DAY_MS, 10],
      [HOUR_MS, 30],
    ])
    expect((await retention().run()).recentTrades).toBe(2)
    expect(await Promise.all([volume(1, 1), volume(1, 30), volume(2, 1), volume(3, 1)])).toEqual([5, 5, 0, 20])
    world.pass(30 * DAY_MS)
    expect((await retention().run()).recentTrades).toBe(2)
    expect(await count('recent_trades')).toBe(3)
  })

  it('drops journals and tapes whole, with their checkpoints, of matches that began and were settled long ago', async () => {
    const { db } = open()
    const days = [
      { began: 63, settled: 61 },
      { began: 63, settled: 61 },
      { began: 59, settled: 57 },
      { began: 63, settled: 59 },
      { began: 63, settled: null },
    ]
    for (const [index, { began, settled }] of days.entries()) {
      const id = fixtureId(index + 1)
      const settledAt = settled === null ? null : instant(now - settled * DAY_MS)
      await insertMatch(db, info({ matchId: id, settledAt }))
      const each = sql`${at(now - began * DAY_MS)} + (n - 1) * interval '1 day'`
      await sql`
        insert into tape (match_id, first_n, last_n, at, secret, lines)
          select ${id}::bigint, n, n, ${each}, case when n = 1 then ''::bytea end, '' from generate_series(1, 3) n`.execute(
        db,
      )
      await sql`
        insert into journal select ${id}::bigint, n, 1, ${each}, 0, true, '' from generate_series(1, 3) n`.execute(db)
      await sql`insert into tape_checkpoints values (${id}::bigint, 3, '', now(), 'k', '')`.execute(db)
    }
    // Of one of them an older version has dropped the first rows.
    await sql`delete from journal where match_id = 1 and n < 3`.execute(db)
    expect(await retention().run()).toEqual({ ...NOTHING, journals: 2, tapes: 2 })
    expect(await Promise.all(['journal', 'tape', 'tape_checkpoints'].map(count))).toEqual([9, 9, 3])
    expect(await retention().run()).toEqual(NOTHING)
  })
})
