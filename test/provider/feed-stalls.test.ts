/** Parts of an answer that stand still while others go on, and first ones that are wrong. */
import { describe, expect, it } from 'vitest'
import { FedMatch } from '../support/fed-match.ts'
import {
  AWAY,
  busy,
  details,
  event,
  fed,
  goal,
  lineup,
  LINEUPS,
  lineups,
  payload,
  scored,
  STATS,
  type Said,
} from '../support/fed-polls.ts'

const often = (polls: number, said: Said): readonly Said[] => Array.from({ length: polls }, () => said)

/** A match after these polls, and no others. */
function only(...polls: readonly Said[]): FedMatch {
  const match = new FedMatch()
  for (const [n, said] of polls.entries()) match.poll(payload(n, said))
  return match
}

describe('statistics that are told no longer', () => {
  const told = (passes: number, minute = 40): Said => ({
    minute,
    over: {
      lineups: LINEUPS.map((row) =>
        row['player_id'] === 6 ? row : { ...row, details: details({ ...STATS, 80: passes }) },
      ),
    },
  })
  const moving = Array.from({ length: 35 }, (_, n) => told(20 + n))

  it('[P2] lower no price by what is expected of a player, after five minutes', () => {
    const before = only(...moving).base(4) ?? 0
    const still = only(...moving, told(54, 50), told(54, 60)).base(4) ?? 0
    const again = only(...moving, told(54, 50), told(55, 60)).base(4) ?? 0
    expect(before - again).toBeGreaterThan(2 * (before - still))
    // They count from the start once they are told again.
    expect(only(...moving, told(54, 50), told(54, 60), told(55, 60)).base(4)).toBeCloseTo(again, 1)
  })

  it('[P2] are no measure of a match in which they moved now and then', () => {
    const few = [told(20), told(21), told(22)]
    const [still = 0, again = 0] = [22, 23].map((n) => only(...few, told(22, 50), told(n, 60)).base(4) ?? 0)
    expect(Math.abs(still - again)).toBeLessThan(0.3)
  })
})

describe('a score that stands still', () => {
  const stuck: Said = { ...scored, score: [0, 0] }

  it('[P11] has the goals that the list has and the statistics state', () => {
    const match = fed(stuck, stuck, stuck)
    expect(match.bases()).toEqual(fed(scored, scored, scored).bases())
    expect(match.state.info.home.goals).toBe(1)
    const exchanged: Said = { ...scored, score: [0, 1] }
    expect(fed(scored, ...often(4, exchanged)).state.info).toMatchObject({ home: { goals: 1 }, away: { goals: 0 } })
    // A second one beside it, too.
    const second = event(2, 14, 3, 39)
    const two = (score: Said['score'] = [2, 0]): Said => ({
      score,
      over: {
        events: [goal, second],
        lineups: lineups({
          3: { details: details({ ...STATS, 52: 1 }) },
          4: { details: details({ ...STATS, 52: 1 }) },
        }),
      },
    })
    expect(fed(stuck, stuck, two([0, 0]), two([0, 0])).bases()).toEqual(fed(scored, scored, two(), two()).bases())
  })

  it('[P11] has none that one of the two does not tell, or that was taken back', () => {
    const unstated: Said = { over: { events: [goal] } }
    expect(fed(...often(4, unstated)).base(4)).toBe(fed(...often(4, {})).base(4))
    const review = event(2, 10, 4, 39, { addition: 'Goal Disallowed' })
    const annulled: Said = { ...stuck, over: { ...stuck.over, events: [goal, review] } }
    expect(fed(...often(4, annulled)).state.info.home.goals).toBe(0)
    // A review of an earlier goal says nothing of a later one.
    const earlier = event(2, 10, 4, 12, { addition: 'Goal Disallowed' })
    const reviewed: Said = { ...scored, over: { ...scored.over, events: [earlier, goal] } }
    expect(fed(...often(2, reviewed), ...often(4, { ...reviewed, score: [0, 0] })).state.info.home.goals).toBe(1)
    // Nor one of a later goal, or of the other team's.
    for (const after of [
      event(2, 10, null, 60, { participant_id: AWAY, addition: 'Goal Disallowed' }),
      event(2, 10, 4, 60, { addition: 'Goal Disallowed' }),
      event(2, 14, 4, 60, { rescinded: true }),
    ]) {
      const late: Said = { ...scored, minute: 62, over: { ...scored.over, events: [goal, after] } }
      expect(
        fed(...often(2, late), ...often(4, { ...late, score: [0, 0] })).state.info.home.goals,
        JSON.stringify(after),
      ).toBe(1)
    }
    // One that is dated without the added time, or some minutes later, means the goal.
    for (const [minute, extra, said] of [
      [45, 2, 45],
      [30, null, 34],
    ] as const) {
      const late = event(1, 14, 4, minute, { extra_minute: extra })
      const rows = [late, event(2, 10, 4, said, { addition: 'Goal Disallowed' })]
      const goes: Said = { ...scored, score: [0, 0], over: { ...scored.over, events: rows } }
      const counted: Said = { ...scored, over: { ...scored.over, events: [late] } }
      expect(fed(...often(2, counted), ...often(3, goes)).state.info.home.goals, `${minute}`).toBe(0)
    }
    // The score may fall some polls after the review, and the statistics later still.
    const unstuck: Said = { ...annulled, score: [0, 0] }
    expect(fed(scored, { ...annulled, score: [1, 0] }, ...often(3, unstuck)).state.info.home.goals).toBe(0)
    expect(fed(stuck, stuck, ...often(3, {})).state.info.home.goals).toBe(0)
  })
})

