import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SortedList } from '../../actors/kernel/sorted-list.ts'

describe('a sorted list', () => {
  it('is what sorting gives, whatever is filled in, added and removed', () => {
    const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 5_000 }), { maxLength: 1_500 })
    const runs = fc.property(numbers, numbers, fc.integer({ min: 0, max: 1_500 }), (laid, added, from) => {
      const list = new SortedList<number>((a, b) => b - a)
      list.fill(laid.toSorted((a, b) => b - a))
      const kept = new Set(laid)
      for (const n of added) {
        if (kept.has(n)) list.remove(n)
        else list.add(n)
        if (!kept.delete(n)) kept.add(n)
      }
      const sorted = [...kept].toSorted((a, b) => b - a)
      expect(list.size).toBe(sorted.length)
      expect(list.first).toBe(sorted[0])
      expect(list.slice(0, sorted.length + 1)).toEqual(sorted)
      expect(list.slice(from, 7)).toEqual(sorted.slice(from, from + 7))
      for (const n of added.slice(0, 20)) expect(list.count((m) => m > n)).toBe(sorted.filter((m) => m > n).length)
    })
    fc.assert(runs, { numRuns: 30 })
  })

  it('cannot remove what is not in it', () => {
    const list = new SortedList<number>((a, b) => a - b)
    expect(() => list.remove(1)).toThrow('not in the sorted list')
    list.add(2)
    expect(() => list.remove(1)).toThrow('not in the sorted list')
  })
})
