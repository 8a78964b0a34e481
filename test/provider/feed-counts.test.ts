/** Statistics of one player that are wrong for more than one poll. */
import { describe, expect, it } from 'vitest'
import { busy, counts, details, fed, lineups, type Said, STATS } from '../support/fed-polls.ts'

const often = (polls: number, said: Said): readonly Said[] => Array.from({ length: polls }, () => said)

describe('statistics that are wrong for some polls', () => {
  const right = busy(counts)

  it.each([
    ['twenty times as many', { ...counts, 80: 400, 86: 80, 116: 320, 117: 60 }],
    ['shots instead of passes', { ...counts, 80: 4, 86: 20 }],
    ['more saves than there are', { ...counts, 57: 21 }],
    ['a percentage as accurate passes', { ...counts, 116: 80 }],
    ['tackles by the hundred', { ...counts, 78: 99 }],
  ])('[P21] say nothing, however often they are told: %s', (_, wrong) => {
    const after = fed(right, ...often(6, busy(wrong)), right).bases()
    expect(after).toEqual(fed(right, ...often(6, right), right).bases())
  })

  it('[P21] are taken as they are where a player may have done as much', () => {
    const much = busy({ ...counts, 80: 60, 86: 8, 116: 50, 57: 7 })
    expect(fed(right, much, much).base(4)).toBeGreaterThan((fed(right, right, right).base(4) ?? 0) + 1)
    const ahead = busy({ ...counts, 80: 20, 116: 24, 117: 5 })
    expect(fed(right, ahead).base(4)).toBeGreaterThan(fed(right, right).base(4) ?? 0)
  })

  it('[P22] a count that only one player had, and that four rows lack, is none', () => {
    const told = (of: object): Said => busy({ ...counts, 78: 2, ...of })
    const [once, never] = [told({ 57: 1 }), told({})]
    expect(fed(never, once, ...often(4, never)).bases()).toEqual(fed(never, never, ...often(4, never)).bases())
    const held = fed(never, once, ...often(3, never)).base(4)
    expect(held).toBeGreaterThan(fed(never, never, ...often(3, never)).base(4) ?? 0)
    // Of two players who have it the provider may have ceased to tell.
    const both: Said = {
      over: {
        lineups: lineups({
          3: { details: details({ ...STATS, 57: 1 }) },
          4: { details: details({ ...counts, 78: 2, 57: 1 }) },
        }),
      },
    }
    expect(fed(never, both, ...often(4, never)).base(4)).toBeGreaterThan(fed(...often(6, never)).base(4) ?? 0)
  })
})
