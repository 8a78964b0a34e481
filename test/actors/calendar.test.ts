import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dateAt, startOfDate, weekNamed, weekOf } from '../../actors/kernel/calendar.ts'
import { instant } from '../../actors/kernel/world.ts'

const moments = fc.integer({ min: Date.UTC(1600, 0), max: Date.UTC(2600, 0) })

describe('the calendar', () => {
  it('agrees with that of JavaScript at every moment', () => {
    fc.assert(
      fc.property(moments, (ms) => {
        const date = new Date(ms)
        const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
        expect(dateAt(ms)).toEqual({ year, month, day })
        expect(startOfDate({ year, month, day })).toBe(Date.UTC(year, month - 1, day))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['2024-02-29', 2024, 2, 29],
    ['2000-02-29', 2000, 2, 29],
    ['2100-03-01', 2100, 3, 1],
    ['1970-01-01', 1970, 1, 1],
  ])('knows %s', (iso, year, month, day) => {
    expect(startOfDate({ year, month, day })).toBe(Date.parse(iso))
    expect(dateAt(Date.parse(iso))).toEqual({ year, month, day })
  })

  it('carries months into years', () => {
    expect(startOfDate({ year: 2026, month: 13, day: 1 })).toBe(Date.UTC(2027, 0))
    expect(startOfDate({ year: 2026, month: 0, day: 1 })).toBe(Date.UTC(2025, 11))
  })
})

describe('weeks', () => {
  it.each([
    ['2026-11-24T02:00:00Z', '2026-W48', '2026-11-23', '2026-11-30'],
    ['2027-01-03T23:59:59Z', '2026-W53', '2026-12-28', '2027-01-04'],
    ['2024-12-30T00:00:00Z', '2025-W01', '2024-12-30', '2025-01-06'],
  ])('%s lies in %s', (at, id, from, to) => {
    const week = { name: id, startsAt: Date.parse(from), endsAt: Date.parse(to) }
    expect(weekOf(instant(Date.parse(at)))).toEqual(week)
    expect(weekNamed(id)).toEqual(week)
  })

  it.each(['2026-W00', '2026-W54', '2025-W53', '2026-W1', '26-W01', 'W01', '2026-W1x', ''])('%j is none', (id) => {
    expect(weekNamed(id)).toBeNull()
  })

  it('every moment lies in the week that its name names', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2090, 0) }), (at) => {
        const week = weekOf(instant(at))
        expect(week.startsAt <= at && at < week.endsAt).toBe(true)
        expect(weekNamed(week.name)).toEqual(week)
      }),
    )
  })
})
