import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { instant } from '../../actors/kernel/world.ts'
import { drawn, drawText, type SettledBase } from '../../actors/community/spinner.ts'
import { weekAfter, weekBefore, weekOf } from '../../actors/kernel/calendar.ts'
import { P, p, U } from '../support/fixtures.ts'

const at = (text: string) => instant(Date.parse(text))

describe('a week', () => {
  it.each([
    ['2026-11-21T12:00:00Z', '2026-W47'],
    ['2026-11-22T23:59:59.999Z', '2026-W47'],
    ['2026-11-23T00:00:00Z', '2026-W48'],
    ['2026-01-01T00:00:00Z', '2026-W01'],
    ['2025-12-29T00:00:00Z', '2026-W01'],
    ['2027-01-03T23:59:59Z', '2026-W53'],
    ['2027-01-04T00:00:00Z', '2027-W01'],
    ['2024-12-30T00:00:00Z', '2025-W01'],
    ['2021-01-03T12:00:00Z', '2020-W53'],
    ['2000-01-01T00:00:00Z', '1999-W52'],
    ['1970-01-01T00:00:00Z', '1970-W01'],
  ])('%s is in %s', (text, name) => {
    expect(weekOf(at(text)).name).toBe(name)
  })

  it('begins on Monday, and follows another without a gap for fifty years', () => {
    let week = weekOf(at('2000-01-03T00:00:00Z'))
    for (let n = 0; n < 52 * 50; n++) {
      const next = weekAfter(week)
      expect([next.startsAt, new Date(next.startsAt).getUTCDay()]).toEqual([week.endsAt, 1])
      expect(weekBefore(next)).toEqual(week)
      week = next
    }
  })
})

describe('a draw', () => {
  const digestOf = (
    seed: string,
    week: string,
    users: Parameters<typeof drawText>[1],
    bases: readonly SettledBase[] = [],
  ) =>
    createHmac('sha256', seed)
      .update(drawText(week, users, bases))
      .digest('hex')

  it('[R12] is the same for the same seed, week and candidates, in any order', () => {
    const [one, two, three] = [U(1), U(2), U(3)]
    const draw = (users: readonly (typeof one)[]) => drawn(digestOf('seed', '2026-W47', users), users)
    expect(draw([three, one, two])).toBe(draw([one, two, three]))
    expect(digestOf('seed', '2026-W48', [one])).not.toBe(digestOf('seed', '2026-W47', [one]))
    const [first, second] = [
      { instrumentId: P(1), base: p(200) },
      { instrumentId: P(2), base: p(210.5) },
    ]
    const settled = digestOf('seed', '2026-W47', [one], [first, second])
    expect(digestOf('seed', '2026-W47', [one], [second, first])).toBe(settled)
    expect(digestOf('seed', '2026-W47', [one], [first, { ...second, base: p(210.5001) }])).not.toBe(settled)
    expect(digestOf('seed', '2026-W47', [one, two])).not.toBe(digestOf('seed', '2026-W47', [one]))
  })

  it('[R12] favours no candidate, picks the only one, and has no winner without candidates', () => {
    const users = [U(1), U(2), U(3)]
    const count = new Map<string | null, number>()
    for (let n = 0; n < 3_000; n++) {
      const winner = drawn(digestOf(`seed ${n}`, '2026-W47', users), users)
      count.set(winner, (count.get(winner) ?? 0) + 1)
    }
    for (const user of users) expect(Math.abs((count.get(user) ?? 0) - 1_000)).toBeLessThan(150)
    expect(drawn(digestOf('seed', '2026-W47', [U(7)]), [U(7)])).toBe(U(7))
    expect(drawn(digestOf('seed', '2026-W47', []), [])).toBeNull()
    expect(() => drawn('no digest', users)).toThrow('SHA-256')
  })
})
