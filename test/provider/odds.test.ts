import { describe, expect, it } from 'vitest'
import { expectedGoals, resultOf } from '../../src/provider/odds.ts'

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
