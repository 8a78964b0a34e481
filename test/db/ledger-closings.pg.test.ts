/** Closed stretches of the ledger: the audit by their sums finds what the audit of every entry finds. */
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { LedgerClosings } from '../../db/ledger-closings.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { BALANCED } from '../support/books.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const NAMES = Array.from({ length: 12 }, (_, n) => `User ${n}`)
const MINUTES = 200

eachDatabase((open) => {
  beforeEach(async () => {
    const { db } = open()
    await sql`truncate users, wallets, ledger_entries, closed_balances cascade`.execute(db)
    await sql`update ledger_closed set until = '-infinity', entries = 0, unbalanced = 0, main_micros = 0,
                practice_micros = 0, leagues_micros = 0`.execute(db)
    await seedDistricts(db)
  })
  const closings = () => new LedgerClosings(open().db)
  const audits = async () => {
    const wallets = new Wallets(open().db, new WalletCache(null, () => undefined))
    return [await wallets.auditLedger(), await wallets.auditLedger({ whole: true })] as const
  }
  /** A grant for everybody, and then a transaction a minute until now, each of the house with one user. */
  async function played(): Promise<readonly string[]> {
    const { db } = open()
    const made = await new Users(db, new TestWorld(), []).createSyntheticMany(NAMES)
    const users = made.map(({ user }) => user.id)
    await sql`update ledger_entries set at = now() - ${MINUTES + 5}::integer * interval '1 minute'`.execute(db)
    for (const [n, ago] of Array.from({ length: MINUTES }, (_, at) => [at, MINUTES - at] as const)) {
      const user = users[n % users.length] ?? ''
      const amount = ((n * 7_919) % 2_001) - 1_000
      await sql`
        with entries as (
          insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
          select t.tx, e.account, e.user_id, 'main', e.amount, 'referral', t.tx, now() - ${ago}::integer * interval '1 minute'
            from (select gen_random_uuid() as tx) t,
                 (values ('user', ${user}::uuid, ${amount}::bigint), ('house', null, -${amount}::bigint))
                   e (account, user_id, amount)
        )
        update wallets set balance_micros = balance_micros + ${amount}::bigint
         where user_id = ${user}::uuid and purse = 'main'`.execute(db)
    }
    return users
  }
  const closed = async () =>
    (await sql<{ entries: number }>`select entries from ledger_closed`.execute(open().db)).rows[0]

  it('what is older than an hour is closed once, in stretches, and both audits agree after each of them', async () => {
    await played()
    const sizes: number[] = []
    for (;;) {
      const [byClosings, whole] = await audits()
      expect(byClosings).toMatchObject({ wallets: 2 * NAMES.length, ...BALANCED })
      expect(byClosings).toEqual(whole)
      const entries = await closings().closeNext()
      if (entries === null) break
      sizes.push(entries)
    }
    // The grants, and what is older than an hour; never all at once.
    const all = 4 * NAMES.length + 2 * (MINUTES - 60)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(all - 10)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(all + 4)
    expect(Math.max(...sizes.slice(1))).toBeLessThanOrEqual(12)
    expect((await closed())?.entries).toBe(sizes.reduce((sum, size) => sum + size, 0))
  })

  it('several processes that close at once close each entry once', async () => {
    await played()
    const counts = await Promise.all(Array.from({ length: 4 }, () => closings().closeAll(100)))
    await closings().closeAll(100)
    expect((await closed())?.entries).toBeGreaterThanOrEqual(counts.reduce((sum, count) => sum + count, 0))
    const [byClosings, whole] = await audits()
    expect(byClosings).toMatchObject(BALANCED)
    expect(whole).toMatchObject(BALANCED)
  })

  it('both find a changed wallet and a new entry that is wrong; the whole one an old entry, too', async () => {
    const { db } = open()
    const [ada, bob, cid] = await played()
    await closings().closeAll(100)
    await sql`update wallets set balance_micros = balance_micros + 1 where user_id = ${ada}::uuid and purse = 'practice'`.execute(
      db,
    )
    let [byClosings, whole] = await audits()
    expect([byClosings.mismatchedWallets, whole.mismatchedWallets]).toEqual([1, 1])

    await sql`update ledger_entries set amount_micros = amount_micros + 3
               where user_id = ${bob}::uuid and at = (select max(at) from ledger_entries where user_id = ${bob}::uuid)`.execute(
      db,
    )
    ;[byClosings, whole] = await audits()
    for (const found of [byClosings, whole]) {
      expect(found).toMatchObject({ imbalanceMicros: 3, unbalancedTransactions: 1, mismatchedWallets: 2 })
    }

    await sql`update ledger_entries set amount_micros = amount_micros - 2
               where user_id = ${cid}::uuid and purse = 'main' and kind = 'grant'`.execute(db)
    ;[byClosings, whole] = await audits()
    expect(byClosings).toMatchObject({ imbalanceMicros: 3, unbalancedTransactions: 1, mismatchedWallets: 2 })
    // The wallet, and the closed sum.
    expect(whole).toMatchObject({ imbalanceMicros: 1, unbalancedTransactions: 2, mismatchedWallets: 4 })
  })

  it('a transaction that did not add up when it was closed is told for ever', async () => {
    const { db } = open()
    const [ada] = await played()
    await sql`update ledger_entries set amount_micros = amount_micros + 3
               where user_id = ${ada}::uuid and at = (select min(at) from ledger_entries where kind = 'referral')`.execute(
      db,
    )
    await closings().closeAll(100)
    const [byClosings, whole] = await audits()
    expect(byClosings).toMatchObject({ imbalanceMicros: 3, unbalancedTransactions: 1, mismatchedWallets: 1 })
    expect(byClosings).toEqual(whole)
  })
})
