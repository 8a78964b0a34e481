/** Statistics of one player that are wrong for more than one poll. */
import { describe, expect, it } from 'vitest'
import {
  busy,
  counts,
  details,
  event,
  fed,
  HOME,
  lineup,
  lineups,
  LINEUPS,
  type Said,
  STATS,
} from '../support/fed-polls.ts'

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
    const unknown = busy({ ...counts, 117: 5, 99_999: 100 })
    expect(fed(right, unknown).base(4)).toBeGreaterThan(fed(right, right).base(4) ?? 0)
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

  it('[P22] a row that has fallen to what it was takes with it what else was told of another', () => {
    const other = { 3: { details: details({ ...STATS, 78: 2, 101: 3, 107: 1 }) } }
    const told = (of: Readonly<Record<number, unknown>>): Said => ({
      over: { lineups: lineups({ ...other, 4: { details: details(of) } }) },
    })
    const [own, wrong] = [told({ ...STATS, 118: 6.5 }), told({ 80: 50, 116: 40, 78: 3, 101: 4, 107: 2, 118: 6.5 })]
    expect(fed(own, wrong, wrong, own, own).bases()).toEqual(fed(...often(5, own)).bases())
  })

  it('[P27] a team under another number in one list is that team', () => {
    const more = [15, 16, 17].flatMap((id) => [
      lineup(14, { player_id: id, player_name: `Player ${id}`, jersey_number: id }),
      lineup(4, { player_id: id - 8, player_name: `Player ${id - 8}`, jersey_number: id - 8 }),
    ])
    const [rows, renamed] = [false, true].map((isRenamed) =>
      [...LINEUPS, ...more].map((row) => ({
        ...row,
        team_id: isRenamed && row['team_id'] === HOME ? 77 : row['team_id'],
        details: details({ ...STATS, 86: isRenamed ? 1 : 0 }),
      })),
    )
    const [said, other] = [{ over: { lineups: rows } }, { over: { lineups: renamed } }]
    const same = { over: { lineups: rows?.map((row) => ({ ...row, details: details({ ...STATS, 86: 1 }) })) } }
    expect(fed(said, other, other).bases()).toEqual(fed(said, same, same).bases())
    expect(fed(said, other).state.info.squad).toHaveLength(15)
  })

  it('[P24] a card of a coach is no card of the player who has the same number', () => {
    const card = event(1, 20, 4, 40, { coach_id: 4 })
    const shown: Said = { over: { events: [card] } }
    expect(fed({}, shown, shown).bases()).toEqual(fed({}, {}, {}).bases())
    expect(fed({}, shown, shown).playing()).toContain(4)
  })
})
