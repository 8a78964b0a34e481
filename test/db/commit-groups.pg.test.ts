import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, instrumentId, positionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import type { Batch, Holding, KeyedCommand, Verdict } from '../../actors/match/store.ts'
import type { Position } from '../../actors/position/position.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { texts } from '../../db/postgres/arrays.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { seedDistricts } from '../../db/seed.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { closed, held, info, instrument, KICK_OFF, opened, p, u } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

const world = systemWorld()
const MATCHES = 6
let fixtures = 86_000_000

/** What a test asks of each match, with a user of its own who has 1,000. */
type Plan = (match: Match, n: number) => Partial<Batch> & { readonly events: readonly MatchEvent[] }

interface Match {
  readonly matchId: FixtureId
  readonly user: UserId
  readonly listed: ReturnType<typeof instrument>
  position(this: void, over?: Partial<Position>): Position
  commit(this: void, batch: Partial<Batch> & { readonly events: readonly MatchEvent[] }): Promise<Verdict>
}

eachDatabase((open) => {
  let timeline = ''
  beforeAll(async () => {
    await seedDistricts(open().db)
    timeline = await timelineOf(open().db)
  })

  /** Live matches of one process, whose commits can be held back until all of them wait. */
  async function stage() {
    const connection = open()
    const calls: number[] = []
    let [gate, release, expected] = [Promise.resolve(), (): void => undefined, 0]
    const gated: Pick<Connection, 'db' | 'arrays' | 'call' | 'callsTogether'> = {
      db: connection.db,
      arrays: connection.arrays,
      callsTogether: connection.callsTogether,
      call: async (next) => {
        if (--expected === 0) release()
        await gate
        return connection.call(() => {
          const call = next()
          if (call !== null) calls.push(batchesIn(call.args['b_id']))
          return call
        })
      },
    }
    const fast = new FastMemory(world)
    const cache = new WalletCache(fast, (error) => {
      throw error
    })
    cache.timeline = timeline
    const store = new SqlMatchStore(gated, cache, new TestWorld())
    const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 60_000, alone: true })
    const matches = await Promise.all(
      Array.from({ length: MATCHES }, async (_, n): Promise<Match> => {
        const at = instant(KICK_OFF + n)
        const matchId = fixtureId(++fixtures)
        const epoch = present(await leases.acquire(matchId), 'lease')
        const listed = instrument(1, { impactCapPpm: 0, id: instrumentId(world.newId()) })
        const user = await newUser(connection)
        const match = info({ matchId })
        const commit: Match['commit'] = (batch) =>
          store.commit({
            id: world.newId(),
            matchId,
            epoch,
            at,
            instruments: [{ instrument: listed, price: quoteOf(listed).price }],
            ticks: [],
            keyed: [],
            watch: [watching(user)],
            openPositionsMax: DEFAULT_RULES.openPositionsMax,
            ...batch,
          })
        const position: Match['position'] = (over) =>
          held({
            id: positionId(world.newId()),
            userId: user,
            instrumentId: listed.id,
            fixtureId: matchId,
            openedAt: at,
            ...over,
          })
        await commit({
          events: [
            { kind: 'match_updated', info: match, pricing: EMPTY_PRICING },
            { kind: 'instrument_listed', instrument: listed },
          ],
        })
        return { matchId, user, listed, position, commit }
      }),
    )
    return {
      connection,
      fast,
      leases,
      matches,
      calls,
      /** Each match commits what the plan says: those of the first list together, or one after another. */
      commits: async (plan: Plan, together = true): Promise<readonly Verdict[]> => {
        calls.length = 0
        if (!together) {
          const verdicts: Verdict[] = []
          for (const [n, match] of matches.entries()) verdicts.push(await match.commit(plan(match, n)))
          return verdicts
        }
        gate = new Promise((resolve) => (release = resolve))
        expected = matches.length
        const all = matches.map((match, n) => match.commit(plan(match, n)))
        await Promise.allSettled(all)
        return Promise.all(all)
      },
      audit: async () => {
        const { unbalancedTransactions, mismatchedWallets, imbalanceMicros } = await new Wallets(
          connection.db,
          cache,
        ).auditLedger()
        return { unbalancedTransactions, mismatchedWallets, imbalanceMicros }
      },
    }
  }
  const EXACT = { unbalancedTransactions: 0, mismatchedWallets: 0, imbalanceMicros: 0 }

  const kinds = (verdicts: readonly Verdict[]): readonly string[] => verdicts.map(({ kind }) => kind)
  const others = (kind: string, at: number): readonly string[] =>
    Array.from({ length: MATCHES }, (_, n) => (n === at ? kind : 'committed'))

  describe('[D4] batches of matches that wait at the same time', () => {
    it('are one call, and leave the rows that each would have left alone', async () => {
      const rows: string[] = []
      for (const together of [false, true]) {
        const { matches, commits, connection, calls, audit } = await stage()
        const before = matches.map(({ position }) => position())
        const plans: readonly Plan[] = [
          ({ position, user }, n) => {
            const keyed = under(user, 'first', position())
            return { events: [opened(present(before[n], 'held')), opened(keyed.position)], keyed: [keyed.command] }
          },
          ({ position, user, listed }, n) => ({
            events: [
              { kind: 'levels_changed', position: { ...present(before[n], 'held'), stopLoss: p(150) } },
              closed(present(before[n], 'held'), 210 + n),
              opened(position({ purse: 'practice' })),
            ],
            ticks: [tickOf(listed)],
            watch: [watching(user, 1)],
          }),
        ]
        for (const plan of plans) {
          expect(kinds(await commits(plan, together))).toEqual(others('', -1))
          expect(calls).toEqual(together ? [MATCHES] : Array.from({ length: MATCHES }, () => 1))
        }
        expect(await audit()).toEqual(EXACT)
        rows.push(await rowsOf(connection, matches))
      }
      expect(rows[1]).toBe(rows[0])
    })

    it('fail one by one: who cannot pay, and a lost match, stop no other', async () => {
      const { matches, commits, leases, audit } = await stage()
      const dear: Plan = ({ position }, n) => ({
        events: [opened(position(n === 2 ? { margin: money(u(1_001)) } : {}))],
      })
      const verdicts = await commits(dear)
      expect(kinds(verdicts)).toEqual(others('rejected', 2))
      expect(verdicts[2]).toMatchObject({ failures: [{ kind: 'insufficient_margin', available: u(1_000) }] })
      await leases.acquire(present(matches[4], 'match').matchId)
      expect(kinds(await commits(({ position }) => ({ events: [opened(position())] })))).toEqual(others('fenced', 4))
      expect(await audit()).toEqual(EXACT)
    })

    it('fail one by one: one that breaks a rule of the database throws alone', async () => {
      const { matches, commits, audit } = await stage()
      const all = commits(({ position }, n) =>
        n === 1
          ? { events: [{ kind: 'levels_changed', position: position({ stopLoss: p(150) }) }] }
          : { events: [opened(position())] },
      )
      await expect(all).rejects.toThrow('changed positions are open')
      const verdicts = await commits(({ position }) => ({ events: [opened(position())] }))
      expect(kinds(verdicts)).toEqual(others('', -1))
      expect(verdicts.map(balanceOf)).toEqual(
        matches.map((_, n) => (n === 1 ? u(1_000) : u(1_000) - marginOf(matches)) - marginOf(matches)),
      )
      expect(await audit()).toEqual(EXACT)
    })

    it('a used key answers for its own command alone', async () => {
      const { matches, commits } = await stage()
      const first = matches.map(({ user, position }) => under(user, 'k', position()))
      const again: Plan = (_, n) => {
        const { position, command } = present(first[n], 'command')
        return { events: [opened(position)], keyed: [command] }
      }
      expect(kinds(await commits((match, n) => (n === 3 ? again(match, n) : { events: [] })))).toEqual(others('', -1))
      expect(kinds(await commits(again))).toEqual(others('rejected', 3))
    })

    it('a balance changed from outside is adopted, and the others are committed', async () => {
      const { matches, commits, fast, connection, audit } = await stage()
      const first: Plan = ({ position }) => ({ events: [opened(position())] })
      await commits(first)
      const rich = present(matches[5], 'match').user
      const { version } = await connection.db
        .selectFrom('wallets')
        .select('version')
        .where('user_id', '=', rich)
        .where('purse', '=', 'main')
        .executeTakeFirstOrThrow()
      await fast.del(keys.wallet(rich))
      await fast.putIfNewer(keys.wallet(rich), { balance: '5000', timeline }, version, 60_000)
      const verdicts = await commits(first)
      expect(kinds(verdicts)).toEqual(others('', -1))
      expect(balanceOf(present(verdicts[5], 'verdict'))).toBe(u(5_000) - marginOf(matches))
      expect(await audit()).toEqual(EXACT)
    })

    it('few orders go without a crowd, and crowds share what runs at the same time', async () => {
      const { commits, calls, connection, audit } = await stage()
      const crowds = await Promise.all(
        [0, 1].map(() => Promise.all(Array.from({ length: 40 }, () => newUser(connection)))),
      )
      const verdicts = await commits(({ position }, n) => {
        const users = crowds[n]
        if (users === undefined) return { events: [opened(position())] }
        return {
          events: users.map((user) => opened(position({ userId: user }))),
          watch: users.map((user) => watching(user)),
        }
      })
      expect(kinds(verdicts)).toEqual(others('', -1))
      expect(calls.toSorted((a, b) => a - b)).toEqual(connection.callsTogether === 1 ? [2, 4] : [1, 1, 4])
      expect(await audit()).toEqual(EXACT)
    })

    it('do not go together when they concern the same user', async () => {
      const { matches, commits, calls, audit } = await stage()
      const user = present(matches[0], 'match').user
      const verdicts = await commits(({ position }, n) =>
        n < 3
          ? { events: [opened(position({ userId: user }))], watch: [watching(user)] }
          : { events: [opened(position())] },
      )
      expect(kinds(verdicts)).toEqual(others('', -1))
      expect(calls).toEqual([4, 1, 1])
      expect(await audit()).toEqual(EXACT)
    })
  })
})

