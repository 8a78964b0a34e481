/** Who is sent off, where the list of events and the statistics do not tell the same. */
import { describe, expect, it } from 'vitest'
import { details, event, fed, lineups, type Row, type Said, STATS } from '../support/fed-polls.ts'

const ALL = [1, 2, 3, 4, 11, 12, 13, 14]
const WITHOUT_3 = ALL.filter((id) => id !== 3)

const told = (of: Readonly<Record<number, number>>, ...events: readonly Row[]): Said => ({
  over: { events, lineups: lineups({ 3: { details: details({ ...STATS, ...of }) } }) },
})
const often = (polls: number, said: Said): readonly Said[] => Array.from({ length: polls }, () => said)

describe('a dismissal that only statistics tell', () => {
  const red = event(1, 20, 3, 40)

  it.each([
    ['red', { 83: 1 }, red],
    ['second yellow', { 84: 1, 85: 1 }, event(1, 21, 3, 40)],
  ])('[P25] is one from then on, and the same once the list has it: %s', (_, of, row) => {
    const [alone, listed] = [told(of), told(of, row)]
    const match = fed(alone, alone, alone)
    expect(match.playing()).toEqual(WITHOUT_3)
    for (const polls of [
      [alone, alone, listed, listed, listed],
      [listed, alone, alone, alone, alone],
    ]) {
      const both = fed(...polls)
      expect(both.playing()).toEqual(WITHOUT_3)
      expect(both.bases()).toEqual(fed(...often(5, listed)).bases())
      expect(both.events()).toEqual([[1, 3, false]])
    }
    // A row is of the middle of its minute.
    const later = (said: Said) => fed(said, said, { ...said, minute: 44 })
    for (const id of ALL)
      expect(Math.abs((later(alone).base(id) ?? 0) - (later(listed).base(id) ?? 0))).toBeLessThan(0.1)
  })

  it('[P25] ends with the statistics', () => {
    const match = fed(told({ 83: 1 }), ...often(4, told({ 83: 0 })))
    expect(match.playing()).toEqual(ALL)
    expect(match.bases()).toEqual(fed(...often(5, told({ 83: 0 }))).bases())
    // No price falls below that of the dismissal on the way.
    const [off, ...later] = [1, 2, 3, 4].map((n) => fed(told({ 83: 1 }), ...often(n - 1, told({ 83: 0 }))).base(3) ?? 0)
    for (const base of later) expect(base).toBeGreaterThanOrEqual(off ?? Infinity)
  })

  it('[P25] is none where a review has cancelled it', () => {
    const review = event(2, 10, 3, 38, { addition: 'Red card cancelled' })
    for (const polls of [often(3, told({ 83: 1 }, review)), [told({ 83: 1 }), ...often(3, told({ 83: 1 }, review))]]) {
      expect(fed(...polls).playing()).toEqual(ALL)
    }
  })

  it('[P24] is red where the list says so, beside a booking that is listed twice', () => {
    const rows = [event(1, 19, 3, 20), event(2, 19, 3, 24), event(3, 20, 3, 38)]
    const once = told({ 84: 1, 83: 1 }, ...rows.filter((_, n) => n !== 1))
    const match = fed(...often(3, told({ 84: 1, 83: 1 }, ...rows)))
    expect(match.bases()).toEqual(fed(...often(3, once)).bases())
  })

  it('[P25] takes no one off who is not on, and none whose row was taken back', () => {
    const change = event(2, 18, 6, 20, { related_player_id: 3 })
    expect(fed(...often(3, told({ 83: 1 }, change))).playing()).toEqual([1, 2, 4, 6, 11, 12, 13, 14])
    const bench: Said = { over: { lineups: lineups({ 6: { details: details({ 83: 1 }) } }) } }
    expect(fed(bench, bench).playing()).toEqual(ALL)
    const back = told({ 83: 1 }, { ...red, rescinded: true })
    expect(fed(told({ 83: 1 }, red), ...often(4, back)).playing()).toEqual(ALL)
  })

  it('[P23] is no list: facts stay that an empty one no longer has', () => {
    const [booked, change] = [event(2, 19, 12, 39), event(3, 18, 6, 20, { related_player_id: 2 })]
    const match = fed(told({ 83: 1 }, booked, change), ...often(4, told({ 83: 1 })))
    expect(match.playing()).toEqual([1, 4, 6, 11, 12, 13, 14])
    expect(match.bases()).toEqual(fed(...often(5, told({ 83: 1 }, booked, change))).bases())
  })

  it('[P24] is a second booking where the list has two and the statistics a red card', () => {
    const [first, second] = [event(1, 19, 3, 20), event(2, 19, 3, 38)]
    const match = fed(told({ 84: 1 }, first), ...often(3, told({ 84: 1, 83: 1 }, first, second)))
    expect(match.playing()).toEqual(WITHOUT_3)
    const typed = told({ 84: 1, 83: 1 }, first, { ...second, type_id: 21 })
    expect(match.bases()).toEqual(fed(told({ 84: 1 }, first), ...often(3, typed)).bases())
  })
})

describe('a dismissal that a review takes back', () => {
  const red = event(1, 20, 3, 38)
  const review = (text: string, over: Row = {}): Row => event(2, 10, 3, 39, { addition: text, ...over })
  const after = (...events: readonly Row[]) => fed(told({}, red), ...often(4, told({}, ...events)))

  it.each([
    ['Red card cancelled', 10],
    ['Redcard Cancelled - foul', 1697],
    ['Red card overturned', 10],
  ])('[P9] is none, although its row is still listed: %s', (text, type) => {
    const match = after(red, review(text, { type_id: type }))
    expect(match.playing()).toEqual(ALL)
    expect(match.events()).toContainEqual([1, 3, true])
    const stated = fed(told({ 83: 1 }, red), ...often(4, told({ 83: 0 }, red, review(text))))
    expect(stated.playing()).toEqual(ALL)
  })

  it.each<[string, readonly Row[]]>([
    ['a review that upholds it', [review('Red card confirmed')]],
    ['one that is under way', [review('Red card under review')]],
    ['one of another player', [review('Red card cancelled', { player_id: 2 })]],
    ['one of long after', [review('Red card cancelled', { minute: 44 })]],
    ['a card after it', [review('Red card cancelled'), event(3, 20, 3, 40)]],
  ])('[P9] stands beside %s', (_, rows) => {
    expect(after(red, ...rows).playing()).toEqual(WITHOUT_3)
  })
})
