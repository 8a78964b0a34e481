import { describe, expect, it } from 'vitest'
import { districtId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { compareStandings, rankAll, rankDistricts, roiPpm, stakeOf, winPpm } from '../../actors/community/ranking.ts'
import { baseMoveOf } from '../../actors/position/position.ts'
import { standing } from '../contract/boards.ts'
import { p, u } from '../support/fixtures.ts'

describe('ranking', () => {
  it('[R5] ROI is the PnL of base moves over the stake, win rate wins over closes', () => {
    expect(roiPpm({ baseMoves: money(12_345_678), stake: money(100_000_000) })).toBe(123_457)
    expect(roiPpm({ baseMoves: money(-50_000_000), stake: money(100_000_000) })).toBe(-500_000)
    expect(roiPpm({ baseMoves: money(0), stake: money(0) })).toBe(0)
    expect(winPpm({ wins: 1, closed: 3 })).toBe(333_333)
    expect(winPpm({ wins: 0, closed: 0 })).toBe(0)
  })

  it('[R5] a stake is the margin, and never less than the floor: five lucky units lead nothing', () => {
    const floor = money(u(50_000))
    const lucky = standing(1, { baseMoves: money(u(5)), stake: stakeOf(money(u(5)), floor) })
    const skilled = standing(2, { baseMoves: money(u(3_000)), stake: stakeOf(money(u(77_563)), floor) })
    expect([roiPpm(lucky), roiPpm(skilled)]).toEqual([100, 38_678])
    expect([lucky, skilled].toSorted((a, b) => compareStandings('roi', a, b))).toEqual([skilled, lucky])
  })

  it('[R5] a base move is counted from open to close, as the position faces, and never beyond its margin', () => {
    const long = { direction: 'long', lots: lots(u(2)), openBase: p(200), margin: money(u(200)) } as const
    expect(baseMoveOf(long, p(206))).toBe(u(60))
    expect(baseMoveOf({ ...long, direction: 'short' }, p(206))).toBe(u(-60))
    expect(baseMoveOf(long, p(150))).toBe(u(-200))
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