describe('a list that tells no goals', () => {
  const conceded: Said = {
    score: [1, 0],
    over: {
      lineups: [
        ...lineups({ 4: { details: details({ ...STATS, 52: 1 }) }, 11: { details: details({ ...STATS, 88: 1 }) } }),
        lineup(12, { player_id: 15, player_name: 'Player 15', jersey_number: 15, type_id: 12, details: [] }),
      ],
    },
  }
  const withRows = (...events: readonly object[]): Said => ({ ...conceded, over: { ...conceded.over, events } })
  const change = event(3, 18, 15, 41, { related_player_id: 12 })
  const later = (said: Said, minute: number): Said => ({ ...said, minute })

  it('[P14] has them conceded by all who were on the pitch when score and statistics first told of them', () => {
    const listed = fed(...often(3, withRows(goal)), later(withRows(goal), 44))
    const silent = fed(...often(3, withRows()), later(withRows(), 44))
    expect(silent.base(12)).toBeCloseTo(listed.base(12) ?? 0, 2)
    expect(silent.base(12)).toBeLessThan((fed(...often(3, {}), later({}, 44)).base(12) ?? 0) - 2)
    // Once the list tells of it, it is the same goal.
    const told = fed(...often(3, withRows()), later(withRows(goal), 44))
    expect(told.base(12)).toBeCloseTo(listed.base(12) ?? 0, 2)
    // Who comes on later has not conceded.
    const on = fed(...often(3, withRows()), later(withRows(change), 44))
    expect(on.base(15)).toBeGreaterThan(149.5)
    expect(on.base(12)).toBeLessThan(147)
  })

  it('[P14] tells of none that only the score has', () => {
    const score: Said = { score: [1, 0] }
    expect(fed(...often(3, score)).base(12)).toBe(fed(...often(3, {})).base(12))
  })
})

describe('a first rating', () => {
  const rated = (rating: number): Said => busy({ ...STATS, 118: rating })

  it.each([9.9, 3, 5.2])('[P18] of %d that leaps at once was none', (wrong) => {
    const match = only(...often(2, rated(wrong)), ...often(4, rated(7.1)))
    expect(match.base(4)).toBeCloseTo(only(...often(6, rated(7.1))).base(4) ?? 0, 1)
  })

  it('[P18] stays the first where a goal has moved it', () => {
    const after = (rating: number): Said => ({
      ...scored,
      over: { ...scored.over, lineups: lineups({ 4: { details: details({ ...STATS, 52: 1, 118: rating }) } }) },
    })
    const match = only(...often(2, rated(7.1)), ...often(4, after(8.4)))
    expect(match.base(4)).toBeGreaterThan((only(...often(2, rated(7.1)), ...often(4, after(7.1))).base(4) ?? 0) + 2)
  })
})

describe('players under other ids and names', () => {
  const named = (name: string, ...ids: readonly number[]): Said => ({
    over: {
      lineups: LINEUPS.map((row) => {
        const id = Number(row['player_id'])
        const isNew = ids.includes(id)
        return { ...row, player_id: isNew ? id + 50 : id, player_name: id === 4 || isNew ? name : row['player_name'] }
      }),
    },
  })
  const known = named('Vini Júnior')

  it('[P29] are who they were, with their number and the last word of their name', () => {
    const match = only(known, ...often(4, named('V. Junior', 4)))
    expect(match.base(54)).toBeNull()
    expect(match.bases()).toEqual(only(...often(5, known)).bases())
    expect(match.playing()).toContain(4)
  })

  it('[P29] are others where many are new', () => {
    expect(only(known, ...often(4, named('V. Junior', 2, 3, 4))).base(54)).not.toBeNull()
  })
})
