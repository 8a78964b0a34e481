import { describe, expect, it } from 'vitest'
import { instrumentId, playerId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { believe, firstBelief } from '../../actors/market/belief/believe.ts'
import { NO_BELIEFS } from '../../actors/market/belief/beliefs.ts'
import { matchMinute, type SaidFixture } from '../../actors/market/fixture.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { shortRecording } from '../support/short-recordings.ts'

const options = { instrumentIdOf: (id: number) => instrumentId(`i-${id}`), receivedAt: instant(1_700_000_000_000) }

/** A handwritten payload, away team first, of a match in its second half. */
const PAYLOAD = {
  id: 123,
  league_id: 8,
  league: { id: 8, name: 'Upper League' },
  state_id: 22,
  name: 'Harbour vs Mill',
  starting_at: '2026-08-22 15:00:00',
  starting_at_timestamp: 1_787_410_800,
  state: { id: 22, state: 'INPLAY_2ND_HALF', name: '2nd Half', short_name: '2nd', developer_name: 'INPLAY_2ND_HALF' },
  participants: [
    { id: 20, name: 'Mill', meta: { location: 'away', winner: null } },
    { id: 10, name: 'Harbour', meta: { location: 'home', winner: null } },
  ],
  scores: [
    { type_id: 1, participant_id: 10, score: { goals: 0, participant: 'home' }, description: '1ST_HALF' },
    { type_id: 1525, participant_id: 20, score: { goals: 2, participant: 'away' }, description: 'CURRENT' },
    { type_id: 1525, participant_id: 10, score: { goals: 1, participant: 'home' }, description: 'CURRENT' },
  ],
  periods: [
    { id: 52, type_id: 2, counts_from: 45, ticking: true, sort_order: 2, period_length: 45, minutes: 61, seconds: 20 },
    { id: 51, type_id: 1, counts_from: 0, ticking: false, sort_order: 1, period_length: 45, minutes: 47, seconds: 5 },
  ],
  events: [
    {
      id: 901,
      type_id: 14,
      participant_id: 10,
      period_id: 51,
      detailed_period_id: 51,
      player_id: 1001,
      related_player_id: 1002,
      player_name: 'Ada Oak',
      related_player_name: 'Bo Elm',
      minute: 45,
      extra_minute: 2,
      result: '1-0',
      addition: '1st Goal',
      rescinded: null,
    },
    { id: 902, type_id: 20, participant_id: 20, period_id: 52, player_id: 2001, minute: 55, rescinded: true },
    { id: 903, type_id: 4242, participant_id: 20, period_id: 52, player_id: 2001, minute: 56 },
  ],
  statistics: [
    {
      type_id: 45,
      participant_id: 10,
      data: { value: 63 },
      location: 'home',
      type: { id: 45, name: 'Ball Possession %' },
    },
    { type_id: 42, participant_id: 20, data: { value: '7' }, location: 'away' },
  ],
  lineups: [
    {
      player_id: 1001,
      team_id: 10,
      position_id: 27,
      type_id: 11,
      player_name: 'Ada Oak',
      jersey_number: 9,
      details: [
        { type_id: 118, data: { value: '7.25' } },
        { type_id: 86, data: { value: 2 } },
        { type_id: 40, data: { value: true } },
        { type_id: 80, data: null },
      ],
    },
    {
      player_id: 2001,
      team_id: 20,
      position_id: 24,
      type_id: 12,
      player_name: 'Cy Yew',
      jersey_number: 1,
      details: [],
    },
  ],
}

function parse(over: Record<string, unknown> = {}): SaidFixture {
  const parsed = parseFixture({ ...PAYLOAD, ...over }, options)
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.snapshot
}

const minuteOf = (said: SaidFixture): number | null => matchMinute(firstBelief(said).periods)

describe('a payload', () => {
  it('becomes a snapshot: home and away by location, the current score, the clock, state and start', () => {
    expect(parse()).toMatchObject({
      fixtureId: 123,
      name: 'Harbour vs Mill',
      league: 'Upper League',
      startsAt: 1_787_410_800_000,
      state: 'INPLAY_2ND_HALF',
      stateId: 22,
      home: { id: 10, name: 'Harbour', goals: 1 },
      away: { id: 20, name: 'Mill', goals: 2 },
      sourceAt: 1_700_000_000_000,
    })
    expect(parse().periods.map((p) => [p.order, p.kind, p.elapsedSecs, p.ticking])).toEqual([
      [1, 'first_half', 47 * 60 + 5, false],
      [2, 'second_half', 16 * 60 + 20, true],
    ])
    expect(minuteOf(parse())).toBe(61)
  })

  it('lists events by type, with side, period and rescinded cards; an unknown type is other', () => {
    const [goal, red, strange] = parse().events ?? []
    expect(goal).toEqual({
      id: 901,
      kind: 'goal',
      minute: 45,
      extraMinute: 2,
      period: 1,
      side: 'home',
      playerId: 1001,
      playerName: 'Ada Oak',
      relatedPlayerId: 1002,
      relatedPlayerName: 'Bo Elm',
      result: '1-0',
      addition: '1st Goal',
      rescinded: false,
    })
    expect(red).toMatchObject({ kind: 'red', rescinded: true, period: 2, side: 'away', relatedPlayerId: null })
    expect(strange?.kind).toBe('other')
  })

  it('lists players with numeric statistics; a missing one is unknown, not zero', () => {
    expect(parse().players).toEqual([
      {
        playerId: 1001,
        instrumentId: 'i-1001',
        name: 'Ada Oak',
        side: 'home',
        role: 'FWD',
        jersey: 9,
        starter: true,
        details: { 118: 7.25, 86: 2 },
      },
      {
        playerId: 2001,
        instrumentId: 'i-2001',
        name: 'Cy Yew',
        side: 'away',
        role: 'GK',
        jersey: 1,
        starter: false,
        details: null,
      },
    ])
  })

  it('[P22] has the count that is ahead, where a list has several of a statistic', () => {
    const details = [12, 31, 0].map((value) => ({ type_id: 80, data: { value } }))
    expect(parse({ lineups: [{ ...PAYLOAD.lineups[0], details }] }).players[0]?.details).toEqual({ 80: 31 })
  })

  it("uses the provider's team statistics, or the sum over the players if they are missing", () => {
    expect(parse().teamStats).toEqual({ home: { 'Ball Possession %': 63 }, away: { 'Shots Total': 7 } })
    expect(firstBelief(parse({ statistics: [] })).teamStats).toEqual({ home: { 'Shots On Target': 2 }, away: {} })
    expect(parse({ statistics: null, lineups: null }).teamStats).toBeNull()
  })

  it('the sums over the players go once the provider has team statistics, which stay when it sends none', () => {
    const first = firstBelief(parse({ statistics: [] }))
    const then = believe(parse(), { ...first, squad: first.players, events: [] }, NO_BELIEFS).snapshot
    expect(then.teamStats).toEqual({ home: { 'Ball Possession %': 63 }, away: { 'Shots Total': 7 } })
    const teamStats = { home: { 'Shots On Target': 4 }, away: {} }
    const known = { ...then, squad: then.players, events: [], teamStats }
    expect(believe(parse({ statistics: [] }), known, NO_BELIEFS).snapshot.teamStats).toEqual(teamStats)
  })

  it('may lack every include, and contain strings for numbers, nulls and invalid rows', () => {
    const bare = parse(
      Object.fromEntries(
        ['league', 'scores', 'periods', 'events', 'statistics', 'lineups', 'state'].map((k) => [k, undefined]),
      ),
    )
    expect(bare).toMatchObject({ league: 'League 8', state: null, stateId: 22, periods: [], events: null, players: [] })
    expect([bare.home.goals, bare.away.goals]).toEqual([null, null])
    const odd = parse({
      id: '123',
      state_id: '22',
      state: { id: 22, state: 'SOMETHING_NEW' },
      starting_at_timestamp: null,
      scores: [{ participant_id: '10', score: { goals: '3' }, description: 'CURRENT' }, null, 'x', { score: null }],
      periods: [{ ...PAYLOAD.periods[0], minutes: '61', seconds: null }, { id: 9, type_id: 777 }, 5],
      events: [{ id: 1, type_id: 18, player_id: '7', minute: '60' }, { type_id: 14 }, null],
      lineups: [{ player_id: '5', team_id: '20', position_id: 28, details: {} }, { player_id: 6, team_id: 99 }, {}],
    })
    expect(odd).toMatchObject({ fixtureId: 123, state: 'SOMETHING_NEW', stateId: 22, startsAt: 1_787_410_800_000 })
    expect(odd.home.goals).toBe(3)
    expect(odd.periods.map((p) => p.elapsedSecs)).toEqual([960])
    expect(odd.events?.map((e) => [e.kind, e.playerId, e.minute])).toEqual([['substitution', 7, 60]])
    expect(odd.players.map((p) => [p.playerId, p.side, p.role, p.details])).toEqual([[5, 'away', null, null]])
  })

  it('may list events without an id, or with one of another kind: the same ones have the same one', () => {
    const row = { type_id: 14, participant_id: 10, player_id: 7, minute: 60 }
    const idOf = (over: object) => parse({ events: [{ ...row, ...over }] }).events?.[0]?.id
    const id = idOf({ id: 'ev-7' })
    expect([idOf({}), idOf({ id: null }), idOf({ id: 0, minute: "60'" })]).toEqual([id, id, id])
    expect(new Set([id, idOf({ minute: 61 }), idOf({ player_id: 8 }), idOf({ type_id: 20 })]).size).toBe(4)
    expect(Number.isSafeInteger(idOf({ type_id: 1697, minute: 150, player_id: 2 ** 52 }))).toBe(true)
  })

  it('that is not a fixture is rejected with a readable reason', () => {
    const reason = (payload: unknown) => {
      const parsed = parseFixture(payload, options)
      return parsed.ok ? null : parsed.reason
    }
    expect(reason(null)).toBe('the payload is not an object')
    expect(reason([])).toBe('the payload has no fixture id')
    expect(reason({ message: 'No result(s) found', subscription: [] })).toBe(
      'the provider answered: No result(s) found',
    )
    expect(reason({ ...PAYLOAD, id: 'abc' })).toBe('the payload has no fixture id')
    const none = 'fixture 123 does not name a home and an away team'
    expect(reason({ ...PAYLOAD, participants: undefined })).toBe(none)
    expect(reason({ ...PAYLOAD, participants: [PAYLOAD.participants[0], { id: 10, name: 'Harbour' }] })).toBe(none)
  })
})

describe('the minute that a period counts from', () => {
  const [second = {}, first = {}] = PAYLOAD.periods
  const secsOf = (...periods: readonly object[]) => parse({ periods }).periods.map((p) => p.elapsedSecs)

  it('[P21] is that of its kind, where its minutes contradict what the feed says', () => {
    expect(secsOf({ ...first, counts_from: 45 }, { ...second, counts_from: 0 })).toEqual([2_825, 980])
    expect(secsOf(first, { ...second, counts_from: 90 })).toEqual([2_825, 980])
  })

  it('[P21] is what the feed says, where halves are shorter or each counts its own minutes', () => {
    expect(secsOf(first, { ...second, counts_from: 40, minutes: 56 })).toEqual([2_825, 980])
    expect(secsOf(first, { ...second, counts_from: 0, minutes: 16 })).toEqual([2_825, 980])
  })

  it('[P21] shows no clock an hour after its period should have ended', () => {
    expect(secsOf(first, { ...second, minutes: 150 })).toEqual([2_825, 6_320])
    expect(secsOf(first, { ...second, minutes: 151 })).toEqual([2_825, null])
    expect(secsOf({ ...first, minutes: 239, ticking: true })).toEqual([null])
  })
})

describe('extra time and penalties', () => {
  const halves = PAYLOAD.periods.map((p) => ({ ...p, ticking: false }))
  const et1 = {
    id: 53,
    type_id: 5314,
    counts_from: 90,
    ticking: false,
    sort_order: 3,
    period_length: 15,
    minutes: 106,
    seconds: 0,
  }
  const et2 = {
    id: 54,
    type_id: 39,
    counts_from: 105,
    ticking: true,
    sort_order: 4,
    period_length: 15,
    minutes: 109,
    seconds: 30,
  }
  const whole = { ...et2, id: 59, type_id: 3 }
  const kicks = {
    id: 55,
    type_id: 5,
    counts_from: 120,
    ticking: true,
    sort_order: 5,
    period_length: 0,
    minutes: 121,
    seconds: 0,
  }

  it('the halves of extra time are distinguished if the payload does; the clock is the same otherwise', () => {
    const detailed = parse({ periods: [...halves, whole], detailedperiods: [et2, et1, ...halves] })
    const plain = parse({ periods: [whole, ...halves], detailedperiods: undefined })
    expect(detailed.periods.map((p) => p.elapsedSecs)).toEqual([2_825, 980, 960, 270])
    expect(plain.periods.map((p) => [p.kind, p.elapsedSecs])).toContainEqual(['extra_time', 19 * 60 + 30])
    expect([minuteOf(detailed), minuteOf(plain)]).toEqual([109, 109])
    const event = { id: 1, type_id: 14, period_id: 59, player_id: 1, minute: 108 }
    expect(
      parse({ periods: [...halves, whole], detailedperiods: [et2, et1], events: [event] }).events?.[0]?.period,
    ).toBe(4)
  })

  it('[P13] a kick of the shoot-out is distinguished from a penalty, even if the provider calls it one', () => {
    const rows = [
      { id: 1, type_id: 16, period_id: 55, detailed_period_id: 55, player_id: 1, minute: 121, result: '2-1' },
      { id: 2, type_id: 16, period_id: 54, player_id: 1, minute: 117, result: '5-4', addition: '9th Penalty' },
      { id: 3, type_id: 17, period_id: null, player_id: 1, minute: 121 },
      { id: 4, type_id: 23, period_id: 55, player_id: 1, minute: 122 },
      { id: 5, type_id: 16, period_id: 54, player_id: 1, minute: 112, result: '2-1' },
      { id: 6, type_id: 17, period_id: 52, player_id: 1, minute: 80 },
    ]
    const kinds = parse({ detailedperiods: [...halves, et1, et2, kicks], events: rows }).events?.map((e) => e.kind)
    expect(kinds).toEqual([
      'shootout_goal',
      'shootout_goal',
      'shootout_miss',
      'shootout_goal',
      'penalty_goal',
      'penalty_missed',
    ])
  })

  it('has the score of a shoot-out beside the score: as the provider counts it, else by its kicks', () => {
    const kick = (id: number, type: number, team: number, more: object = {}) => {
      return { id, type_id: type, period_id: 55, detailed_period_id: 55, participant_id: team, player_id: 1, ...more }
    }
    const events = [kick(1, 23, 10), kick(2, 22, 20), kick(3, 16, 10), kick(4, 23, 20, { rescinded: true })]
    const tie = { detailedperiods: [...halves, et1, et2, kicks], events }
    const scoresOf = ({ home, away }: SaidFixture) => [home.goals, home.shootout, away.goals, away.shootout]
    expect(scoresOf(parse(tie))).toEqual([1, 2, 2, 0])
    const counted = (team: number, goals: number) => {
      return { type_id: 5, participant_id: team, score: { goals }, description: 'PENALTY_SHOOTOUT' }
    }
    const scores = [...PAYLOAD.scores, counted(10, 4), counted(20, 3)]
    expect(scoresOf(parse({ ...tie, scores }))).toEqual([1, 4, 2, 3])
    expect(parse().home).not.toHaveProperty('shootout')
  })
})

it('an instrument id is a stable UUIDv5 that differs by player and namespace', () => {
  const id = instrumentIdFor('provider', playerId(1001))
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(id).toBe('a866951d-d3b7-5dce-bc34-bcf48475e218')
  const others = [instrumentIdFor('provider', playerId(1002)), instrumentIdFor('replay/cup-night', playerId(1001))]
  expect(new Set([id, ...others]).size).toBe(3)
})

it('payloads that share the rows which have not changed give the same snapshots as payloads that share nothing', async () => {
  const { frames } = await shortRecording('goal-feast')
  // In this order, so that what was remembered of a row would show in the wrong place.
  for (const frame of [...frames, ...frames.slice(20, 40)]) {
    const alone: unknown = JSON.parse(JSON.stringify(frame))
    expect(parseFixture(frame, options)).toEqual(parseFixture(alone, options))
  }
})
