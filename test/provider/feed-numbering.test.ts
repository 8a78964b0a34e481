/** Teams, players, kinds and minutes that are told under another number, or under none. */
import { describe, expect, it } from 'vitest'
import { FedMatch } from '../support/fed-match.ts'
import {
  AWAY,
  busy,
  counts,
  details,
  event,
  fed,
  goal,
  HOME,
  lineup,
  LINEUPS,
  lineups,
  payload,
  type Row,
  type Said,
  scored,
  STATS,
} from '../support/fed-polls.ts'

const scores = (home: unknown, away: unknown, over: (row: Row) => Row): Row => ({
  scores: [
    over({ participant_id: HOME, score: { goals: home, participant: 'home' }, description: 'CURRENT', type_id: 1525 }),
    over({ participant_id: AWAY, score: { goals: away, participant: 'away' }, description: 'CURRENT', type_id: 1525 }),
  ],
})
const scoreOf = (match: FedMatch): readonly unknown[] => [match.state.info.home.goals, match.state.info.away.goals]

describe('a score', () => {
  it.each<[string, Row]>([
    ['without the number of its team', { participant_id: null }],
    ['without its description', { description: null }],
  ])('[P11] is one %s', (_, over) => {
    const said = { ...scored, over: { ...scored.over, ...scores(1, 0, (row) => ({ ...row, ...over })) } }
    const match = fed(said, said)
    expect(match.bases()).toEqual(fed(scored, scored).bases())
    expect(scoreOf(match)).toEqual([1, 0])
    const away = { over: scores(0, 1, (row) => ({ ...row, ...over })) }
    expect(scoreOf(fed(away, away))).toEqual([0, 1])
    const rows = busy(counts).over?.['lineups'] as readonly Row[]
    const named = rows.map((row) => (row['team_id'] === AWAY ? { ...row, team_id: null } : row))
    const teamless = { over: { ...away.over, lineups: named } }
    expect(scoreOf(fed(teamless, teamless)), 'nor of the team that line-ups leave out').toEqual([0, 1])
  })

  it('[P11] that is told no more has the goals that list and statistics agree on', () => {
    const silent: Said = { ...scored, over: { ...scored.over, scores: [] } }
    const match = fed(silent, silent)
    expect(scoreOf(match)).toEqual([1, 0])
    expect(match.bases()).toEqual(fed(scored, scored).bases())
    const unstated: Said = { over: { events: [goal], scores: [] } }
    expect(scoreOf(fed(unstated, unstated))).toEqual([0, 0])
  })
})

describe('teams and players under another number', () => {
  it('[P27] are on the sides that the score names', () => {
    const moved = (row: Row): Row => ({ ...row, team_id: Number(row['team_id']) + 700 })
    const { over: told = {} } = busy(counts)
    const rows = told['lineups'] as readonly Row[]
    const over = {
      ...scores(0, 0, (row) => ({ ...row, participant_id: Number(row['participant_id']) + 700 })),
      lineups: rows.map(moved),
    }
    expect(fed({ over }, { over }).bases()).toEqual(fed(busy(counts), busy(counts)).bases())
  })

  const numbered = (id: number, over: Row = {}): Said => {
    const rows = LINEUPS.map((row) => ({ ...row, jersey_number: null }))
    return {
      over: {
        lineups: rows.map((row) =>
          row['player_id' as keyof typeof row] === 4 ? { ...row, ...over, player_id: id } : row,
        ),
      },
    }
  }

  it('[P29] are known by their whole name, where no shirt has a number', () => {
    const match = fed(numbered(4), numbered(777), numbered(777))
    expect(match.bases()).toEqual(fed(numbered(4), numbered(4), numbered(4)).bases())
    expect(match.playing()).toContain(4)
    const other = fed(numbered(4), numbered(777, { player_name: 'New 4' }), numbered(777, { player_name: 'New 4' }))
    expect(Object.keys(other.bases())).toContain('777')
  })

  it('[P29] are another where two players had that name', () => {
    const twin = lineup(6, { player_id: 8, player_name: 'Player 4', jersey_number: null, type_id: 11 })
    const told = (...gone: readonly number[]): Said => {
      const rows = [...LINEUPS.map((row) => ({ ...row, jersey_number: null })), twin]
      const fresh = { ...twin, player_id: 777 }
      const left = rows.filter((row) => !gone.includes(Number(row['player_id' as keyof typeof row])))
      return { over: { lineups: gone.length === 0 ? left : [...left, fresh] } }
    }
    expect(Object.keys(fed(told(), told(4, 8), told(4, 8)).bases())).toContain('777')
  })
})

