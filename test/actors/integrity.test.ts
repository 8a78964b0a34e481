/** What points to a cheat, and what does not. */
import { describe, expect, it } from 'vitest'
import { userId } from '../../actors/kernel/ids.ts'
import { type Connections, findingsIn, type Opening } from '../../actors/integrity/findings.ts'
import { binomialTail, poissonTail } from '../../actors/integrity/tails.ts'
import { instant } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { P } from '../support/fixtures.ts'

const user = (name: string) => userId(`test/${name}`)
const opening = (name: string, secs: number, over: Partial<Opening> = {}): Opening => ({
  userId: user(name),
  instrumentId: P(1),
  at: instant(secs * 1_000),
  sign: 1,
  lots: 500_000,
  markOut: 0,
  ...over,
})

/** Two hundred users who each open ten positions of 22 players at random. */
function crowd(seed: number): Opening[] {
  const chance = chanceFrom(seed)
  return Array.from({ length: 2_000 }, (_, n) =>
    opening(`honest ${n % 200}`, chance.below(5_400), {
      instrumentId: P(1 + chance.below(22)),
      sign: chance.happens(0.5) ? 1 : -1,
      markOut: chance.happens(0.03) ? 8_000 : 0,
    }),
  )
}
const kindsOf = (openings: readonly Opening[], connections: readonly Connections[] = []) =>
  findingsIn(openings, connections).map(({ kind, users }) => [kind, users.length])

describe('chances', () => {
  it('of the tails are those of the tables', () => {
    expect(binomialTail(0, 10, 0.3)).toBeCloseTo(1, 12)
    expect(binomialTail(5, 10, 0.5)).toBeCloseTo(0.623046875, 9)
    expect(binomialTail(10, 10, 0.1)).toBeCloseTo(1e-10, 20)
    expect(binomialTail(1_000, 2_000, 0.5)).toBeCloseTo(0.50892, 5)
    expect(poissonTail(0, 2)).toBeCloseTo(1, 9)
    expect(poissonTail(3, 2)).toBeCloseTo(0.3233235838, 9)
    expect(poissonTail(20, 1) / 1.5e-19).toBeCloseTo(1.06, 1)
    expect(poissonTail(800, 800)).toBeCloseTo(0.5047, 4)
    expect(poissonTail(10, 5_000)).toBe(1)
    expect(poissonTail(5_000, 1)).toBe(0)
  })
})

describe('findings', () => {
  it('[C5] a crowd of honest users is accused of nothing', () => {
    for (let seed = 1; seed <= 20; seed += 1) expect(kindsOf(crowd(seed))).toEqual([])
  })

  it('[C5] two busy accounts with the market to themselves are accused of nothing', () => {
    const openings = Array.from({ length: 1_600 }, (_, n) => opening(n % 2 === 0 ? 'a' : 'b', 6 * n))
    expect(kindsOf(openings)).toEqual([])
  })

  it('[C5] news that everybody trades on accuses no one', () => {
    const chance = chanceFrom(3)
    const rush = Array.from({ length: 12 }, (_, goal) =>
      Array.from({ length: 150 }, (__, n) =>
        opening(`honest ${n}`, 400 * (goal + 1) + chance.below(15), { instrumentId: P(1 + goal), markOut: 9_000 }),
      ).filter(() => chance.happens(0.6)),
    )
    expect(kindsOf([...crowd(3), ...rush.flat()])).toEqual([])
  })

  it('[C5] an account whose bets news rewards is found, and one bet on seven players is one', () => {
    const bets = Array.from({ length: 8 }, (_, n) => opening('courtside', 300 * (n + 1), { markOut: 7_000 }))
    expect(kindsOf([...crowd(4), ...bets])).toEqual([['ahead_of_news', 1]])
    const once = Array.from({ length: 8 }, (_, n) => opening('lucky', 300 + n, { markOut: 7_000 }))
    expect(kindsOf([...crowd(4), ...once])).toEqual([])
    const unknown = bets.map((one) => ({ ...one, markOut: null }))
    expect(kindsOf([...crowd(4), ...unknown])).toEqual([])
  })

  it('[C5] accounts in lockstep are one group, pairs with opposite bets another', () => {
    const ring = Array.from({ length: 10 }, (_, n) =>
      ['a', 'b', 'c'].map((name, m) => opening(name, 400 * (n + 1) + 3 * m, { instrumentId: P(1 + n) })),
    ).flat()
    expect(kindsOf([...crowd(5), ...ring])).toEqual([['lockstep', 3]])
    const wash = ring.map((one) => (one.userId === user('b') ? { ...one, sign: -1 as const } : one))
    expect(kindsOf([...crowd(5), ...wash.filter((one) => one.userId !== user('c'))])).toEqual([['opposite', 2]])
  })

  it('[C5] friends in one place who trade the least are a farm; a household and a school are not', () => {
    const friends = (count: number, lots: number) => ({
      openings: Array.from({ length: count * 6 }, (_, n) =>
        opening(`friend ${n % count}`, 90 * n, { lots, instrumentId: P(1 + (n % 22)) }),
      ),
      connections: Array.from({ length: count }, (_, n) => ({
        userId: user(`friend ${n}`),
        places: ['one network'],
        referrerId: user('referrer'),
      })),
    })
    const farm = friends(12, 10_000)
    expect(kindsOf([...crowd(6), ...farm.openings], farm.connections)).toEqual([['referral_farm', 13]])
    for (const honest of [friends(4, 10_000), friends(12, 500_000)]) {
      expect(kindsOf([...crowd(6), ...honest.openings], honest.connections)).toEqual([])
    }
  })
})