const batchesIn = (ids: unknown): number => (Buffer.isBuffer(ids) ? ids.readInt32BE(12) : String(ids).split(',').length)

/** An opening under a key, which is its position's id. */
function under(user: UserId, key: string, drawn: Position): { position: Position; command: KeyedCommand } {
  const id = commandId(user, 'open', key)
  const position = { ...drawn, id: positionId(id) }
  const result = { position, price: p(201), exitPrice: p(200.5) }
  return { position, command: { userId: user, purse: 'main', idempotency: { id, fingerprint: key }, result } }
}

const watching = (user: UserId, openPositions = 0): Holding => ({
  userId: user,
  purse: 'main',
  openPositions,
  unrealizedPnl: money(0),
})

const tickOf = (of: ReturnType<typeof instrument>): Batch['ticks'][number] => ({
  kind: 'price_moved',
  instrumentId: of.id,
  quote: quoteOf(of),
  previous: p(200),
  cause: 'match',
  providerEventId: 0,
  at: KICK_OFF,
})

const balanceOf = (verdict: Verdict): number | null =>
  verdict.kind === 'committed' ? ([...verdict.wallets.values()][0]?.balance ?? null) : null

const marginOf = ([match]: readonly Match[]): number => present(match, 'match').position().margin

async function newUser({ db }: Connection): Promise<UserId> {
  const id = world.newId()
  await sql`with person as (
      insert into users (id, email, name, username, first_name, district_id, referral_code, created_at)
      values (${id}, ${id}, ${id}, ${id}, ${id}, 1, ${id}, now())
    ), paid as (
      insert into wallets (user_id, purse, balance_micros)
        select ${id}::uuid, purse, ${u(1_000)}::bigint from unnest(${texts(['main', 'practice'])}::text[]) purse)
    insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
    select ${id}::uuid, account, case account when 'user' then ${id}::uuid end, purse,
           case account when 'user' then 1 else -1 end * ${u(1_000)}::bigint, 'grant', ${id}::uuid, now()
      from unnest(${texts(['main', 'practice'])}::text[]) purse,
           unnest(${texts(['user', 'house'])}::text[]) account`.execute(db)
  return userId(id)
}

