import { describe, expect, it } from 'vitest'
import { readCommittedEvents } from '../../actors/community/read-committed-event.ts'
import { readRefusal } from '../../actors/kernel/read-refusal.ts'
import { Unreadable } from '../../actors/kernel/read.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'
import { readPricing } from '../../actors/market/read-pricing.ts'
import { readMatchInfo } from '../../actors/match/read-match-info.ts'
import { GOAL, player, record } from '../support/fixtures.ts'

const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const { info } = record()

describe('a stored match', () => {
  const read = (over: object) => readMatchInfo(stored({ ...info, ...over }), 'match 7: info')

  it('is read as it was written', () => {
    expect(readMatchInfo(stored(info), 'match 7: info')).toEqual(info)
    const tie = { ...info, home: { ...info.home, shootout: 4 }, away: { ...info.away, shootout: 0 } }
    expect(readMatchInfo(stored(tie), 'match 7: info')).toEqual(tie)
    const event = { ...GOAL, kind: 'own_goal', minute: 90, extraMinute: 4, period: 2, side: 'away', retracted: true }
    const listed = player(5, { role: null, details: { '80': 12, '118': 7.2 } })
    const full = { events: [event], squad: [listed], teamStats: { home: { Shots: 3 }, away: {} }, settling: 'void' }
    expect(read(full)).toEqual({ ...info, ...full })
  })

  it('of an older version gets defaults for what that did not write, and a newer one may write more', () => {
    const { matchId, name, league, startsAt, phase, home, away } = info
    const old = { matchId, name, league, startsAt, phase, home: { ...home, goals: undefined }, away }
    expect(readMatchInfo(stored({ ...old, weather: 'rain' }), 'match 7: info')).toEqual({
      ...old,
      home: { ...home, goals: null },
      state: null,
      stateId: null,
      minute: null,
      replay: false,
      purse: 'main',
      speed: 1,
      feedSeq: 0,
      sourceAt: null,
      clock: null,
      endedAt: null,
      endedSeq: null,
      kickedOffAt: null,
      settling: null,
      settledAt: null,
      events: [],
      squad: [],
      onPitch: null,
      teamStats: null,
    })
  })

  it('that is damaged is refused by match and field', () => {
    expect(() => read({ name: undefined })).toThrow('match 7: info.name is missing, not a text')
    expect(() => read({ phase: 'paused' })).toThrow(/^match 7: info\.phase is "paused", not one of scheduled, live/)
    expect(() => read({ home: { ...info.home, goals: '2' } })).toThrow('info.home.goals is "2", not an integer')
    expect(() => read({ squad: [null] })).toThrow('info.squad[0] is null, not an object')
    expect(() => read({ feedSeq: 1.5 })).toThrow(Unreadable)
    expect(() => readMatchInfo('[]', 'match 7: info')).toThrow('match 7: info is "[]", not an object')
  })
})

