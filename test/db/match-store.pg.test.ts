import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { type FixtureId, fixtureId, instrumentId, positionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Position } from '../../actors/position/position.ts'
import { texts } from '../../db/postgres/arrays.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { setAnchors } from '../../db/anchors.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { positionFrom } from '../../db/positions.ts'
import { seedDistricts } from '../../db/seed.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { systemWorld } from '../../src/system-world.ts'
import { matchStoreContract, type StoreUnderTest } from '../contract/match-store.ts'
import { eachDatabase } from '../support/databases.ts'
import { held, P, p, u } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

const world = systemWorld()

/** The history of the database under test. */
let timeline = ''

/** A store over an open database, and the cache its balances are copied to. */
function kit(connection: Connection, fast: FastMemory = new FastMemory(world)) {
  const failures: unknown[] = []
  const cache = new WalletCache(fast, (error) => failures.push(error))
  cache.timeline = timeline
  const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 5_000, alone: true })
  const under: StoreUnderTest = {
    store: new SqlMatchStore(connection, cache, new TestWorld()),
    leases,
    newId: () => world.newId(),
    newUser: async (balance) => {
      const user = world.newId()
      await sql`with person as (
          insert into users (id, email, name, username, first_name, district_id, referral_code, created_at)
          values (${user}, ${user}, ${user}, ${user}, ${user}, 1, ${user}, now())
        ), paid as (insert into wallets (user_id, purse, balance_micros)
                      select ${user}::uuid, purse, ${balance}::bigint from unnest(${texts(PURSES)}::text[]) purse)
        insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
        select ${user}::uuid, account, case account when 'user' then ${user}::uuid end, purse,
               case account when 'user' then ${balance}::bigint else -${balance}::bigint end, 'grant', ${user}::uuid, now()
          from unnest(${texts(PURSES)}::text[]) purse, unnest(array['user', 'house']) account`.execute(connection.db)
      return userId(user)
    },
    audit: async () => {
      const audit = await new Wallets(connection.db, cache).auditLedger()
      expect(audit.unbalancedTransactions).toBe(0)
      const imbalance = audit.purses.reduce((sum, { imbalanceMicros }) => sum + Math.abs(imbalanceMicros), 0)
      return { imbalance, mismatched: audit.mismatchedWallets }
    },
  }
  return { ...under, fast, cache, failures, wallets: new Wallets(connection.db, cache) }
}