/** All rows of these matches and their users, each id replaced by the number of its first mention. */
async function rowsOf({ db }: Connection, matches: readonly Match[]): Promise<string> {
  const dumped: string[] = []
  for (const { matchId, user } of matches) {
    const { rows } = await sql<{ rows: string }>`
      select json_build_object(
        'wallets', (select json_agg(w order by w.purse) from wallets w where w.user_id = ${user}),
        'positions', (select json_agg(p order by p.opened_marker) from positions p where p.match_id = ${matchId}),
        'ledger', (select json_agg(e order by e.kind, e.marker, e.amount_micros) from ledger_entries e
                    where e.kind <> 'grant' and e.tx in
                          (select o.tx from ledger_entries o where o.user_id = ${user})),
        'events', (select json_agg(a order by a.marker) from account_events a where a.user_id = ${user}),
        'outbox', (select json_agg(o order by o.seq) from outbox o where o.match_id = ${matchId}),
        'cursors', (select json_agg(c) from outbox_cursors c where c.match_id = ${matchId}),
        'instruments', (select json_agg(i) from instruments i where i.match_id = ${matchId}),
        'ticks', (select json_agg(t order by t.at) from ticks t join instruments i on i.id = t.instrument_id
                   where i.match_id = ${matchId}),
        'trades', (select json_agg(r order by r.at, r.traded_micros) from recent_trades r
                     join instruments i on i.id = r.instrument_id where i.match_id = ${matchId}))::text as rows`.execute(
      db,
    )
    const names = new Map<string, string>()
    const text = present(rows[0], 'rows').rows.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      names.set(id, names.get(id) ?? `#${names.size}`)
      return present(names.get(id), 'name')
    })
    dumped.push(text.replaceAll(String(matchId), 'match'))
  }
  return dumped.join('\n')
}
