/** Fields that are told in another form, or in a place that contradicts the rest. */
import { describe, expect, it } from 'vitest'
import { instrumentId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { FedMatch } from '../support/fed-match.ts'
import {
  AWAY,
  counts,
  details,
  event,
  fed,
  goal,
  HOME,
  lineup,
  lineups,
  LINEUPS,
  payload,
  type Row,
  type Said,
  scored,
  STATS,
} from '../support/fed-polls.ts'

const options = { instrumentIdOf: (id: number) => instrumentId(`i-${id}`), receivedAt: instant(1_700_000_000_000) }

describe('fields in another form', () => {
  it.each<[string, (value: unknown, type: number) => Row]>([
    ['in the row', (value, type) => ({ type_id: type, value })],
    ['without an object', (value, type) => ({ type_id: type, data: value })],
    ['as a total', (value, type) => ({ type_id: type, data: { value: { total: value } } })],
    ['of all', (value, type) => ({ type_id: type, data: { value: { all: { count: value } } } })],
    ['with its type included', (value, type) => ({ type: { id: type }, data: { value } })],
  ])('[P21] a statistic is one wherever its value is: %s', (_, form) => {
    const rows = Object.entries(counts).map(([type, value]) => form(value, Number(type)))
    const told = (of: unknown): Said => ({ over: { lineups: lineups({ 4: { details: of } }) } })
    expect(fed(told(rows)).bases()).toEqual(fed(told(details(counts))).bases())
  })

  it('[P21] a statistic that is nested without end is none', () => {
    const deep = JSON.parse(`${'{"value":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as unknown
    const told: Said = { over: { lineups: lineups({ 4: { details: [{ type_id: 80, data: deep }] } }) } }
    expect(fed(told).bases()).toEqual(fed({}).bases())
  })

  it('[P24] a number that is only in what the provider includes is the same', () => {
    const included = (row: Row): Row => ({ ...row, player_id: null, player: { id: row['player_id'] } })
    const rows = lineups({ 4: { details: details({ ...STATS, 52: 1 }) } }).map(included)
    const said: Said = { ...scored, over: { events: [included(goal)], lineups: rows } }
    expect(fed(said).bases()).toEqual(fed(scored).bases())
  })

  it('[P24] a line-up may list one of the teams without its number', () => {
    const eleven = (team: number | null, from: number): readonly Row[] =>
      Array.from({ length: 13 }, (_, n) =>
        lineup(11, { player_id: from + n, team_id: team, type_id: n < 11 ? 11 : 12 }),
      )
    const said = parseFixture(payload(1, { over: { lineups: [...eleven(HOME, 100), ...eleven(null, 200)] } }), options)
    const sides = said.ok ? said.snapshot.players.map(({ side }) => side) : []
    expect([sides.length, sides.filter((side) => side === 'away').length]).toEqual([26, 13])
  })

  it('[P24] a list may stand in `data`', () => {
    const said: Said = { ...scored, over: { lineups: lineups({ 4: { details: details(counts) } }) } }
    const inData = { data: said.over?.['lineups'] }
    expect(fed({ ...said, over: { lineups: inData } }).bases()).toEqual(fed(said).bases())
  })

  it('[P24] a row that gives only a name is about the listed player of that name', () => {
    const off = event(2, 18, 6, 39, { related_player_id: 3, related_player_name: 'Player 3' })
    const told = (...events: readonly Row[]): Said => ({ ...scored, over: { ...scored.over, events } })
    const named = [goal, off].map((row) => ({ ...row, player_id: null, related_player_id: null }))
    const match = fed(told(...named))
    expect(match.bases()).toEqual(fed(told(goal, off)).bases())
    expect(match.playing()).not.toContain(3)
    const unread = { ...goal, player_id: 4.5 }
    expect(fed(told(unread)).events()).toEqual([[1, null, false]])
    const twins = [...LINEUPS, lineup(6, { player_id: 7, player_name: 'Player 4' })]
    const ambiguous: Said = { score: [1, 0], over: { lineups: twins, events: [{ ...goal, player_id: null }] } }
    expect(fed(ambiguous).events()).toEqual([[1, null, false]])
  })
})

describe('a row whose text says another kind than its type', () => {
  const told = (type: number, goals: number, over: Row): readonly Said[] => {
    const said: Said = { score: [goals, 0], over: { events: [event(1, type, 4, 38, over)] } }
    return [said, said]
  }
  const own = { player_id: 12, participant_id: HOME }

  it.each<[string, number, Row, number, number]>([
    ['an own goal', 14, { ...own, info: 'Own Goal' }, 15, 1],
    ['an own goal, filed under its player', 14, { ...own, participant_id: AWAY, addition: 'Own goal' }, 15, 1],
    ['a penalty goal', 14, { info: 'Penalty' }, 16, 1],
    ['a saved penalty', 16, { info: 'Penalty saved' }, 17, 0],
    ['a saved penalty, in short', 16, { addition: 'Saved' }, 17, 0],
    ['a second yellow card', 19, { info: 'Foul', addition: 'Second Yellow card' }, 21, 0],
  ])('[P24] is of that: %s', (_, type, over, real, goals) => {
    const [match, right] = [fed(...told(type, goals, over)), fed(...told(real, goals, over))]
    expect(match.state.info.events).toEqual(right.state.info.events)
    expect(match.bases()).toEqual(right.bases())
    expect(match.playing()).toEqual(right.playing())
  })

  it.each<[number, Row, number]>([
    [14, { info: 'Goal after penalty saved' }, 1],
    [14, { info: 'Penalty confirmed' }, 1],
    [16, { info: 'Saved, then scored' }, 1],
    [19, { addition: '2nd Yellowcard' }, 0],
  ])('[P24] is of its type where it only mentions one: %i, %j', (type, over, goals) => {
    expect(fed(...told(type, goals, over)).bases()).toEqual(fed(...told(type, goals, {})).bases())
  })
})

describe('a second booking', () => {
  const twice: Said = { over: { events: [event(1, 19, 4, 20), event(2, 19, 4, 38)] } }
  const stated = (cards: object): Said => ({
    over: { ...twice.over, lineups: lineups({ 4: { details: details({ ...STATS, ...cards }) } }) },
  })

  it('[P24] of a player whose statistics count two dismisses them', () => {
    for (const cards of [{ 84: 2 }, { 84: 1, 85: 1 }]) {
      const match = fed(stated(cards), stated(cards))
      expect(match.playing()).not.toContain(4)
    }
    expect(fed(stated({ 84: 1 }), stated({ 84: 1 })).playing()).toContain(4)
    expect(fed(twice, twice).playing()).toContain(4)
  })

  it('[P24] within two minutes is the first one', () => {
    const near: Said = { over: { ...stated({ 84: 2 }).over, events: [event(1, 19, 4, 20), event(2, 19, 4, 22)] } }
    expect(fed(near, near).playing()).toContain(4)
  })
})

/** Eleven of each team, and two on each bench. */
const squads = [HOME, AWAY].flatMap((team) =>
  Array.from({ length: 13 }, (_, n): Row => {
    const over = { player_id: team * 10 + n, player_name: `Player ${team} ${n}`, team_id: team, jersey_number: n + 1 }
    return lineup(2, { ...over, type_id: n < 11 ? 11 : 12, details: n < 11 ? details(STATS) : [] })
  }),
)
const eleven = squads.filter((row) => row['type_id'] === 11).map((row) => Number(row['player_id']))
const listing = (change: (row: Row) => Row | readonly Row[]): Said => ({ over: { lineups: squads.flatMap(change) } })

describe('line-ups that contradict the rest', () => {
  it('[P25] of a squad that is listed as starters those have started who have done something', () => {
    const [all, none] = [{ type_id: 11 }, { type_id: 11, details: [] }]
    const match = new FedMatch()
    match.poll(
      payload(
        1,
        listing((row) => ({ ...row, ...none })),
      ),
    )
    expect(match.playing()).toEqual([])
    const few = listing((row) => ({ ...row, ...(Number(row['player_id']) % 2 === 0 ? all : none) }))
    const whole = listing((row) => ({ ...row, ...all }))
    for (const [n, said] of [few, whole, whole].entries()) match.poll(payload(n + 2, said))
    expect(match.playing()).toEqual(eleven)
    const substitutes = listing((row) => ({ ...row, ...all, details: details(STATS) }))
    for (const n of [5, 6, 7]) match.poll(payload(n, substitutes))
    expect(match.playing()).toEqual(eleven)
  })

  it.each<[string, (row: Row) => Row | readonly Row[]]>([
    ['a third team', (row) => ({ ...row, team_id: 777 })],
    ['no team', (row) => ({ ...row, team_id: null })],
    ['both teams', (row) => [{ ...row, team_id: AWAY, details: [] }, row]],
  ])('[P27] a starter of %s is of the one that lacks an eleventh', (_, change) => {
    const parsed = parseFixture(
      payload(
        1,
        listing((row) => (row['player_id'] === 103 ? change(row) : row)),
      ),
      options,
    )
    const found = parsed.ok ? parsed.snapshot.players.filter(({ playerId }) => playerId === 103) : []
    expect(found.map(({ side, starter }) => [side, starter])).toEqual([['home', true]])
  })
})

const FIRST = { id: 1, type_id: 1, counts_from: 0, minutes: 47, seconds: 0, ticking: false }
const secondHalf = (minute: number, over: Row = {}): Said => ({
  over: {
    state: { state: 'INPLAY_2ND_HALF' },
    state_id: 22,
    periods: [FIRST, { id: 2, type_id: 2, counts_from: 45, minutes: minute, seconds: 0, ticking: true }],
    ...over,
  },
})

describe('rows and states that contradict the clock', () => {
  it('[P3] half time that is shown for more than five minutes of the second half is over', () => {
    const minutes = [46, 48, 50, 52, 54]
    const left = minutes.map((minute) => secondHalf(minute, { state: { state: 'HT' }, state_id: 3 }))
    const right = fed(...minutes.map((minute) => secondHalf(minute)))
    expect(fed(...left).base(4)).toBeCloseTo(right.base(4) ?? 0, 1)
    expect(fed(...left).state.info.phase).toBe('live')
    const short = fed(...left.slice(0, 3))
    expect(short.state.info.phase).toBe('break')
  })

  it.each([
    ['NS', 1, 0],
    ['DELAYED', 1, 0],
    ['BREAK', 5_314, 90],
    ['EXTRA_TIME_BREAK', 39, 105],
  ])('[P3] so is any other state that waits for a period which runs: %s', (state, type, from) => {
    const told = (minute: number): Said => ({
      over: {
        state: { state },
        state_id: null,
        periods: [{ id: 3, type_id: type, counts_from: from, minutes: from + minute, seconds: 0, ticking: true }],
      },
    })
    const match = new FedMatch()
    const phases = [2, 4, 6].map((minute, n) => {
      match.poll(payload(n + 1, told(minute)))
      return match.state.info.phase
    })
    expect(phases).toEqual([expect.not.stringMatching('live'), expect.not.stringMatching('live'), 'live'])
  })

  it('[P25] a row is of the period of its minute where the one that it names had ended before', () => {
    const off = (period_id: number) => event(1, 18, 6, 70, { related_player_id: 4, period_id })
    const told = (row: Row): Said => secondHalf(80, { events: [row] })
    expect(fed(told(off(1)), told(off(1))).bases()).toEqual(fed(told(off(2)), told(off(2))).bases())
  })
})