describe('a row with the number of a stranger', () => {
  const told = (...events: readonly Row[]): Said => ({ ...scored, over: { ...scored.over, events } })
  const red = event(2, 20, 2, 40)
  const change = event(3, 18, 6, 40, { related_player_id: 3, related_player_name: 'Player 3' })
  const [on, off] = [{ player_id: 777 }, { related_player_id: 778 }]

  it('[P24] is about the listed player of its name', () => {
    const right = fed(...[1, 2, 3].map(() => told(goal, red, change)))
    const stranger = told({ ...goal, ...on }, { ...red, ...off, player_id: 779 }, { ...change, ...on, ...off })
    const match = fed(stranger, stranger, stranger)
    expect(match.bases()).toEqual(right.bases())
    expect(match.playing()).toEqual([1, 4, 6, 11, 12, 13, 14])
    expect(match.events()).toEqual(right.events())
  })

  it('[P24] is about a stranger, where the name is of the other side, of two, or only the last word', () => {
    const unlisted = fed(told({ ...change, ...on, player_name: 'New 7' }))
    expect(Object.keys(unlisted.bases())).toContain('777')
    const namesake = fed(told({ ...change, ...on, player_name: 'Player 2' }))
    expect(Object.keys(namesake.bases()), 'who has started does not come on').toContain('777')
    const rows: readonly Row[] = [{ participant_id: AWAY }, { player_name: 'Other 6' }, { player_name: '6' }]
    for (const over of rows) expect(fed(told(goal, { ...red, ...on, ...over })).playing()).toHaveLength(8)
    const twins = [...LINEUPS, lineup(6, { player_id: 7, player_name: 'Player 2' })]
    const ambiguous: Said = { over: { lineups: twins, events: [{ ...red, ...on }] } }
    expect(fed(ambiguous).playing()).toContain(2)
  })
})

describe('one player under two numbers', () => {
  const squad = [HOME, AWAY].flatMap((team) =>
    Array.from({ length: 11 }, (_, n): Row => {
      const of = { player_id: team * 10 + n, player_name: `Player ${team} ${n}`, team_id: team, jersey_number: n + 1 }
      return lineup(2, { ...of, details: [] })
    }),
  )
  const listing = (...rows: readonly Row[]): FedMatch => {
    const match = new FedMatch()
    for (const n of [1, 2, 3]) match.poll(payload(n, { over: { lineups: [...squad, ...rows] } }))
    return match
  }
  const twin: Row = { ...squad[8], player_id: 777 }

  it('[P25] starts once, so that no one is the twelfth', () => {
    const match = listing(twin)
    expect(match.playing()).toEqual(listing().playing())
    expect(match.bases()).toEqual(listing().bases())
    expect(match.playing()).toHaveLength(22)
  })

  it.each<[string, Row]>([
    ['shirt', { jersey_number: 40 }],
    ['name', { player_name: 'Player 40' }],
  ])('[P25] is another player with another %s', (_, over) => {
    expect(Object.keys(listing({ ...twin, type_id: 12, ...over }).bases())).toContain('777')
  })
})

describe('line-ups without types and positions', () => {
  it('[P25] have as starters who has a place in the formation', () => {
    const told = (of: (starter: boolean) => Row): Said => ({
      over: { lineups: LINEUPS.map((row) => ({ ...row, ...of(row['type_id' as keyof typeof row] === 11) })) },
    })
    const match = new FedMatch()
    match.poll(
      payload(
        1,
        told((starter) => ({ type_id: null, formation_field: starter ? '2:1' : null })),
      ),
    )
    expect(match.playing()).toEqual([1, 2, 3, 4, 11, 12, 13, 14])
  })

  it.each<[string, Row]>([
    ['the usual one of the player', { position_id: null, player: { position_id: 24 } }],
    ['that of the first line', { position_id: null, formation_field: '1:1' }],
    ['that of the first line, where it is unknown', { position_id: 28, formation_field: '1:1' }],
  ])('[P27] have as role %s', (_, over) => {
    const [match, plain] = [new FedMatch(), new FedMatch()]
    match.poll(payload(1, { over: { lineups: lineups({ 1: over, 11: over }) } }))
    plain.poll(payload(1, {}))
    expect(match.bases()).toEqual(plain.bases())
  })
})

const FIRST = { id: 1, type_id: 1, counts_from: 0, minutes: 47, seconds: 0, ticking: false }
const second = (minutes: number, over: Row = {}, from = 45): Said => ({
  over: {
    state: { state: 'INPLAY_2ND_HALF' },
    state_id: 22,
    periods: [FIRST, { id: 2, type_id: 2, counts_from: from, minutes, seconds: 0, ticking: true }],
    ...over,
  },
})

