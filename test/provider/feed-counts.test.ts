/** Statistics of one player that are wrong for more than one poll. */
import { describe, expect, it } from 'vitest'
import { FedMatch } from '../support/fed-match.ts'
import {
  AWAY,
  busy,
  counts,
  details,
  event,
  fed,
  HOME,
  lineup,
  lineups,
  LINEUPS,
  payload,
  type Row,
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

  it('[P21] are none where the first that a match tells are those of an earlier one', () => {
    const early = (of: (n: number) => Readonly<Record<number, number>>): Said => ({
      minute: 0,
      over: { lineups: LINEUPS.map((row, n) => ({ ...row, details: details(of(n)) })) },
    })
    const none = early(() => ({}))
    const old = early((n) => ({ 80: 60 + n, 116: 50 + n, ...(n === 3 ? { 84: 1 } : {}) }))
    const now = early((n) => ({ 80: n % 3, 116: n % 2 }))
    const only = (...polls: readonly Said[]) => {
      const match = new FedMatch()
      for (const [n, said] of polls.entries()) match.poll(payload(n, said))
      return match.bases()
    }
    expect(only(none, old, ...often(6, now))).toEqual(only(none, ...often(7, now)))
  })

  describe('of one team', () => {
    const usual = (player: number): number => 20 + (player % 5)
    const others = [15, 16].map((id) => lineup(14, { player_id: id, jersey_number: id, player_name: `Player ${id}` }))
    /** Every player has done as much as usual, and more; unless this says otherwise of a team. */
    const told = (more: number, home = usual, away = usual): Said => ({
      over: {
        lineups: [...LINEUPS, ...others].map((row) => {
          const player = Number(row['player_id'])
          const n = (row['team_id'] === AWAY ? away : home)(player) + more
          return { ...row, details: details({ ...STATS, 80: n, 116: n }) }
        }),
      },
    })
    const none = (): number => 0
    const whole = often(2, told(0))

    it('[P22] that begin again are added to what was known', () => {
      const begun = [...often(6, told(0, usual, none)), told(1, usual, none)]
      expect(fed(...whole, ...begun).bases()).toEqual(fed(...whole, ...often(6, told(0)), told(1)).bases())
    })

    it('[P22] begin again although those of the other have, and end alone', () => {
      const repaired = (more: number): Said => told(more, usual, () => -1)
      const polls = [told(0, none), told(1, none), told(1, none, () => -1), told(2, none, () => -1), repaired(2)]
      const known = [told(0), ...often(3, told(1)), ...often(4, told(2))]
      expect(fed(...whole, ...polls, ...often(3, repaired(2))).bases()).toEqual(fed(...whole, ...known).bases())
    })

    it('[P22] begin again with those of the other, though they tell more of them', () => {
      const since = (player: number): number => player % 3
      const [ours, theirs] = [(player: number) => 20 + since(player), (player: number) => 2 + since(player)]
      const begun = [...often(2, told(0, since, since)), told(1, since, since)]
      // What it tells first has been done since it began.
      const then = (more: number): Said =>
        told(
          more,
          (n) => ours(n) + since(n),
          (n) => theirs(n) + since(n),
        )
      const wholes = often(2, told(0, ours, theirs))
      expect(fed(...wholes, ...begun).bases()).toEqual(fed(...wholes, told(0, ours, theirs), then(0), then(1)).bases())
    })

    it('[P22] are not added where they were old', () => {
      const old = often(
        2,
        told(0, usual, (player) => 2 + (player % 3)),
      )
      expect(fed(...whole, ...old, ...often(8, told(0))).bases()).toEqual(fed(...whole, ...often(10, told(0))).bases())
      // The second may be taken for a beginning: then the right ones are a leap, and said to be one until they stay.
      const few = (player: number): number => 3 + (player % 3)
      const twice = often(2, told(0, few, few))
      expect(fed(...whole, ...twice, ...often(8, told(0))).base(4)).toBe(fed(...whole, ...often(10, told(0))).base(4))
    })
  })

  it('[P22] wait where a row stands under the id of a team-mate, whose own is missing', () => {
    const busier = { 80: 33, 116: 27, 86: 3, 117: 3, 78: 3, 96: 4, 118: 7.3 }
    const withThird = (of: Readonly<Record<number, number>>, rest: readonly Row[]): Said => ({
      over: {
        lineups: rest.map((row) => (row['player_id'] === 3 ? { ...row, details: details(of) } : row)),
      },
    })
    const rows = lineups({ 4: { details: details(busier) } })
    const usual = withThird(STATS, rows)
    const silent = lineups({ 4: { details: [] } })
    for (const rest of [silent, silent.filter((row) => row['player_id'] !== 4)]) {
      expect(fed(usual, usual, withThird(busier, rest)).base(3)).toBe(fed(usual, usual, usual).base(3))
    }
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
