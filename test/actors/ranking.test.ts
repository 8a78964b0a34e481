import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { districtId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { RankedList } from '../../actors/community/ranked-list.ts'
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

describe('a ranked list', () => {
  it('is what sorting gives, whatever is laid down, added and removed', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 5_000 }), { maxLength: 1_500 })
    const runs = fc.property(numbers, numbers, fc.integer({ min: 0, max: 1_500 }), (laid, added, from) => {
      const list = new RankedList((a, b) => b - a)
      list.load(laid.toSorted((a, b) => b - a))
      const kept = new Set(laid)
      for (const n of added) {
        if (kept.has(n)) list.remove(n)
        else list.add(n)
        if (!kept.delete(n)) kept.add(n)
      }
      const sorted = [...kept].toSorted((a, b) => b - a)
      expect(list.size).toBe(sorted.length)
      expect(list.slice(0, sorted.length + 1)).toEqual(sorted)
      expect(list.slice(from, 7)).toEqual(sorted.slice(from, from + 7))
      for (const n of added.slice(0, 20)) expect(list.count((m) => m > n)).toBe(sorted.filter((m) => m > n).length)
    })
    fc.assert(runs, { numRuns: 30 })
  })

  it('cannot remove what is not there', () => {
    const list = new RankedList((a, b) => a - b)
    expect(() => list.remove(1)).toThrow('missing')
    list.add(2)
    expect(() => list.remove(1)).toThrow('not in the list')
  })
})
