import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, positionId, userId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Position } from '../../actors/position/position.ts'
import { insertNotices } from '../../db/announcements.ts'
import { Catalogue } from '../../db/catalogue.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { SqlLeases } from '../../db/leases.ts'
import { Positions } from '../../db/positions.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { Inbox } from '../../src/features/notifications/store.ts'
import { Invites } from '../../src/features/referrals/store.ts'
import { eachDatabase } from '../support/databases.ts'
import { held, info, instrument, MATCH, P, p, u } from '../support/fixtures.ts'
import { insertInstrument, insertMatch, insertPosition, insertTick } from '../support/rows.ts'
import { TestWorld } from '../support/test-world.ts'

const SETTLED = fixtureId(90_002)
const LATER = fixtureId(90_003)

eachDatabase((open) => {
  const world = new TestWorld()
  const now = world.now()
  const fast = new FastMemory(world)
  const cache = new WalletCache(fast, () => {})

  let alice = userId('')
  let bob = userId('')

  beforeAll(async () => {
    const { db } = open()
    await seedDistricts(db)
    cache.timeline = await timelineOf(db)
    const made = await new Users(db, world).createSyntheticMany(['Alice', 'Bob'])
    alice = made[0]?.user.id ?? alice
    bob = made[1]?.user.id ?? bob

    await insertMatch(db, info())
    await insertMatch(
      db,
      info({ matchId: SETTLED, phase: 'final', settledAt: now, startsAt: instant(now + 2 * HOUR_MS) }),
    )
    await insertMatch(db, info({ matchId: LATER, phase: 'scheduled', startsAt: instant(now + HOUR_MS) }))
    await insertInstrument(
      db,
      MATCH,
      instrument(1, { name: 'Zed', imbalance: lots(-u(3)), base: p(220), impactCapPpm: 0 }),
      p(220),
    )
    await insertInstrument(db, MATCH, instrument(2, { name: 'Abe', base: p(190), impactCapPpm: 0 }), p(190))
    await insertInstrument(db, SETTLED, instrument(3, { settlement: p(201.5) }), p(201.5))
  })

  const position = (over: Partial<Position> = {}): Position => {
    const at = { openedAt: now, closableAt: instant(now + 180_000) }
    const half = { lots: lots(u(0.5)), margin: money(u(50)) }
    return held({ id: positionId(world.newId()), userId: alice, ...half, ...at, ...over })
  }

  describe('positions', () => {
    const positions = () => new Positions(open().db)
    const open1 = position({ stopLoss: p(190), openedAt: instant(now - 3) })
    const open2 = position({ direction: 'short', instrumentId: P(2), takeProfit: p(150), openedAt: instant(now - 1) })
    const shut = position({
      openedAt: instant(now - 2),
      close: { price: p(210), base: p(210), pnl: money(u(25)), at: now, by: 'take_profit', voidReason: null },
    })

    beforeAll(async () => {
      // The user is only known once the database is open.
      for (const one of [open1, open2, shut]) await insertPosition(open().db, { ...one, userId: alice })
      await insertPosition(open().db, position({ userId: bob }))
    })

    const list = async (status: 'open' | 'closed' | 'all', limit = 50, offset = 0) =>
      (await positions().list(alice, { purse: 'main', status, limit, offset })).map((one) => one.position.id)

    it('are listed by status, most recently opened first, one page at a time', async () => {
      expect(await list('open')).toEqual([open2.id, open1.id])
      expect(await list('closed')).toEqual([shut.id])
      expect(await list('all')).toEqual([open2.id, shut.id, open1.id])
      expect(await list('all', 1, 1)).toEqual([shut.id])
    })

    it('come back as they were written, with the current price of their instrument', async () => {
      for (const [written, price] of [
        [open1, p(220)],
        [open2, p(190)],
        [shut, p(220)],
      ] as const) {
        const found = await positions().find(alice, written.id)
        expect(found).toEqual({ position: { ...written, userId: alice }, currentPrice: price, exitPrice: price })
      }
    })

    it('of another user are not found, like those that do not exist', async () => {
      expect(await positions().find(bob, open1.id)).toBe(null)
      expect(await positions().find(alice, positionId(world.newId()))).toBe(null)
    })
  })

  describe('a wallet', () => {
    const wallets = () => new Wallets(open().db, cache)
    const newUser = async (name: string) => {
      const [made] = await new Users(open().db, world).createSyntheticMany([name])
      return userId(made?.user.id ?? '')
    }

    it('has every entry of its ledger in pages, newest first, each once', async () => {
      const user = await newUser('Reader of a long ledger')
      await sql`
        insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
          select gen_random_uuid(), 'user', ${user}::uuid, 'main', n, 'refill', gen_random_uuid(),
                 now() + interval '1 hour' + (n / 3) * interval '1 second'
            from generate_series(1, 21000) n`.execute(open().db)
      const pages = await Array.fromAsync(wallets().ledgerPages(user, { purse: 'main' }))
      expect(pages.map((page) => page.length)).toEqual([10_000, 10_000, 1_001])
      const entries = pages.flat()
      expect(new Set(entries.map(({ amount }) => amount)).size).toBe(21_001)
      expect(entries.every(({ at }, n) => n === 0 || at <= (entries[n - 1]?.at ?? 0))).toBe(true)
      const since = { purse: 'main', from: present(entries[99], 'entry').at } as const
      expect((await Array.fromAsync(wallets().ledgerPages(user, since))).flat().length).toBeGreaterThanOrEqual(100)
    })

    it('[D2] values every open position at its close price now, with a loss of at most its margin', async () => {
      const user = await newUser('Trader with positions')
      const holds = (over: Partial<Position>) => insertPosition(open().db, position({ userId: user, ...over }))
      await holds({}) // 220 − 200, long: +50
      await holds({ direction: 'short', instrumentId: P(2), lots: lots(u(0.2)) }) // 200 − 190, short: +10
      await holds({ direction: 'short' }) // −50, which is all its margin
      await holds({ direction: 'short', openPrice: p(100), margin: money(u(25)) }) // −300, floored at −25
      await holds({ openPrice: p(220.000001), lots: lots(u(0.01)) }) // −0.00000005, rounded down to −0.000001
      // Closed: no longer counts.
      await holds({ close: { price: p(300), base: p(300), pnl: money(u(250)), at: now, by: 'user', voidReason: null } })
      await open()
        .db.updateTable('wallets')
        .set({ margin_micros: 7, open_positions: 5 })
        .where('user_id', '=', user)
        .where('purse', '=', 'main')
        .execute()
      expect(await wallets().find(user)).toEqual({
        purse: 'main',
        balance: STARTING_BALANCE,
        marginUsed: 7,
        unrealizedPnl: u(50 + 10 - 50 - 25) - 1,
        openPositions: 5,
      })
    })
  })

  it('[Q3] orphans are the unsettled matches whose owner has gone, or that should run here and do not', async () => {
    const { db } = open()
    const leases = (owner: string, alone = false) => new SqlLeases(db, { owner, ttlMs: 60_000, alone })
    const [ours, theirs] = [leases('ours'), leases('theirs')]
    expect(await ours.orphans([])).toEqual([MATCH, LATER])
    const epoch = (await theirs.acquire(MATCH)) ?? 0
    expect(await ours.orphans([])).toEqual([LATER])
    expect(await ours.ownerOf(MATCH)).toBe('theirs')
    expect(await leases('sole', true).orphans([LATER])).toEqual([MATCH])
    expect(await theirs.orphans([MATCH])).toEqual([LATER])
    expect(await theirs.orphans([])).toEqual([MATCH, LATER])
    await theirs.release(MATCH, epoch)
    expect(await ours.ownerOf(MATCH)).toBeNull()
    expect(await ours.orphans([])).toEqual([MATCH, LATER])
  })

  describe('the catalogue', () => {
    const catalogue = () => new Catalogue(open().db, world)

    it('lists matches under way, then those to come, then those that are over', async () => {
      const matches = await catalogue().matches()
      expect(matches.map((match) => match.matchId)).toEqual([MATCH, LATER, SETTLED])
      expect(matches[0]).toEqual(info())
      expect(await catalogue().match(MATCH)).toEqual(info())
      expect(await catalogue().match(fixtureId(1))).toBe(null)
    })

    it('reads the descriptions of the matches it lists, and not of all there ever were', async () => {
      await open()
        .db.transaction()
        .execute(async (tx) => {
          await sql`
            insert into matches
              select (jsonb_populate_record(m, jsonb_build_object('id', m.id + n, 'info', m.info || jsonb_build_object(
                       'long', (select string_agg(gen_random_uuid()::text, '') from generate_series(1, 300)))))).*
                from matches m, generate_series(1000, 1999) n where id = ${SETTLED}::bigint`.execute(tx)
          const reads = async () => {
            const { rows } = await sql<{ n: number }>`
              select sum(pg_stat_get_xact_numscans(i.indexrelid))::integer as n
                from pg_class c join pg_index i on i.indrelid = c.reltoastrelid
               where c.oid = 'matches'::regclass`.execute(tx)
            return present(rows[0], 'reads').n
          }
          const before = await reads()
          const listed = await new Catalogue(tx, world).matches()
          expect(listed).toHaveLength(500)
          // Each is read twice: for its type, and for the rest.
          expect((await reads()) - before).toBeLessThanOrEqual(2 * listed.length)
          await sql`delete from matches where id >= ${SETTLED}::bigint + 1000`.execute(tx)
        })
    })

    it('lists the instruments of unsettled matches; one alone is found for ever', async () => {
      const active = await catalogue().instruments()
      expect(active.map((listing) => listing.instrument.id)).toEqual([P(2), P(1)]) // Abe before Zed
      expect(active[1]).toEqual({
        instrument: instrument(1, { name: 'Zed', imbalance: lots(-u(3)), base: p(220), impactCapPpm: 0 }),
        match: info(),
        price: p(220),
        changePpm: 100_000,
      })
      expect(await catalogue().instrument(P(3))).toMatchObject({ match: { matchId: SETTLED }, price: p(201.5) })
      expect(await catalogue().instrument(P(9))).toBe(null)
      expect(await catalogue().matchOfInstrument(P(3))).toBe(SETTLED)
      expect(await catalogue().matchOfInstrument(P(9))).toBe(null)
    })

    it('measures the change from the first tick of the last 24 hours, or of the match if that is later', async () => {
      const { db } = open()
      const change = async () => (await catalogue().instrument(P(2)))?.changePpm
      expect(await change()).toBe(-50_000) // no tick: from the start of the match, 200 → 190
      await insertTick(db, { instrument_id: P(2), at: now - 24 * HOUR_MS - 1, price_micros: p(1) })
      await insertTick(db, { instrument_id: P(2), at: now - 1, price_micros: p(380) })
      await insertTick(db, { instrument_id: P(2), at: now - 24 * HOUR_MS, price_micros: p(95) })
      expect(await change()).toBe(1_000_000)
      await insertTick(db, { instrument_id: P(2), at: now - 2, price_micros: p(152), cause: 'listing' })
      expect(await change()).toBe(250_000)
      await insertTick(db, { instrument_id: P(2), at: now - 1, price_micros: p(152), cause: 'settlement' })
      await insertTick(db, { instrument_id: P(2), at: now, price_micros: p(200) })
      expect(await change()).toBe(-50_000)
    })

    it('[R23] knows what a settled match did to a price, whatever the player has played before and since', async () => {
      const { db } = open()
      const squad = [{ instrumentId: P(4) }, { instrumentId: P(5) }] as unknown as MatchInfo['squad']
      const outcomes = () => catalogue().outcomes({ squad, settledAt: instant(now + 500) })
      const ticks = [
        [-9_000, 90, 'settlement'],
        [100, 100, 'listing'],
        [200, 130, 'event'],
        [400, 120, 'settlement'],
        [900, 80, 'listing'],
        [950, 70, 'settlement'],
      ] as const
      for (const [after, price, cause] of ticks) {
        await insertTick(db, { instrument_id: P(4), at: now + after, price_micros: p(price), cause })
      }
      expect(await outcomes(), 'of the other nothing is stored').toEqual([
        { instrumentId: P(4), from: p(100), to: p(120), changePpm: 200_000 },
      ])
      expect(await catalogue().outcomes({ squad, settledAt: null })).toEqual([])
    })

    it('reads matches under way whole, and no others', async () => {
      expect((await catalogue().underWay()).map(({ matchId }) => matchId)).toEqual([MATCH])
    })
  })

  it('[R34] rows and their count are of one moment, while rows are written', async () => {
    const { db } = open()
    const invites = new Invites(db, world)
    const inbox = new Inbox(db)
    let reads = 0
    const write = async () => {
      for (let n = 0; reads < 100; n++) {
        const told = {
          userId: alice,
          type: 'badge',
          title: '',
          body: '',
          data: {},
          source: `moment:${n}`,
          at: now,
        } as const
        await Promise.all([
          invites.invite(alice, `Friend ${n}`),
          db.transaction().execute((tx) => insertNotices(tx, [told])),
        ])
      }
    }
    const read = async () => {
      for (; reads < 100; reads++) {
        const [{ notifications, unread }, { referrals, sums }] = await Promise.all([
          inbox.list(alice, { limit: 10_000, unreadOnly: false, before: null }),
          invites.list(alice),
        ])
        expect([notifications.length, referrals.length]).toEqual([unread, sums.invited])
      }
    }
    await Promise.all([write(), read(), read()])
  })
})
