import { describe, expect, it } from 'vitest'
import { districtId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { rankAll, rankDistricts, roiPpm, winPpm } from '../../actors/community/ranking.ts'
import { standing } from '../contract/boards.ts'

describe('ranking', () => {
  it('[R5] ROI is realised PnL over the margin of closed positions, win rate wins over closes', () => {
    expect(roiPpm({ pnl: money(12_345_678), margin: money(100_000_000) })).toBe(123_457)
    expect(roiPpm({ pnl: money(-50_000_000), margin: money(100_000_000) })).toBe(-500_000)
    expect(roiPpm({ pnl: money(0), margin: money(0) })).toBe(0)
    expect(winPpm({ wins: 1, closed: 3 })).toBe(333_333)
    expect(winPpm({ wins: 0, closed: 0 })).toBe(0)
  })

  it('[R6] ties share a rank, and the next rank counts them all', () => {
    const profits = [9, 7, 7, 7, 3, 3, -1].map((pnl, n) => standing(n + 1, { pnl: money(pnl) }))
    expect(rankAll('pnl', profits).map(({ rank }) => rank)).toEqual([1, 2, 2, 2, 5, 5, 7])
    expect(rankAll('pnl', [])).toEqual([])
  })

  it('[R7] districts rank by the average ROI of their members; equal ones share, empty ones come last without a rank', () => {
    const score = (id: number, members: number, roiPpmSum: number) => ({
      districtId: districtId(id),
      members,
      roiPpmSum,
    })
    const ranked = rankDistricts([
      score(1, 0, 0),
      score(2, 2, -100),
      score(3, 4, 400),
      score(4, 1, 100),
      score(5, 1, -50),
    ])
    expect(ranked.map((one) => [one.districtId, one.rank, one.roiPpm])).toEqual([
      [3, 1, 100],
      [4, 1, 100],
      [2, 3, -50],
      [5, 3, -50],
      [1, null, null],
    ])
  })
})
