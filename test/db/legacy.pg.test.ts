import { beforeAll, describe, expect, it } from 'vitest'
import { userId } from '../../actors/kernel/ids.ts'
import { lots, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { legacyPortfolio, type LegacyTrade } from '../../actors/community/legacy.ts'
import { ActivityFeed } from '../../db/activity.ts'
import { LegacyImport } from '../../db/legacy-import.ts'
import { Legacy } from '../../src/features/legacy/store.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { readDump } from '../../ops/tools/legacy-csv.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { U, u } from '../support/fixtures.ts'

const trade = (id: string, over: Partial<LegacyTrade> = {}): LegacyTrade => ({
  id,
  userId: U(1),
  player: 'A. Striker',
  side: 'buy',
  quantity: lots(u(1)),
  price: price(u(100)),
  at: instant(Date.UTC(2026, 0, 1)),
  ...over,
})

describe('a legacy portfolio', () => {
  it('keeps unsold shares at average cost, and sums the profit of sold shares', () => {
    const { holdings, pnl } = legacyPortfolio([
      trade('1', { quantity: lots(u(2)) }),
      trade('2', { quantity: lots(u(2)), price: price(u(200)) }),
      trade('3', { side: 'sell', price: price(u(180)) }),
      trade('4', { player: 'B. Back', quantity: lots(u(1)) }),
      trade('5', { player: 'B. Back', side: 'sell', price: price(u(90)) }),
    ])
    expect(holdings).toEqual([{ player: 'A. Striker', quantity: u(3), invested: u(450) }])
    expect(pnl).toBe(u(30 - 10))
    expect(legacyPortfolio([])).toEqual({ holdings: [], pnl: 0 })
  })
})

describe('a dump', () => {
  const HEADER = 'id,username,player,side,quantity,price,at'

  it('is read with its quotes, in any order of columns', () => {
    const csv =
      '\uFEFFat,player,id,username,side,price,quantity\r\n2026-01-01T00:00:00Z,"O""Neil, P.",7,Ada,sell,12.5,0.000001\r\n'
    expect(readDump(csv)).toEqual([
      {
        id: '7',
        username: 'ada',
        player: 'O"Neil, P.',
        side: 'sell',
        quantity: 1,
        price: u(12.5),
        at: Date.UTC(2026, 0, 1),
      },
    ])
    expect(readDump(HEADER)).toEqual([])
    expect(readDump(`${HEADER}\n\n1,a,"b\nc",buy,1,2,2026-01-01T00:00:00+01:00`)).toMatchObject([{ player: 'b\nc' }])
  })

  it.each([
    ['id,username', 'the header lacks player, side'],
    [`${HEADER}\n1,a,b,buy,0,2,2026-01-01T00:00:00Z`, 'record 2: quantity: must be above 0'],
    [`${HEADER}\n1,a,b,buy,1,-2,2026-01-01T00:00:00Z`, 'record 2: price: not an amount: -2'],
    [`${HEADER}\n1,a,b,buy,1,,2026-01-01T00:00:00Z`, 'record 2: price'],
    [`${HEADER}\n1,a,b,gift,1,2,2026-01-01T00:00:00Z`, 'record 2: side'],
    [`${HEADER}\n1,a,b,buy,1,2,yesterday`, 'record 2: at'],
    [`${HEADER}\n1,a,b`, 'record 2: side'],
    [`${HEADER}\n${['1', '2', '1'].map((id) => `${id},a,b,buy,1,2,2026-01-01T00:00:00Z`).join('\n')}`, 'record 4: id'],
    [`${HEADER}\n1,a,b,buy,12"3,2,2026-01-01T00:00:00Z`, 'record 2: a quote'],
    [`${HEADER}\n"a1" ,a,b,buy,1,2,2026-01-01T00:00:00Z`, 'record 2: a quote'],
    [`${HEADER}\n\n1,a,b,buy,1,2,"2026-01-01T00:00:00Z`, 'record 2: a quote'],
  ])('%j is refused with its line', (csv, problem) => {
    expect(() => readDump(csv)).toThrow(problem)
  })
})

eachDatabase((open) => {
  let ada = userId('')

  beforeAll(async () => {
    await seedDistricts(open().db)
    const [made] = await new Users(open().db, systemWorld()).createSyntheticMany(['Ada'])
    ada = made?.user.id ?? ada
  })

  it('trades are imported once, a whole dump or nothing, and read in pages, newest first', async () => {
    const [legacy, imported] = [new Legacy(open().db), new LegacyImport(open().db)]
    const dump = [1, 2, 3].map((day) => trade(`T${day}`, { userId: ada, at: instant(Date.UTC(2026, 0, day)) }))
    expect(await imported.take(dump)).toEqual(dump)
    expect(await imported.take([...dump.slice(1), trade('T4', { userId: ada })])).toMatchObject([{ id: 'T4' }])
    await expect(imported.take([trade('T5', { userId: ada }), trade('T6', { userId: U(99) })])).rejects.toThrow()
    // Of one time the higher number is the later.
    await imported.take([trade('T10', { userId: ada })])
    const read = async (limit: number, offset: number, after?: readonly [number, string]) =>
      (await legacy.trades(ada, { limit, offset, after })).trades.map(({ id }) => id)
    expect((await legacy.trades(ada, { limit: 1, offset: 0 })).total).toBe(5)
    expect(await read(4, 1)).toEqual(['T2', 'T10', 'T4', 'T1'])
    expect(await read(4, 0, [Date.UTC(2026, 0, 1), 'T10'])).toEqual(['T4', 'T1'])
    expect((await legacy.history(ada)).map(({ id }) => id)).toEqual(['T1', 'T4', 'T10', 'T2', 'T3'])
    expect((await imported.usersNamed(['ada', 'nobody'])).get('ada')).toBe(ada)
  })

  it('only trades of 10 shares or more, or of 2,000 units or more, become headlines, each once', async () => {
    const imported = new LegacyImport(open().db)
    const dump = [
      trade('A1', { userId: ada, quantity: lots(u(9.999999)), price: price(u(200)) }),
      trade('A2', { userId: ada, quantity: lots(u(10)), price: price(u(1)) }),
      trade('A3', { userId: ada, quantity: lots(u(1)), price: price(u(2_000)), side: 'sell' }),
    ]
    expect(await imported.announce(dump)).toBe(2)
    await imported.announce(dump)
    const headlines = (await new ActivityFeed(open().db).list(50, null)).filter(({ type }) => type === 'legacy_trade')
    expect(headlines.map(({ text }) => text).toSorted()).toEqual([
      'bought 10 of A. Striker for 10.00',
      'sold 1 of A. Striker for 2000.00',
    ])
  })
})
