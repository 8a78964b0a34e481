import { describe, expect, it } from 'vitest'
import { DIVISIONS, divisionAfter, outcomeOf, seasonAt, type SeasonResult } from '../../src/features/seasons/seasons.ts'
import { instant } from '../../actors/kernel/world.ts'
import { money } from '../../actors/kernel/micros.ts'
import { u } from '../support/fixtures.ts'

const result = (over: Partial<SeasonResult>): SeasonResult => ({
  division: 3,
  rank: 25,
  members: 50,
  value: money(u(10_001)),
  starting: money(u(10_000)),
  ...over,
})

describe('seasons', () => {
  it('[G5] a season is a month in UTC, also around a new year', () => {
    const of = (iso: string) => seasonAt(instant(Date.parse(iso)))
    expect(of('2026-11-24T02:00:00Z')).toMatchObject({ id: '2026-11', name: 'November 2026' })
    expect(of('2026-12-31T23:59:59.999Z')).toEqual({
      id: '2026-12',
      name: 'December 2026',
      startsAt: Date.parse('2026-12-01T00:00:00Z'),
      endsAt: Date.parse('2027-01-01T00:00:00Z'),
    })
    expect(of('2027-01-01T00:00:00Z').id).toBe('2027-01')
  })

  it('[G5] the best fifth goes up, the last fifth goes down, and the others stay', () => {
    const outcomes = Array.from({ length: 50 }, (_, n) => outcomeOf(result({ rank: n + 1 })))
    expect(outcomes.slice(0, 10).every((one) => one === 'promoted')).toBe(true)
    expect(outcomes.slice(10, 40).every((one) => one === 'stays')).toBe(true)
    expect(outcomes.slice(40).every((one) => one === 'relegated')).toBe(true)
  })

  it('[G5] nobody goes up for having done nothing, above the first division, or below the last', () => {
    expect(outcomeOf(result({ rank: 1, members: 1, value: money(u(10_000)) }))).toBe('stays')
    expect(outcomeOf(result({ rank: 1, members: 1 }))).toBe('promoted')
    expect(outcomeOf(result({ rank: 1, division: 1 }))).toBe('stays')
    expect(outcomeOf(result({ rank: 50, division: DIVISIONS }))).toBe('stays')
    expect(outcomeOf(result({ rank: 4, members: 4 })), 'a group of four relegates nobody').toBe('stays')
  })

  it('[G5] whoever shares the last place of promotion goes up as well', () => {
    expect(outcomeOf(result({ rank: 10 }))).toBe('promoted')
    expect(outcomeOf(result({ rank: 11 }))).toBe('stays')
  })

  it('[G5] the next division is always one that exists', () => {
    for (let division = 1; division <= DIVISIONS; division++) {
      for (let rank = 1; rank <= 50; rank++) {
        const next = divisionAfter(result({ division, rank }))
        expect(next).toBeGreaterThanOrEqual(1)
        expect(next).toBeLessThanOrEqual(DIVISIONS)
        expect(Math.abs(next - division)).toBeLessThanOrEqual(1)
      }
    }
  })
})
