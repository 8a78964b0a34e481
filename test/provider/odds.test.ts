import { describe, expect, it } from 'vitest'
import { playerId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { resultOf } from '../../actors/market/match-result.ts'
import { expectedGoals } from '../../src/provider/odds.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { cupTie } from '../support/cup-tie.ts'

const BOOK = 1.06
const MEANS = [0.4, 0.9, 1.35, 2, 3.1]
const pairs = MEANS.flatMap((home) => MEANS.map((away) => ({ home, away })))

describe('odds', () => {
  it.each(pairs)('expect $home and $away goals of the sides whose results they price', ({ home, away }) => {
    const { wins, draws, losses } = resultOf(home, away)
    const found = expectedGoals({ home: 1 / (wins * BOOK), draw: 1 / (draws * BOOK), away: 1 / (losses * BOOK) })
    expect(found?.home).toBeCloseTo(home, 2)
    expect(found?.away).toBeCloseTo(away, 2)
  })

  it('that cannot be expect nothing', () => {
    expect(expectedGoals({ home: 1, draw: 3, away: 4 })).toBeNull()
    expect(expectedGoals({ home: 3.5, draw: 3.5, away: 3.5 })).toBeNull()
    expect(expectedGoals({ home: 1.2, draw: 1.2, away: 1.2 })).toBeNull()
    expect(expectedGoals({ home: Number.NaN, draw: 3, away: 3 })).toBeNull()
  })

  it('of a foregone result stay within bounds', () => {
    const found = expectedGoals({ home: 1.001, draw: 60, away: 900 })
    expect(found?.home).toBeLessThanOrEqual(6)
    expect(found?.away).toBeGreaterThanOrEqual(0.1)
  })
})

describe('odds in a payload', () => {
  const odd = (label: unknown, value: unknown, market_id: unknown = 1) => ({ market_id, label, value })
  const expected = (odds: unknown) => {
    const instrumentIdOf = () => instrumentIdFor('provider', playerId(1))
    const payload = { ...(cupTie().frames[0] as object), odds }
    const parsed = parseFixture(payload, { instrumentIdOf, receivedAt: instant(0) })
    return parsed.ok ? parsed.snapshot.expectedGoals : 'unreadable'
  }
  const usual = [odd('Home', '2.10'), odd('Draw', '3.40'), odd('Away', '3.60')]

  it('are those of the result after 90 minutes, whatever they are called, the median of the bookmakers', () => {
    const goals = expected(usual)
    expect(goals).toEqual(expectedGoals({ home: 2.1, draw: 3.4, away: 3.6 }))
    expect(expected([odd('1', 2.1), odd('X', 3.4), odd('2', 3.6)])).toEqual(goals)
    expect(expected([...usual, odd('Home', '99', 7), odd('Over', '1.5')])).toEqual(goals)
    expect(expected([...usual, odd('Home', '1.01'), odd('Home', '2.10')])).toEqual(goals)
  })

  it('that cannot be read are skipped, and without any nothing is expected', () => {
    const goals = expected(usual)
    const broken = [
      null,
      7,
      {},
      odd('Home', null),
      odd('Home', 'evens'),
      odd('Draw', -3),
      odd(null, '2'),
      odd('Away', '0'),
    ]
    expect(expected([...broken, ...usual])).toEqual(goals)
    for (const none of [undefined, null, [], 'odds', usual.slice(1), [odd('Home', 'NaN'), ...usual.slice(1)]]) {
      expect(expected(none)).toBeNull()
    }
  })
})