describe('minutes of a half', () => {
  const played = (from: number, ...minutes: readonly number[]): readonly number[] =>
    fed(...minutes.map((minute) => second(minute, {}, from))).state.pricing.beliefs.periods.map((p) => p.elapsedSecs)

  it.each([45, 0])('[P21] are those of its clock, which goes on into added time: counts from %d', (from) => {
    const own = [2, 10, 18, 26, 34, 39, 41, 43, 44, 45, 46, 48]
    expect(played(from, ...own)).toEqual([47 * 60, 48 * 60])
    expect(played(45, ...own.map((minute) => minute + 45))).toEqual([47 * 60, 48 * 60])
  })

  it('[P21] are none where a half has just begun, and its clock is behind', () => {
    expect(played(45, 43)).toEqual([47 * 60, 0])
    expect(played(45, 43, 44, 46)).toEqual([47 * 60, 60])
  })

  const off = (minute: number, over: Row = {}): Row => event(1, 18, 6, minute, { related_player_id: 4, ...over })
  const halves = (row: Row): FedMatch =>
    fed(...[50, 58, 66, 70, 74, 80].map((minute) => second(minute, { events: minute < 70 ? [] : [row] })))

  it('[P25] are those of the match, where a new row is of now only so', () => {
    expect(halves(off(25)).bases()).toEqual(halves(off(70, { period_id: 2 })).bases())
    expect(halves(off(25)).state.info.events.map(({ minute }) => minute)).toEqual([70])
    expect(halves(off(12)).state.info.events.map(({ minute }) => minute)).toEqual([12])
  })

  it('[P25] with added time are of no earlier half than the row says', () => {
    const late = (row: Row): FedMatch =>
      fed(...[60, 70, 80, 90, 92, 93].map((minute) => second(minute, { events: minute < 92 ? [] : [row] })))
    const told = late(off(90, { extra_minute: 2, period_id: 2 }))
    const own = late(off(45, { extra_minute: 2, period_id: 2 }))
    expect(own.base(4)).toBeCloseTo(told.base(4) ?? 0, 0)
  })
})

describe('a goal', () => {
  const miss = event(2, 17, 4, 38, { addition: 'Missed Penalty' })
  const both = (of: Row): Said => ({
    score: [1, 0],
    over: { events: [goal, miss], lineups: lineups({ 4: { details: details({ ...STATS, ...of }) } }) },
  })

  it('[P24] that is listed as a missed penalty too is none, unless the statistics have it', () => {
    const match = fed(both({ 52: 1 }), both({ 52: 1 }))
    expect(match.bases()).toEqual(fed(scored, scored).bases())
    const rebound = fed(both({ 52: 1, 112: 1 }), both({ 52: 1, 112: 1 }))
    expect(rebound.base(4)).toBeLessThan(match.base(4) ?? 0)
  })

  it('[P13] of the match is no kick, where a shoot-out has no current score', () => {
    const over = { state: { state: 'INPLAY_PENALTIES' }, state_id: 9, scores: [], events: [{ ...goal, result: '1-0' }] }
    expect(fed({ over }).state.info.events.map(({ kind }) => kind)).toEqual(['goal'])
    expect(fed({ over }).state.info.home.shootout).toBeUndefined()
  })

  it.each([{}, { period_id: 39 }])('[P13] of the last minute is no kick of the shoot-out after it: %j', (own) => {
    const lasted = (id: number, countsFrom: number, minutes: number, ticking = false): Row => ({
      id,
      type_id: id,
      counts_from: countsFrom,
      minutes,
      seconds: 0,
      ticking,
    })
    const [others, last] = [[lasted(1, 0, 45), lasted(2, 45, 90), lasted(5314, 90, 105)], lasted(39, 105, 120)]
    const late = event(1, 14, 4, 120, own)
    const said = (over: Row): Said => ({
      score: [1, 0],
      over: { events: [late], lineups: lineups({ 4: { details: details({ ...STATS, 52: 1 }) } }), ...over },
    })
    const before = said({ state: { state: 'INPLAY_ET_2ND_HALF' }, periods: [...others, { ...last, ticking: true }] })
    const kicks = said({ state: { state: 'INPLAY_PENALTIES' }, periods: [...others, last, lasted(5, 120, 120, true)] })
    const match = fed(before, before, kicks, kicks)
    expect(match.state.info.events.map(({ kind }) => kind)).toEqual(['goal'])
    expect(scoreOf(match)).toEqual([1, 0])
    expect(match.base(4)).toBe(fed(before, before).base(4))
  })

  it('[P13] of a shoot-out is none, whatever it is called', () => {
    const kick = (type: number): Said => ({
      over: {
        state: { state: 'INPLAY_PENALTIES' },
        state_id: 9,
        periods: [FIRST, { id: 5, type_id: 5, counts_from: 120, minutes: 120, seconds: 1, ticking: true }],
        events: [event(1, type, 4, 120, { period_id: 5 })],
      },
    })
    const match = fed(kick(14), kick(14))
    expect(match.bases()).toEqual(fed(kick(23), kick(23)).bases())
    expect(match.state.info.home.shootout).toBe(1)
  })
})