eachDatabase((open) => {
  beforeAll(async () => {
    await seedDistricts(open().db)
    timeline = await timelineOf(open().db)
  })

  matchStoreContract(async () => kit(open()))

  it('an anchor is part of the history, before the player is listed and after it is changed', async () => {
    const { store } = kit(open())
    const [one, two] = [P(901), P(902)]
    await setAnchors(
      open().db,
      new Map([
        [one, p(310)],
        [two, p(90)],
      ]),
    )
    await setAnchors(open().db, new Map([[two, p(95)]]))
    expect([...(await store.histories([one, two]))]).toEqual([
      [one, { last: null, anchor: p(310), past: null, heldBy: null }],
      [two, { last: null, anchor: p(95), past: null, heldBy: null }],
    ])
  })

  it('a position keeps the levels and the warning it closed with, also when one batch changes and closes it', async () => {
    const { store, leases, newUser, newId } = kit(open())
    const user = await newUser(money(u(100)))
    const matchId = fixtureId(81_000_001)
    const epoch = (await leases.acquire(matchId)) ?? 0
    const opened = openPosition(user, matchId)
    const changed = { ...opened, stopLoss: p(199), takeProfit: p(201), warned: 50 } as const
    const closed = {
      ...changed,
      close: { price: p(198), base: p(198), pnl: money(u(-2)), at: opened.openedAt, by: 'stop_loss', voidReason: null },
    } as const
    const batch = { matchId, epoch, at: opened.openedAt, instruments: [], ticks: [], keyed: [], watch: [] }
    const commit = (events: readonly MatchEvent[]) =>
      store.commit({ ...batch, id: newId(), events, openPositionsMax: 100 })
    await commit([{ kind: 'position_opened', position: opened }])
    await commit([
      { kind: 'levels_changed', position: { ...changed, warned: 0 } },
      { kind: 'margin_warned', position: changed },
      { kind: 'position_closed', position: closed },
    ])
    const row = open().db.selectFrom('positions').selectAll().where('id', '=', opened.id)
    expect(positionFrom(await row.executeTakeFirstOrThrow())).toEqual(closed)
  })

  describe('leases', () => {
    it('[Q1] while a lease runs another process must wait; released, it may take over at once', async () => {
      const { db } = open()
      const matchId = fixtureId(80_001)
      const one = new SqlLeases(db, { owner: 'one', ttlMs: 60_000, alone: false })
      const two = new SqlLeases(db, { owner: 'two', ttlMs: 60_000, alone: false })
      expect(await one.acquire(matchId)).toBe(1)
      expect(await two.acquire(matchId)).toBeNull()
      await one.release(matchId, 1)
      expect(await one.renew(matchId, 1)).toBe(true)
      await one.release(matchId, 1)
      expect(await two.acquire(matchId)).toBe(2)
      expect(await one.acquire(matchId)).toBeNull()
    })

    it('[Q1] an expired lease is taken over, and so is one left behind by a process that is alone', async () => {
      const { db } = open()
      const matchId = fixtureId(80_002)
      const brief = new SqlLeases(db, { owner: 'brief', ttlMs: 0, alone: false })
      expect(await brief.acquire(matchId)).toBe(1)
      const long = new SqlLeases(db, { owner: 'long', ttlMs: 60_000, alone: false })
      expect(await long.acquire(matchId)).toBe(2)
      expect(await new SqlLeases(db, { owner: 'sole', ttlMs: 60_000, alone: true }).acquire(matchId)).toBe(3)
    })
  })

  it('the running total of trades continues under an owner whose clock is behind', async () => {
    const { db } = open()
    const { store, leases, newUser } = kit(open())
    const [user, matchId, player] = [await newUser(money(u(1_000))), fixtureId(80_003), instrumentId(world.newId())]
    const epoch = (await leases.acquire(matchId)) ?? 0
    const now = world.now()
    for (const at of [now, instant(now - 60_000), instant(now - 30_000), instant(now + 1)]) {
      const position = { ...openPosition(user, matchId), instrumentId: player }
      const batch = { id: world.newId(), matchId, epoch, at, instruments: [], ticks: [], keyed: [], watch: [] }
      const events = [{ kind: 'position_opened', position }] as const
      expect((await store.commit({ ...batch, events, openPositionsMax: 100 })).kind).toBe('committed')
    }
    const rows = await db
      .selectFrom('recent_trades')
      .selectAll()
      .where('instrument_id', '=', player)
      .orderBy('traded_micros')
      .execute()
    expect(rows.map((row) => [row.at.getTime() - now, row.traded_micros])).toEqual([
      [0, u(0.2)],
      [0, u(0.4)],
      [0, u(0.6)],
      [1, u(0.8)],
    ])
  })

  describe('cached balances', () => {
    const commit = async (
      setup: ReturnType<typeof kit>,
      users: readonly UserId[],
      events: (match: FixtureId) => MatchEvent[],
    ) => {
      const matchId = fixtureId(81_000 + world.randomInt(1_000_000))
      const epoch = (await setup.leases.acquire(matchId)) ?? 0
      const batch = { id: world.newId(), matchId, epoch, at: world.now(), instruments: [], ticks: [], keyed: [] }
      const watch = users.map(
        (user) => ({ userId: user, purse: 'main', openPositions: 0, unrealizedPnl: money(0) }) as const,
      )
      return setup.store.commit({ ...batch, events: events(matchId), watch, openPositionsMax: 100 })
    }
    const watching = (setup: ReturnType<typeof kit>, user: UserId) => commit(setup, [user], () => [])
    const opening = (setup: ReturnType<typeof kit>, user: UserId) =>
      commit(setup, [user], (fixture) => [{ kind: 'position_opened', position: openPosition(user, fixture) }])

    it('[D5] a commit puts the balance with its version into the fast store', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(12.5)))
      await watching(setup, user)
      await expect.poll(() => setup.fast.hashGet(keys.wallet(user))).toMatchObject({ balance: '12.5', version: '0' })
      expect(setup.failures).toEqual([])
    })

    it('[D5] so is the balance of a user whom the batch does not watch', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(100)))
      const verdict = await commit(setup, [], (fixture) => [
        { kind: 'position_opened', position: openPosition(user, fixture) },
      ])
      expect(verdict).toEqual({ kind: 'committed', wallets: new Map() })
      await expect.poll(() => setup.fast.hashGet(keys.wallet(user))).toMatchObject({ balance: '80', version: '1' })
    })

    it('[D3] a user without a wallet cannot pay', async () => {
      const nobody = userId(world.newId())
      expect(await opening(kit(open()), nobody)).toEqual({
        kind: 'rejected',
        failures: [{ kind: 'insufficient_margin', userId: nobody, available: 0 }],
        wallets: [{ userId: nobody, purse: 'main', available: 0, openPositions: 0 }],
      })
    })

    it('[D5] a trade adopts a balance changed from outside, and books the difference for all to see', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(100)))
      await setup.fast.putIfNewer(keys.wallet(user), { balance: '40', timeline }, 0, 60_000)
      const opened = await opening(setup, user)
      expect(opened).toMatchObject({ kind: 'committed' })
      expect(await setup.wallets.find(user)).toMatchObject({ balance: u(20), marginUsed: u(20) })
      expect(await setup.audit()).toEqual({ imbalance: 0, mismatched: 0 })
      const booked = await open()
        .db.selectFrom('ledger_entries')
        .select('amount_micros')
        .where('user_id', '=', user)
        .where('kind', '=', 'external_adjustment')
        .execute()
      expect(booked).toEqual([{ amount_micros: u(-60) }])
      const audited = await open()
        .db.selectFrom('audit_log')
        .select(['action', 'after'])
        .where('subject', '=', user)
        .execute()
      expect(audited).toEqual([{ action: 'wallet.adopt', after: { purse: 'main', byMicros: u(-60) } }])
    })

    const refusals = (user: UserId) =>
      open().db.selectFrom('audit_log').select(['after', 'outcome']).where('subject', '=', user).execute()

    it('[D5] more than the bound is not adopted: the trade goes on with the stored balance, and it is recorded', async () => {
      const setup = kit(open())
      setup.cache.boundBy(() => money(u(50)))
      const user = await setup.newUser(money(u(100)))
      await setup.fast.putIfNewer(keys.wallet(user), { balance: '5000000', timeline }, 0, 60_000)
      expect(await opening(setup, user)).toMatchObject({ kind: 'committed' })
      expect(await setup.wallets.find(user)).toMatchObject({ balance: u(80), marginUsed: u(20) })
      expect(await setup.audit()).toEqual({ imbalance: 0, mismatched: 0 })
      const after = { purse: 'main', byMicros: u(5_000_000 - 100) }
      expect(await refusals(user)).toEqual([{ after, outcome: 'ADOPTION_TOO_LARGE' }])
      // The store has the right balance again, so nothing is refused twice.
      expect(await opening(setup, user)).toMatchObject({ kind: 'committed' })
      expect(await refusals(user)).toHaveLength(1)
      // An order that only the balance from outside could pay is refused.
      await setup.fast.del(keys.wallet(user))
      await setup.fast.putIfNewer(keys.wallet(user), { balance: '5000000', timeline }, 3, 60_000)
      for (let n = 0; n < 3; n += 1) await opening(setup, user)
      expect(await opening(setup, user)).toMatchObject({ kind: 'rejected', failures: [{ available: 0 }] })
      expect(await setup.audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[D5] a store from before a failover never counts, even where this process has not heard of the failover', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(100)))
      await setup.fast.putIfNewer(keys.wallet(user), { balance: '140', timeline: 'former' }, 0, 60_000)
      expect(await setup.wallets.find(user)).toMatchObject({ balance: u(100) })
      setup.cache.timeline = 'former'
      expect(await opening(setup, user)).toMatchObject({ kind: 'committed' })
      expect(await refusals(user)).toMatchObject([{ outcome: 'OTHER_TIMELINE' }])
      setup.cache.timeline = timeline
      expect(await setup.wallets.find(user)).toMatchObject({ balance: u(80) })
      expect(await opening(setup, user)).toMatchObject({ kind: 'committed' })
      expect(await setup.wallets.find(user)).toMatchObject({ balance: u(60) })
      expect(await setup.audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('a ledger lists the newest entry first, also within one instant', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(100)))
      await setup.fast.putIfNewer(keys.wallet(user), { balance: '40', timeline }, 0, 60_000)
      await opening(setup, user)
      await opening(setup, user)
      const entries = await setup.wallets.ledger(user, { purse: 'main', limit: 10, offset: 0 })
      const first = entries.findIndex((entry) => entry.kind === 'external_adjustment')
      expect(entries.filter((entry) => entry.kind === 'margin')).toHaveLength(2)
      expect(entries.slice(first).map((entry) => entry.kind)).not.toContain('margin')
    })

    it('[D5] a cached balance written without a version counts, for wallets and trades alike', async () => {
      class Tampered extends FastMemory {
        override hashGetMany = async () => [{ balance: '70' }]
      }
      const setup = kit(open(), new Tampered(world))
      const user = await setup.newUser(money(u(100)))
      expect((await setup.wallets.find(user))?.balance).toBe(u(70))
      expect(await opening(setup, user)).toMatchObject({ kind: 'committed' })
      const row = open()
        .db.selectFrom('wallets')
        .select('balance_micros')
        .where('user_id', '=', user)
        .where('purse', '=', 'main')
      expect(await row.executeTakeFirst()).toEqual({ balance_micros: u(50) })
      // The store still has 70, which is not adopted a second time.
      await opening(setup, user)
      expect(await row.executeTakeFirst()).toEqual({ balance_micros: u(30) })
      expect(await setup.audit()).toEqual({ imbalance: 0, mismatched: 0 })
    })

    it('[D5] a trade trusts no cached balance of another version', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(100)))
      await setup.fast.putIfNewer(keys.wallet(user), { balance: '40', timeline }, -1, 60_000)
      await opening(setup, user)
      expect((await setup.wallets.find(user))?.balance).toBe(u(80))
    })

    it('[D5] a wallet shows a cached balance changed at the current version, not a stale or broken one', async () => {
      const setup = kit(open())
      const user = await setup.newUser(money(u(100)))
      const shown = async (fields: Record<string, string>, version: number) => {
        await setup.fast.del(keys.wallet(user))
        await setup.fast.putIfNewer(keys.wallet(user), { timeline, ...fields }, version, 60_000)
        return (await setup.wallets.find(user))?.balance
      }
      expect(await shown({ balance: '70' }, 0)).toBe(u(70))
      expect(await shown({ balance: '70' }, -1)).toBe(u(100))
      expect(await shown({ balance: '70', timeline: 'former' }, 0)).toBe(u(100))
      expect(await shown({ balance: '10100' }, 0)).toBe(u(10_100))
      expect(await shown({ balance: '50000.000001' }, 0)).toBe(u(50_000.000001))
      expect(await shown({ balance: '9999.700000000001' }, 0)).toBe(u(9_999.7))
      expect(await shown({ balance: '3333.3333333333335' }, 0)).toBe(u(3_333.333333))
      for (const balance of ['', ' ', 'NaN', '-1', '1e400', 'seventy']) expect(await shown({ balance }, 0)).toBe(u(100))
    })
  })
})

/** An order for 0.2 lots of the first player, with a margin of 20 units. */
function openPosition(user: UserId, match: FixtureId): Position {
  const at = { openedAt: world.now(), closableAt: world.now() }
  return held({ id: positionId(world.newId()), userId: user, fixtureId: match, lots: lots(u(0.2)), ...at })
}
