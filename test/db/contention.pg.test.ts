import { once } from 'node:events'
import { createServer, connect as dial, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type PositionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, ROUNDS_MAX, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { MatchActor, type StopReason } from '../../actors/match/actor.ts'
import type { Trade } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { connect } from '../../db/postgres/connect.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { systemWorld } from '../../src/system-world.ts'
import { createMigrated } from '../../ops/rehearse/rig/migrated.ts'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { onPostgres } from '../support/databases.ts'
import { half, closeOrder, openOrder, P, player, snapshot, u } from '../support/fixtures.ts'
import { codeOf } from '../support/actor-rig.ts'
import { TestWorld } from '../support/test-world.ts'

const world = systemWorld()
/** These tests are not about the hold or a late feed. */
const RULES = { ...DEFAULT_RULES, holdMs: 0, feedStaleMs: HOUR_MS, feedFrozenMs: HOUR_MS }
const PLAYERS = 4
/** Answers between two faults. */
const HARM_EVERY = 20
const ATTEMPTS_MAX = 1_000
/** A limit that only a broken store exceeds. */
const PATIENCE = { timeout: 20_000, interval: 1 }

const matchId = (n: number): FixtureId => fixtureId(76_000 + n)
const snapshotOf = (n: number, seq: number) =>
  snapshot({
    fixtureId: matchId(n),
    players: Array.from({ length: PLAYERS }, (_, i) => player(10 * n + i + 1)),
    periods: half(10 * seq),
    sourceAt: world.now(),
  })

/** Stands for one process that owns matches, with its own connections, leases and actors. */
class Owner {
  readonly connection: Connection
  readonly #store: SqlMatchStore
  readonly #leases: SqlLeases

  private constructor(connection: Connection) {
    this.connection = connection
    this.#store = new SqlMatchStore(connection, new WalletCache(null, rethrow), new TestWorld())
    // It may take a match over at any time: the test is about what then stops the former owner.
    this.#leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: HOUR_MS, alone: true })
  }

  static async on(url: string): Promise<Owner> {
    return new Owner(await connect({ databaseUrl: url, dataDir: null }))
  }

  /** Takes over the nth match, or creates it. */
  async takes(n: number, onStopped: (reason: StopReason) => void = () => undefined): Promise<MatchActor> {
    const epoch = present(await this.#leases.acquire(matchId(n)), 'lease')
    const known = await this.#store.load(matchId(n))
    const actor = new MatchActor({
      record: known ?? newMatch(snapshotOf(n, 1), { replay: false }),
      epoch,
      store: this.#store,
      world,
      rules: () => RULES,
      model: () => DEFAULT_MODEL,
      pause: () => nextTurn(),
      onCommitted: () => undefined,
      onStopped,
    })
    if (known === null) await actor.feed({ kind: 'feed_update', seq: 1, snapshot: snapshotOf(n, 1) })
    return actor
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** All position events, by user and marker. */
const EVENTS = sql`(select user_id, marker from ledger_entries where marker is not null
                    union all select user_id, marker from account_events)`

const orderOf = (n: number, userId: UserId, key: string, over: Parameters<typeof openOrder>[0] = {}) =>
  openOrder({
    userId,
    instrumentId: P(10 * n + 1),
    lots: lots(u(0.1)),
    idempotency: { id: commandId(userId, 'open', key), fingerprint: key },
    ...over,
  })

onPostgres((server) => {
  let database: Awaited<ReturnType<typeof createMigrated>>
  let owners: Owner[] = []
  let users: UserId[] = []

  beforeEach(async () => {
    database = await createMigrated(server)
    const { connection } = await newOwner()
    await seedDistricts(connection.db)
    const names = Array.from({ length: 100 }, (_, n) => `Hot ${n + 1}`)
    users = (await new Users(connection.db, world).createSyntheticMany(names)).map(({ user }) => user.id)
  })
  afterEach(async () => {
    for (const { connection } of owners) await connection.close()
    owners = []
    await database.drop()
  })

  async function newOwner(url = database.url): Promise<Owner> {
    const owner = await Owner.on(url)
    owners.push(owner)
    return owner
  }

  const db = (): Kysely<Database> => present(owners[0], 'an owner').connection.db

  /** Checks that the books balance and that every wallet follows from 10,000 and its owner's positions. */
  async function expectExactBooks(): Promise<void> {
    const nothingCached = new WalletCache(null, rethrow)
    expect(await new Wallets(db(), nothingCached).auditLedger()).toEqual({
      wallets: 2 * users.length,
      imbalanceMicros: 0,
      purses: [
        ...PURSES.map((purse) => ({ purse, wallets: users.length, imbalanceMicros: 0 })),
        { purse: 'leagues', wallets: 0, imbalanceMicros: 0 },
      ],
      unbalancedTransactions: 0,
      mismatchedWallets: 0,
    })
    const { rows } = await sql`
      select w.user_id from wallets w left join positions p using (user_id, purse) group by w.user_id, w.purse
      having w.balance_micros <> ${STARTING_BALANCE}::bigint + coalesce(sum(p.pnl_micros), 0)
                                 - coalesce(sum(p.margin_micros) filter (where p.closed_at is null), 0)
          or w.margin_micros <> coalesce(sum(p.margin_micros) filter (where p.closed_at is null), 0)
          or w.open_positions <> count(p.id) filter (where p.closed_at is null)
          or w.balance_micros < 0
          or w.purse = 'main'
             and (w.events <> (select count(*) from ${EVENTS} e where e.user_id = w.user_id)
                  or w.events <> coalesce((select max(marker) from ${EVENTS} e where e.user_id = w.user_id), 0))`.execute(
      db(),
    )
    expect(rows).toEqual([])
    const { rows: off } = await sql`
      select i.id from instruments i left join positions p on p.instrument_id = i.id and p.closed_at is null
      group by i.id having i.imbalance_micros <> coalesce(sum(p.sign * p.lots_micros), 0)`.execute(db())
    expect(off).toEqual([])
  }

  it('[A13] the one who can pay among many who each get too poor by the removal of the one before', async () => {
    const owner = present(owners[0], 'an owner')
    const actor = await owner.takes(1)
    const [rich, ...poor] = users
    // A short lowers the price: the first fills highest, for a little more than the wallet holds.
    const order = (userId: UserId) => orderOf(1, userId, 'short', { direction: 'short', lots: lots(u(1)) })
    const first = actor.quote({ ...order(present(rich, 'user')), means: {} })
    const balance = (first.ok ? first.value.margin : 0) - 1
    await db().updateTable('wallets').set({ balance_micros: balance }).where('user_id', 'in', poor).execute()
    const call = vi.spyOn(owner.connection, 'call')
    const outcomes = await Promise.all([...poor, present(rich, 'user')].map((user) => actor.submit(order(user))))
    expect(outcomes.map(codeOf)).toEqual([...poor.map(() => 'insufficient_margin'), 'ok'])
    expect(call.mock.calls.length).toBeLessThanOrEqual(ROUNDS_MAX)
  })

  it.each(['one owner', 'eight owners'])('[D4] 100 users in eight matches of %s at once: exact', async (owned) => {
    const only = await newOwner()
    const matches = await Promise.all(
      Array.from({ length: 8 }, async (_, n) =>
        (owned === 'one owner' ? only : await newOwner()).takes(n + 1, (reason) => stops.push(reason)),
      ),
    )
    const stops: StopReason[] = []
    const acked = { opened: 0, closed: 0 }
    const refusals = new Set<string>()
    // Every user trades in several matches at the same time, one command at a time in each.
    const hand = async (userId: UserId, n: number, seed: number): Promise<void> => {
      const actor = present(matches[n - 1], 'match')
      const chance = chanceFrom(seed)
      const held: PositionId[] = []
      for (let turn = 0; turn < 10; turn++) {
        const closing =
          held.length > 0 && chance.happens(0.45) ? held.splice(chance.below(held.length), 1)[0] : undefined
        const outcome: Outcome<Trade> = await actor.submit(
          closing === undefined
            ? orderOf(n, userId, `${n} ${turn}`, {
                instrumentId: P(10 * n + 1 + chance.below(PLAYERS)),
                direction: chance.happens(0.5) ? 'long' : 'short',
                lots: lots(u((1 + chance.below(40)) / 10)),
              })
            : closeOrder(closing, {
                userId,
                idempotency: { id: commandId(userId, 'close', `${n} ${turn}`), fingerprint: closing },
              }),
        )
        if (!outcome.ok) refusals.add(outcome.refusal.code)
        else if (closing === undefined) held.push(outcome.value.position.id)
        if (outcome.ok) acked[closing === undefined ? 'opened' : 'closed']++
      }
    }
    const hands = users.flatMap((userId, i) => matches.map((_, n) => hand(userId, n + 1, 1_000 * i + n)))
    const clocks = matches.map(async (actor, n) => {
      for (let seq = 2; seq < 8; seq++) await actor.feed({ kind: 'feed_update', seq, snapshot: snapshotOf(n + 1, seq) })
    })
    await Promise.all([...hands, ...clocks])
    await Promise.all(matches.map((actor) => actor.stop()))

    expect(stops).toEqual([])
    expect([...refusals.difference(new Set(['insufficient_margin', 'position_limit', 'busy']))]).toEqual([])
    const counts = await sql<{ opened: number; closed: number; results: number; deadlocks: number }>`
        select (select count(*) from positions) as opened, (select count(*) from positions where closed_by = 'user') as closed,
               (select count(*) from command_results where result not like '{"refusal"%')
                 + (select count(answer_fingerprint) from positions) as results,
               (select deadlocks from pg_stat_database where datname = current_database()) as deadlocks`.execute(db())
    expect(counts.rows).toEqual([{ ...acked, results: acked.opened + acked.closed, deadlocks: 0 }])
    expect(acked.opened + acked.closed).toBeGreaterThan(3_000)
    // Each match has numbered the rows of its outbox and the lines of its tape without a gap.
    const gaps = await sql`
      select match_id from outbox group by match_id having max(seq) <> count(*)
      union all
      select match_id from tape group by match_id having max(last_n) <> sum(last_n - first_n + 1)`.execute(db())
    expect(gaps.rows).toEqual([])
    await expectExactBooks()
  })

  it('[D12] a wallet that is missing, full or changed by hand stops nobody: everybody else is paid, the match settles', async () => {
    const owner = await newOwner()
    const stops: StopReason[] = []
    const actor = await owner.takes(1, (reason) => stops.push(reason))
    const [missing, full, wrong, gone, poor, large, unknown, mended, ...others] = users
    const order = (userId: UserId, n: number, lotSize: number) =>
      actor.submit(orderOf(1, userId, `order ${n}`, { instrumentId: P(11 + (n % PLAYERS)), lots: lots(u(lotSize)) }))
    expect(new Set((await Promise.all(users.map((user, n) => order(user, n, 1)))).map(codeOf))).toEqual(new Set(['ok']))

    const filled = 1_000_000_000_000_000
    await sql`
      with found as (select user_id, balance_micros from wallets where user_id = ${full} and purse = 'main'),
      booked as (
        insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
          select user_id, account, case account when 'user' then user_id end, 'main',
                 case account when 'user' then 1 else -1 end * (${filled}::bigint - balance_micros), 'external_adjustment',
                 user_id, now()
            from found, unnest(array['user', 'house']) account
      )
      update wallets set balance_micros = ${filled}::bigint where user_id = ${full} and purse = 'main'`.execute(db())
    await sql`update wallets set margin_micros = 0, open_positions = 0 where user_id = ${wrong}`.execute(db())
    await sql`delete from wallets where purse = 'main' and user_id = any(${[missing, gone, poor]})`.execute(db())

    // A refusal that is stored, an order that nobody pays, and the orders of all others, in one batch.
    const answers = await Promise.all([
      order(present(gone, 'user'), 1_000, 999_999),
      order(present(poor, 'user'), 1_001, 1),
      ...others.map((user, n) => order(user, 2_000 + n, 1)),
    ])
    expect(answers.map(codeOf)).toEqual(['lot_size_invalid', 'insufficient_margin', ...others.map(() => 'ok')])

    // Rows that no trade can have written do not keep the next owner from starting.
    await sql`update positions set lots_micros = 9e18 where user_id = ${large}`.execute(db())
    await sql`update positions set instrument_id = gen_random_uuid() where user_id = ${unknown}`.execute(db())
    await sql`update positions set lots_micros = 9e18 where user_id = ${mended}`.execute(db())
    await actor.stop()
    const blind = await (await newOwner()).takes(1, (reason) => stops.push(reason))
    await blind.stop()
    // As the runbook says: corrected before the settlement, which pays it; nothing else may.
    await sql`update positions set lots_micros = ${u(1)}::bigint where user_id = ${mended}`.execute(db())
    const corrected = await sql`delete from unpaid_closes where user_id = ${mended} returning 1`.execute(db())
    expect(corrected.rows).toHaveLength(1)
    const next = await (await newOwner()).takes(1, (reason) => stops.push(reason))
    await next.end('full_time')
    await vi.waitUntil(() => next.view.info.settledAt !== null || stops.length > 0, PATIENCE)
    expect(stops).toEqual([])
    const { rows } = await sql<{
      id: UserId
      owed: number
      balance: number
      pnl: number
      margin: number
      open: number
    }>`
      select w.user_id as id, w.balance_micros as balance, w.margin_micros as margin, w.open_positions as open,
             (select sum(p.pnl_micros)::bigint from positions p where p.user_id = w.user_id) as pnl,
             coalesce((select sum(x.amount_micros)::bigint from unpaid_closes x where x.user_id = w.user_id), 0) as owed
        from wallets w where purse = 'main'`.execute(db())
    expect(rows).toHaveLength(users.length)
    for (const { id, balance, pnl, margin, open, owed } of rows) {
      if (id === large || id === unknown) {
        expect([open, owed > 0, balance + margin], id).toEqual([1, true, STARTING_BALANCE])
        continue
      }
      expect([margin, open], id).toEqual([0, 0])
      if (id === full) expect([balance, owed > 0]).toEqual([filled, true])
      else expect([balance, owed], id).toEqual([STARTING_BALANCE + pnl, 0])
    }
    const books = await new Wallets(db(), new WalletCache(null, rethrow)).auditLedger()
    expect(books).toMatchObject({ unbalancedTransactions: 0, mismatchedWallets: 0 })
    expect(books.purses.map(({ imbalanceMicros }) => imbalanceMicros)).toEqual([0, 0, 0])
    const restored = await sql`select subject from audit_log where action = 'wallet.restored'`.execute(db())
    expect(restored.rows.length).toBeGreaterThanOrEqual(3)
  })

  it('[X10] matches whose commits wait for a lock do not delay other matches', async () => {
    const one = await newOwner()
    const matches = await Promise.all(Array.from({ length: 9 }, (_, n) => one.takes(n + 1)))
    const orders = (from: number, to: number, key: string) =>
      matches.slice(from, to).map((actor, n) => {
        return actor.submit(orderOf(from + n + 1, present(users[from + n], 'user'), key))
      })
    const { connection } = await newOwner()
    const stuck = await connection.db.transaction().execute(async (tx) => {
      await sql`select from wallets where user_id = any (${users.slice(0, 5)}) for update`.execute(tx)
      const waiting = Promise.all(orders(0, 5, 'stuck'))
      for (const round of [1, 2, 3]) {
        const outcomes = await Promise.all(orders(5, 9, `free ${round}`))
        expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'ok', 'ok'])
      }
      expect(await Promise.race([waiting, nextTurn('still waiting')])).toBe('still waiting')
      return { waiting }
    })
    expect((await stuck.waiting).map(codeOf)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok'])
    await expectExactBooks()
  })

  it('[A4] a former owner writes no further row, even if it was overtaken in the middle of its work', async () => {
    const [old, next] = [await newOwner(), await newOwner()]
    for (let round = 0; round < 10; round++) {
      let stopped: StopReason | null = null
      const former = await old.takes(1, (reason) => (stopped = reason))
      const [hers, his] = [users.slice(0, 50), users.slice(50)]
      let isOvertaken = false
      let late = 0
      const loads = hers.map(async (userId) => {
        for (let n = 0; !isOvertaken || n < 3; n++) {
          const sentAfter = isOvertaken
          const done = await former.submit(orderOf(1, userId, `${round} old ${n}`)).then(
            (outcome) => outcome.ok,
            () => false,
          )
          if (done && sentAfter) late++
          if (n > 200) return
        }
      })
      await nextTurn()
      const actor = await next.takes(1)
      // The record contains all the former owner has committed; nothing it decides from here on may count.
      const before = await rowsOf(hers)
      isOvertaken = true
      const now = await Promise.all(his.map((userId) => actor.submit(orderOf(1, userId, `${round} new`))))
      expect(now.map(codeOf)).toEqual(his.map(() => 'ok'))
      await Promise.all(loads)
      await former.clock().catch(() => undefined)
      expect(await rowsOf(hers)).toEqual(before)
      expect(late).toBe(0)
      expect(stopped).toBe('fenced')
      await actor.stop()
    }
    await expectExactBooks()
  })

  async function rowsOf(some: readonly UserId[]) {
    const { rows } = await sql`
      select (select count(*) from positions where user_id = any (${some})) as positions,
             (select count(*) from ledger_entries where user_id = any (${some})) as entries,
             (select count(*) from command_results where user_id = any (${some})) as results,
             (select count(*) from ${EVENTS} e where user_id = any (${some})) as events,
             (select sum(version) from wallets where user_id = any (${some})) as versions`.execute(db())
    return rows
  }

  /** Retries until an answer arrives, as a client does, through the current actor; counts lost answers. */
  async function untilAnswered(ask: () => Promise<Outcome<Trade>>, recover: () => Promise<void>) {
    for (let lost = 0; ; lost++) {
      const outcome = await ask().catch(() => null)
      if (outcome?.ok === true) return { trade: outcome.value, lost }
      if (outcome !== null && outcome.refusal.code !== 'busy') throw new Error(JSON.stringify(outcome.refusal))
      if (lost > ATTEMPTS_MAX) throw new Error('asked in vain')
      await recover()
    }
  }

  /** Many users trade, each with one key at a time, with a fault every few answers; each key must make one trade. */
  async function tradesThroughHarm(url: string, harm: (isOver: () => boolean) => Promise<void>) {
    const owner = await newOwner(url)
    let isStopped = false
    const takes = () => owner.takes(1, () => (isStopped = true))
    let actor = await takes()
    let recovering: Promise<void> | null = null
    const recover = async (): Promise<void> => {
      while (isStopped) {
        isStopped = false
        // Not available while connections break.
        actor = await takes().catch(() => ((isStopped = true), actor))
      }
    }
    const recovered = (): Promise<void> => (recovering ??= recover().finally(() => (recovering = null)))

    const keys: { readonly userId: UserId; readonly key: string; readonly id: PositionId }[] = []
    let [isOver, lost, repeated] = [false, 0, 0]
    const harming = (async () => {
      for (let next = HARM_EVERY; !isOver; next += HARM_EVERY) {
        await vi.waitUntil(() => isOver || keys.length >= next, PATIENCE)
        await harm(() => isOver)
      }
    })()
    const trading = users.slice(0, 20).map(async (userId) => {
      for (let n = 0; n < 60; n++) {
        const key = `trade ${n}`
        const answer = await untilAnswered(() => actor.submit(orderOf(1, userId, key)), recovered)
        keys.push({ userId, key, id: answer.trade.position.id })
        lost += answer.lost
        if (answer.lost > 0 && answer.trade.repeated) repeated++
      }
    })
    await Promise.all(trading)
    isOver = true
    await harming
    for (const { userId, key, id } of keys) {
      const again = await untilAnswered(() => actor.submit(orderOf(1, userId, key)), recovered)
      expect(again.trade).toMatchObject({ repeated: true, position: { id } })
    }
    await actor.stop()
    const stored = await db().selectFrom('positions').select('id').execute()
    expect(stored.map(({ id }) => id).toSorted()).toEqual(keys.map(({ id }) => id).toSorted())
    await expectExactBooks()
    return { lost, repeated }
  }

  it('[X9] connections cut during a commit lose no trade and repeat none', async () => {
    const { lost } = await tradesThroughHarm(database.url, async (isOver) => {
      for (let cut = 0; cut === 0 && !isOver();) {
        const { rows } = await sql`
          select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and query like '%commit_batch%'
             and state = 'active'`.execute(db())
        cut = rows.length
      }
    })
    expect(lost).toBeGreaterThan(0)
  })

  it('[X9] a commit whose answer is lost has happened, and its retry repeats the answer', async () => {
    const relay = await DeafRelay.to(database.url)
    onTestFinished(() => relay.close())
    const { repeated } = await tradesThroughHarm(relay.url, async () => relay.deafen())
    expect(repeated).toBeGreaterThan(0)
  })
})

/** A proxy between client and database that can cut the connection at the next answer to a commit. */
class DeafRelay {
  readonly url: string
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets = new Set<Socket>()
  #isDeaf = false

  private constructor(url: string, server: ReturnType<typeof createServer>) {
    this.url = url
    this.#server = server
  }

  static async to(databaseUrl: string): Promise<DeafRelay> {
    const url = new URL(databaseUrl)
    const [host, port] = [url.hostname, Number(url.port === '' ? 5432 : url.port)]
    const server = createServer((client) => relay.#carry(client, dial({ host, port })))
    url.hostname = '127.0.0.1'
    url.port = String(await listen(server, 0))
    const relay = new DeafRelay(url.href, server)
    return relay
  }

  /** The next answer to a commit will not arrive. */
  deafen(): void {
    this.#isDeaf = true
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #carry(client: Socket, database: Socket): void {
    let isCommit = false
    for (const socket of [client, database]) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        client.destroy()
        database.destroy()
        this.#sockets.delete(socket)
      })
    }
    client.on('data', (data) => {
      isCommit ||= data.includes('commit_batch')
      database.write(data)
    })
    database.on('data', (data) => {
      if (isCommit && this.#isDeaf) {
        this.#isDeaf = false
        client.destroy()
        return
      }
      client.write(data)
    })
  }
}
