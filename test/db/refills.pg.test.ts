import { beforeAll, expect, it } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { Refills } from '../../db/refills.ts'
import { seedDistricts } from '../../db/seed.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { type Fixture, openSeason, type Season } from '../support/season.ts'
import { systemWorld } from '../../src/system-world.ts'

eachDatabase((open) => {
  const world = systemWorld()
  let season: Season
  let names = 0
  const refills = () => new Refills(open().db, world)
  const wallets = () => new Wallets(open().db, new WalletCache(null, () => undefined))
  const balance = async (user: UserId) => (await wallets().find(user, 'practice'))?.balance

  beforeAll(async () => {
    await seedDistricts(open().db)
    season = await openSeason(open(), world)
  })
  const player = () => season.user(`Practising ${++names}`)
  /** A user who has lost all of a position of 100 units. */
  const loser = async () => {
    const [user, match] = [await player(), await season.match({ purse: 'practice' })]
    await match.close(await match.open(user), 180, 'washout')
    return user
  }

  it('[D11] a refill brings the practice wallet back to its start, booked, and leaves the main wallet alone', async () => {
    const user = await loser()
    expect(await balance(user)).toBe(STARTING_BALANCE - u(100))
    expect(await refills().practice(user)).toEqual({ kind: 'refilled', amount: u(100) })
    expect(await balance(user)).toBe(STARTING_BALANCE)
    expect((await wallets().find(user))?.balance).toBe(STARTING_BALANCE)
    const page = { limit: 10, offset: 0 }
    expect((await wallets().ledger(user, { ...page, purse: 'practice' }))[0]).toMatchObject({
      kind: 'refill',
      amount: u(100),
      positionId: null,
    })
    expect(await wallets().ledger(user, { ...page, purse: 'main' })).toHaveLength(1)
    expect(await wallets().auditLedger()).toMatchObject({
      purses: [{ imbalanceMicros: 0 }, { imbalanceMicros: 0 }],
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

  it('[D11] nothing is refilled while news may still correct a close, and proceeds of the main purse stop no refill', async () => {
    const [user, match, main] = [await loser(), await season.match({ purse: 'practice' }), await season.match()]
    const locked = async (fixture: Fixture, until: number) => {
      const event = fixture.closed(await fixture.open(user), 190)
      if (event.kind !== 'position_closed') throw new Error('not a close')
      await fixture.commit([
        { ...event, locks: [{ key: event.position.id, amount: money(u(50)), until: instant(until) }] },
      ])
    }
    await locked(main, world.now() + 600_000)
    await locked(match, world.now() - 1)
    expect(await refills().practice(user)).toEqual({ kind: 'refilled', amount: u(150) })
    await locked(match, world.now() + 600_000)
    expect(await refills().practice(user)).toEqual({ kind: 'proceeds_locked', locked: u(50) })
    expect(await balance(user)).toBe(STARTING_BALANCE - u(50))
  })

  it('[D11] what is open in the main purse stops no refill', async () => {
    const [user, match] = [await loser(), await season.match()]
    await match.open(user)
    expect(await refills().practice(user)).toMatchObject({ kind: 'refilled', amount: u(100) })
  })

  it('[D11] a refill beside trades loses and mints nothing', async () => {
    const matches = [await season.match({ purse: 'practice' }), await season.match({ purse: 'practice' })]
    const user = await player()
    const trading = matches.map(async (match) => {
      for (let n = 0; n < 10; n++) await match.close(await match.open(user), 190, 'washout')
    })
    const asking = Array.from({ length: 30 }, () => refills().practice(user))
    await Promise.all([...trading, ...asking])
    await refills().practice(user)
    expect(await balance(user)).toBe(STARTING_BALANCE)
    expect(await wallets().auditLedger()).toMatchObject({ imbalanceMicros: 0, mismatchedWallets: 0 })
  })

  it('a stranger has nothing to refill', async () => {
    expect(await refills().practice(world.newId() as UserId)).toEqual({ kind: 'unknown' })
  })
})