describe('a stored memory of the price model', () => {
  const memory = {
    clock: { period: 2, elapsedSecs: 61.5 },
    behind: { clock: { period: 1, elapsedSecs: 60 }, updates: 2 },
    clockSecs: 2_761,
    lastBreak: { playedAt: 1_780_000_000_000, ms: 900_000 },
    expectedGoals: { home: 1.4, away: 1.1 },
    anchors: { '4': 200_000_000 },
    incidents: [
      {
        id: 9,
        firstId: 8,
        kind: 'red',
        minute: 3,
        extraMinute: null,
        period: 1,
        sortOrder: 2,
        side: 'home',
        listedAt: 0,
        isRelatedLost: false,
        playerId: 4,
        relatedPlayerId: null,
        addition: null,
        standing: 'counted',
      },
    ],
    told: { home: { secs: 2_750, times: 20 }, away: { secs: 0, times: 0 } },
    conceded: { home: [], away: [1_200] },
    beliefs: {
      doubts: {
        goals: { home: 0, away: null },
        starters: { home: [4, 5], away: null },
        details: { '4': { '86': 0 } },
        clocks: { '1': 5_400 },
        rows: { '1': 'goal 5  38 false' },
      },
      periods: [{ id: 71, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs: 61.5, ticking: true }],
      untold: { '4': { '80': 31 } },
      withheld: 2,
    },
    players: {
      '4': {
        volume: 3,
        rating: 7.1,
        first: { rating: 6.5, minutes: 12 },
        counts: { goal: 1 },
        listed: { goal: 2 },
        takenBack: {},
        excused: { goals: 1 },
      },
    },
  }

  it('is read as it was written', () => {
    expect(readPricing(stored(memory), 'match 7: pricing')).toEqual(memory)
  })

  it('of an older version gets defaults for what that did not write', () => {
    expect(readPricing({}, 'match 7: pricing')).toEqual(EMPTY_PRICING)
    const {
      behind: _,
      expectedGoals: __,
      lastBreak: ___,
      anchors: ____,
      beliefs: _____,
      told: ______,
      conceded: _______,
      ...old
    } = memory
    expect(readPricing({ version: 1, ...old }, 'match 7: pricing')).toEqual({
      ...memory,
      beliefs: EMPTY_PRICING.beliefs,
      told: EMPTY_PRICING.told,
      conceded: EMPTY_PRICING.conceded,
      behind: null,
      lastBreak: { playedAt: null, ms: 0 },
      expectedGoals: null,
      anchors: {},
    })
  })

  it('that is damaged is refused by match and field', () => {
    const damaged = (over: object) => () => readPricing(stored({ ...memory, ...over }), 'match 7: pricing')
    expect(damaged({ clockSecs: null })).toThrow('match 7: pricing.clockSecs is null, not a number')
    expect(damaged({ players: { '4': { volume: 'x' } } })).toThrow(
      'match 7: pricing.players.4.volume is "x", not a number',
    )
    expect(damaged({ incidents: {} })).toThrow('match 7: pricing.incidents is {}, not a list')
  })
})

describe('stored events of a commit', () => {
  const position = {
    positionId: 'p',
    userId: 'u',
    purse: 'main',
    instrumentId: 'i',
    direction: 'short',
    lots: 5,
    margin: 6,
  }
  const events = [
    { kind: 'opened', userId: 'u', purse: 'main' },
    { kind: 'margin_warned', ...position, lostPct: 80 },
    {
      kind: 'closed',
      ...position,
      pnl: -6,
      baseMove: -5,
      openedAt: 1_780_000_000_000,
      by: 'washout',
      voidReason: null,
    },
    {
      kind: 'closed',
      ...position,
      pnl: 1,
      baseMove: 1,
      openedAt: 1_780_000_000_000,
      by: 'void',
      voidReason: 'operator',
    },
    {
      kind: 'corrected',
      ...position,
      before: { pnl: 3, baseMove: 2 },
      pnl: -4,
      baseMove: -4,
      openedAt: 1_780_000_000_000,
      by: 'take_profit',
    },
    { kind: 'match_settled' },
  ]

  it('are read as they were written', () => {
    expect(readCommittedEvents(stored(events), 'match 7, commit 2: events')).toEqual(events)
  })

  it('that this version does not know are refused, not skipped', () => {
    const unknown = [...events, { kind: 'split' }]
    const read = () => readCommittedEvents(unknown, 'match 7, commit 2: events')
    expect(read).toThrow(/^match 7, commit 2: events\[6\]\.kind is "split", not one of opened/)
  })
})

describe('a stored refusal', () => {
  it.each([
    { code: 'not_found', what: 'match' },
    { code: 'market_closed', window: { status: 'CLOSED', reason: 'full time' } },
    { code: 'lot_size_invalid', min: 1, max: 2, step: 3 },
    { code: 'price_moved', currentPrice: 1, lastPublishedPrice: 2 },
    { code: 'levels_invalid', currentPrice: 1 },
    { code: 'position_limit', max: 200 },
    { code: 'insufficient_margin', required: 1, available: 2, maxLots: 3 },
    { code: 'position_corrupt' },
    { code: 'position_not_open', positionId: 'p' },
    { code: 'cooldown_active', retryAfterSecs: 1, closableAt: 2 },
    { code: 'key_reused' },
    { code: 'busy', retryAfterSecs: 1 },
  ])('$code is read as it was written', (refusal) => {
    expect(readRefusal(stored(refusal), 'refusal')).toEqual(refusal)
  })

  it('with an unknown code or a missing field is refused', () => {
    expect(() => readRefusal({ code: 'no' }, 'refusal')).toThrow(Unreadable)
    expect(() => readRefusal({ code: 'busy' }, 'refusal')).toThrow('refusal.retryAfterSecs is missing, not an integer')
  })
})
