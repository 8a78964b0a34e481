import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { Refills } from '../../db/refills.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { seasonOn } from '../support/season.ts'
import { systemWorld } from '../../src/system-world.ts'

eachDatabase((open) => {
  const world = systemWorld()
  const season = seasonOn(open, world)
  let ahead = 0
  const clock = { ...world, now: () => instant(world.now() + ahead) }
  const refills = (cache = new WalletCache(null, () => undefined)) => new Refills(open().db, cache, clock)
  const balance = async (user: UserId) => (await season.wallets.find(user, 'practice'))?.balance

  /** A user who has lost all of a position of 100 units. */
  const loser = async () => {
    const [user, match] = [await season.player(), await season.match({ purse: 'practice' })]
    await match.close(await match.open(user), 180, 'washout')
    return user
  }

  it('[D11] a refill brings the practice wallet back to its start, booked, and leaves the main wallet alone', async () => {
    const user = await loser()
    expect(await balance(user)).toBe(STARTING_BALANCE - u(100))
    expect(await refills().practice(user)).toEqual({ kind: 'refilled', amount: u(100) })
    expect(await balance(user)).toBe(STARTING_BALANCE)
    expect((await season.wallets.find(user))?.balance).toBe(STARTING_BALANCE)
    const page = { limit: 10, offset: 0 }
    expect((await season.wallets.ledger(user, { ...page, purse: 'practice' }))[0]).toMatchObject({
      kind: 'refill',
      amount: u(100),
      positionId: null,
    })
    expect(await season.wallets.ledger(user, { ...page, purse: 'main' })).toHaveLength(1)
    expect(await season.wallets.auditLedger()).toMatchObject({
      purses: [{ imbalanceMicros: 0 }, { imbalanceMicros: 0 }, { imbalanceMicros: 0 }],
      unbalancedTransactions: 0,
      mismatchedWallets: 0,
    })
  })

  it('[D11] a repetition adds nothing, and of many at once one pays', async () => {
    const user = await loser()
    const answers = await Promise.all(Array.from({ length: 8 }, () => refills().practice(user)))
    expect(answers.filter((answer) => answer.kind === 'refilled' && answer.amount > 0)).toHaveLength(1)
    expect(await refills().practice(user)).toEqual({ kind: 'refilled', amount: 0 })
    expect(await balance(user)).toBe(STARTING_BALANCE)
  })

  it('[D11] nothing is refilled while a practice position is open, and nothing is taken from a full wallet', async () => {
    const [user, match] = [await loser(), await season.match({ purse: 'practice' })]
    const held = await match.open(user)
    expect(await refills().practice(user)).toEqual({ kind: 'positions_open', openPositions: 1 })
    await match.close(held, 300)
    expect(await refills().practice(user)).toEqual({ kind: 'refilled', amount: 0 })
    expect(await balance(user)).toBe(STARTING_BALANCE + u(400))
  })

  it('[D11] what is open in the main purse stops no refill', async () => {
    const [user, match] = [await loser(), await season.match()]
    await match.open(user)
    expect(await refills().practice(user)).toMatchObject({ kind: 'refilled', amount: u(100) })
  })

  it('[D11] a refill beside trades loses and mints nothing', async () => {
    const matches = [await season.match({ purse: 'practice' }), await season.match({ purse: 'practice' })]
    const user = await season.player()
    const trading = matches.map(async (match) => {
      for (let n = 0; n < 10; n++) await match.close(await match.open(user), 190, 'washout')
    })
    const asking = Array.from({ length: 30 }, () => refills().practice(user))
    await Promise.all([...trading, ...asking])
    await refills().practice(user)
    expect(await balance(user)).toBe(STARTING_BALANCE)
    await season.booksBalance()
  })

  const WEEK_MS = 7 * 24 * HOUR_MS
  /** A user whose main wallet has lost all but this. */
  const ruined = async (left = 50) => {
    const [user, match] = [await season.player(), await season.match()]
    await match.close(await match.open(user, { lots: (10_000 - left) / 100 }), 180, 'washout')
    return user
  }
  const main = async (user: UserId) => (await season.wallets.find(user))?.balance

  it('[D14] a ruined main wallet begins anew, once a week, booked; practice stays as it is', async () => {
    const user = await ruined()
    expect(await main(user)).toBe(u(50))
    const answers = await Promise.all(Array.from({ length: 8 }, () => refills().main(user)))
    const paid = answers.flatMap((one) => (one.kind === 'refilled' ? [one.amount] : []))
    expect(paid, 'of several at once one pays').toEqual([STARTING_BALANCE - u(50)])
    expect(await main(user)).toBe(STARTING_BALANCE)
    expect(await balance(user)).toBe(STARTING_BALANCE)
    expect(await refills().main(user)).toEqual({ kind: 'not_ruined', balance: STARTING_BALANCE })

    const match = await season.match()
    await match.close(await match.open(user, { lots: 99.5 }), 180, 'washout')
    expect(await refills().main(user)).toMatchObject({ kind: 'too_soon' })
    ahead += WEEK_MS
    expect(await refills().main(user)).toMatchObject({ kind: 'refilled' })
    await season.booksBalance()
  })

  it('[D14] not above 100 units, and not while something is open', async () => {
    const user = await ruined(100)
    expect(await refills().main(user)).toEqual({ kind: 'not_ruined', balance: u(100) })
    const poor = await ruined(60)
    const match = await season.match()
    const held = await match.open(poor, { lots: 0.5 })
    expect(await refills().main(poor)).toEqual({ kind: 'positions_open', openPositions: 1 })
    await match.close(held, 200)
    expect(await refills().main(poor)).toMatchObject({ kind: 'refilled' })
  })

  it('[D14] a balance that was changed from outside counts, and is adopted', async () => {
    const { cache, fast } = season
    const [rich, poor] = [await season.player(), await season.player()]
    const set = (user: UserId, amount: number) =>
      fast.putIfNewer(keys.wallet(user), { balance: String(amount / 1e6), timeline: cache.timeline ?? '' }, 0, 60_000)
    await set(rich, u(500))
    for (let n = 0; n < 3; n++) {
      expect(await refills(cache).main(rich)).toEqual({ kind: 'not_ruined', balance: u(500) })
    }
    await set(poor, u(10))
    expect(await refills(cache).main(poor)).toEqual({ kind: 'refilled', amount: STARTING_BALANCE - u(10) })
    expect(await main(poor)).toBe(STARTING_BALANCE)
    // What is not booked is not audited either.
    const adoptions = (await new AuditLog(open().db, world).list(50, null)).filter(
      ({ action }) => action === 'wallet.adopt',
    )
    expect(adoptions).toMatchObject([{ subject: poor, outcome: 'ok' }])
    await season.booksBalance()
  })

  it('[D14] over random lives, ruin and refill never change a standing', async () => {
    const chance = chanceFrom(22)
    const lives = await Promise.all(Array.from({ length: 6 }, () => season.player()))
    for (let week = 0; week < 4; week++) {
      ahead += WEEK_MS
      for (const user of lives) {
        const match = await season.match()
        const all = Math.floor(((await main(user)) ?? 0) / 100_000_000 / 2)
        if (all > 0) await match.close(await match.open(user, { lots: all }), chance.happens(0.5) ? 210 : 190)
        const left = ((await main(user)) ?? 0) / 1e6
        if (chance.happens(0.6) && left >= 100) {
          await match.close(await match.open(user, { lots: Math.floor(left - 1) / 100 }), 180, 'washout')
        }
        await match.settle()
      }
      await season.reactor.drain()
      const before = await season.careers.standings(lives, 'main')
      const outcomes = await Promise.all(lives.map((user) => refills().main(user)))
      await season.reactor.drain()
      expect(await season.careers.standings(lives, 'main'), JSON.stringify(outcomes)).toEqual(before)
    }
    const refilled = await sql<{ n: number }>`select count(*)::integer as n from ledger_entries
      where kind = 'refill' and purse = 'main' and user_id = any(${lives}::uuid[])`.execute(open().db)
    expect(refilled.rows[0]?.n).toBeGreaterThan(3)
  })

  it('a stranger has nothing to refill', async () => {
    expect(await refills().practice(world.newId() as UserId)).toEqual({ kind: 'unknown' })
    expect(await refills().main(world.newId() as UserId)).toEqual({ kind: 'unknown' })
  })
})
