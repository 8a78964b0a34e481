import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, playerId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { HOUR_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import { newMatch } from '../../actors/match/state.ts'
import { connect, type Connection } from '../../db/postgres/connect.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { createDatabase, onPostgres } from '../support/databases.ts'
import { GOAL, openOrder, P, player, snapshot, u } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

const MATCH = fixtureId(78_001)
const RULES = { ...DEFAULT_RULES, holdMs: 0, feedStaleMs: HOUR_MS }
const GOALS = 52

onPostgres((server) => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let connection: Connection
  let world: TestWorld
  let seq = 0

  beforeEach(async () => {
    database = await createDatabase(server)
    connection = await connect({ databaseUrl: database.url, dataDir: null })
    await migrate(connection.db)
    await seedDistricts(connection.db)
    world = new TestWorld()
    seq = 0
  })
  afterEach(async () => {
    await connection.close()
    await database.drop()
  })

  const cache = (): WalletCache =>
    new WalletCache(null, (error) => {
      throw error
    })

  /** What the provider shows next. The scorer's statistics come with `goals`. */
  function next(goals: number, over: Partial<FixtureSnapshot> = {}): FixtureSnapshot {
    const scorer = player(1, { role: 'FWD', details: { [GOALS]: goals } })
    return snapshot({
      fixtureId: MATCH,
      players: [scorer, player(2), player(3, { details: {} })],
      periods: [
        { id: 1, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs: 10 * seq, ticking: true },
      ],
      sourceAt: world.now(),
      ...over,
    })
  }

  /** A process that takes the match over, whatever became of the one before. */
  async function takesOver(): Promise<MatchActor> {
    const store = new SqlMatchStore(connection, cache(), new TestWorld())
    const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: HOUR_MS, alone: true })
    const epoch = present(await leases.acquire(MATCH), 'lease')
    const record = (await store.load(MATCH)) ?? newMatch(next(0), { replay: false })
    return new MatchActor({
      record,
      epoch,
      store,
      world,
      rules: () => RULES,
      model: () => DEFAULT_MODEL,
      pause: () => nextTurn(),
      onCommitted: () => undefined,
      onStopped: () => undefined,
    })
  }

  async function hears(actor: MatchActor, goals: number, over: Partial<FixtureSnapshot> = {}): Promise<void> {
    world.pass(10 * SECOND_MS)
    seq += 1
    await actor.feed({ kind: 'feed_update', seq, snapshot: next(goals, over) })
  }

  interface Books {
    readonly closed: number
    readonly awaited: number
    readonly corrected: number
    readonly entries: number
    readonly booked: number
  }

  async function books(): Promise<Books> {
    const { rows } = await sql<Books>`
      select (select count(*)::integer from positions where closed_at is not null) as closed,
             (select count(*)::integer from positions where late ->> 'awaited' = 'true') as awaited,
             (select count(*)::integer from positions where json_array_length((late -> 'corrections')::json) > 0) as corrected,
             (select count(*)::integer from ledger_entries where kind = 'late_close' and account = 'user') as entries,
             (select coalesce(sum(amount_micros), 0)::bigint from ledger_entries
               where kind = 'late_close' and account = 'user') as booked`.execute(connection.db)
    const audit = await new Wallets(connection.db, cache()).auditLedger()
    expect(audit).toMatchObject({ imbalanceMicros: 0, unbalancedTransactions: 0, mismatchedWallets: 0 })
    return present(rows[0], 'counts')
  }

  /** Each user opens `each` positions on the scorer, and leaves with all of them before the goal is shown. */
  async function leaveEarly(actor: MatchActor, users: readonly UserId[], each: number): Promise<void> {
    const clientPrice = () => {
      actor.takeUnpublished()
      return present(actor.view.instrument(P(1)), 'scorer').published
    }
    for (let n = 0; n < each; n += 1) {
      const order = { instrumentId: P(1), direction: 'short', lots: lots(u(2 / each)) } as const
      const price = clientPrice()
      const all = users.map((userId) => actor.submit(openOrder({ ...order, userId, clientPrice: price })))
      expect((await Promise.all(all)).filter(({ ok }) => !ok)).toEqual([])
    }
    for (let n = 0; n < 30; n += 1) await hears(actor, 0)
    for (let n = 0; n < each; n += 1) {
      const all = users.map((userId) => {
        const [position] = actor.view.positionsOf(userId)
        const positionId = present(position, 'position').id
        return actor.submit({ kind: 'close_position', userId, positionId, idempotency: null })
      })
      expect((await Promise.all(all)).filter(({ ok }) => !ok)).toEqual([])
    }
  }

  it.each([
    { users: 10, each: 2, what: 'a few' },
    { users: 100, each: 100, what: 'ten thousand' },
  ])(
    '[T39] [T40] $what late closes are corrected once, whoever owns the match when the news is in the price',
    { timeout: 240_000 },
    async ({ users: count, each }) => {
      const names = Array.from({ length: count }, (_, n) => `Early ${n + 1}`)
      const users = (await new Users(connection.db, world).createSyntheticMany(names)).map(({ user }) => user.id)
      const first = await takesOver()
      await hears(first, 0)
      await leaveEarly(first, users, each)
      const minute = Math.floor((10 * (seq + 1)) / 60) + 1
      const shown = {
        home: { id: 1, name: 'Harbour', goals: 1 },
        events: [{ ...GOAL, minute, playerId: playerId(1) }],
      }
      await hears(first, 0, shown)
      expect(await books()).toMatchObject({ closed: count * each, awaited: count * each, corrected: 0, booked: 0 })

      // The owner is gone between the news and its end.
      const second = await takesOver()
      const [user] = users
      const open = (actor: MatchActor, size: number) =>
        actor.submit(
          openOrder({
            userId: present(user, 'user'),
            instrumentId: P(3),
            lots: lots(u(size)),
            clientPrice: present(actor.view.instrument(P(3)), 'other').published,
          }),
        )
      second.takeUnpublished()
      // All but what was never staked is locked: the balance would pay, what is free does not.
      expect(await open(second, 99.9)).toMatchObject({ ok: false, refusal: { code: 'insufficient_margin' } })
      const before = await books()
      await hears(second, 1, shown)
      await hears(second, 1, shown)
      expect(second.view.instrument(P(1))?.news).toBeNull()
      const after = await books()
      expect(before.corrected).toBe(0)
      expect(after).toMatchObject({ awaited: 0, corrected: count * each, entries: count * each })
      expect(after.booked).toBeLessThan(0)

      const third = await takesOver()
      for (let n = 0; n < 3; n += 1) await hears(third, 1, shown)
      expect(await books()).toEqual(after)
      const { rows } = await sql<{ balance: number; pnl: number }>`
        select w.balance_micros as balance, sum(p.pnl_micros)::bigint as pnl
          from wallets w join positions p using (user_id, purse) group by w.user_id, w.purse`.execute(connection.db)
      expect(rows).toHaveLength(count)
      for (const { balance, pnl } of rows) expect(balance).toBe(STARTING_BALANCE + pnl)
    },
  )
})
