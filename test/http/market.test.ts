import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { present } from '../../actors/kernel/assert.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { z } from 'zod'
import { fixtureId, type InstrumentId, playerId } from '../../actors/kernel/ids.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import { P } from '../support/fixtures.ts'
import { away, FIXTURE, NOW, openHttpRig, PLAYER } from './http-rig.ts'

const ListSeen = z.object({ instruments: z.array(z.object({ id: z.string(), fixtureId: z.number() })) })

const STRANGER = '0197f2a0-0000-8000-8000-0000000000ff'

const instrumentJson = {
  id: PLAYER,
  name: 'A. Striker',
  position: 'FWD',
  team: { id: 1, name: 'Harbour', side: 'home' },
  fixtureId: FIXTURE,
  replay: false,
  purse: 'main',
  currentPrice: 210.005,
  live_base_price: 210,
  net_position_imbalance: 0.5,
  k_mod: 0.01,
  last_published_price: 209.99,
  changePct: 5.0025,
  tradingStatus: 'OPEN',
  minLot: 0.01,
  maxLot: 100,
  lotStep: 0.01,
  contractSize: 5,
  leverage: 10,
}

const windowJson = {
  fixtureId: FIXTURE,
  status: 'OPEN',
  open: true,
  state: 'INPLAY_1ST_HALF',
  reason: null,
  holdSecs: 180,
  serverTime: '2026-05-02T14:30:00.000Z',
}

describe('the market', () => {
  it("an instrument carries the specification's names and the limits of its lots", async () => {
    const { asAlice } = await openHttpRig()
    expect(await (await asAlice(`/api/instruments/${PLAYER}`)).json()).toEqual(instrumentJson)
    expect(await (await asAlice('/api/instruments')).json()).toEqual({ instruments: [instrumentJson] })
  })

  it('[I10] active are those on the pitch, before kick-off the whole squad; first those that can be opened now', async () => {
    const { deps } = await openHttpRig()
    const [listing] = await deps.catalogue.instruments()
    const { instrument, match, ...rest } = present(listing, 'listing')
    const players = [1, 2, 3].map((n) => ({ ...instrument, id: P(n), playerId: playerId(n) }))
    const idsIn = async (over: Partial<MatchInfo>) => {
      const next = { ...match, matchId: fixtureId(2), phase: 'scheduled', onPitch: null } as const
      const all = [next, { ...match, onPitch: [playerId(1), playerId(3)], ...over }].flatMap((one) =>
        players.map((player) => ({ ...rest, match: one, instrument: player })),
      )
      const catalogue = {
        ...deps.catalogue,
        instruments: async () => all,
        instrument: async (id: InstrumentId) => all.find((one) => one.instrument.id === id) ?? null,
      }
      const { asAlice } = await openHttpRig({ deps: { catalogue } })
      expect((await asAlice(`/api/instruments/${P(2)}`)).status).toBe(200)
      const { instruments } = ListSeen.parse(await (await asAlice('/api/instruments')).json())
      return instruments.map(({ id, fixtureId: of }) => [id, of === FIXTURE ? 'here' : 'next'])
    }
    const coming = [1, 2, 3].map((n) => [P(n), 'next'])
    expect(await idsIn({})).toEqual([[P(1), 'here'], [P(3), 'here'], ...coming])
    expect(await idsIn({ onPitch: [playerId(2)] })).toEqual([[P(2), 'here'], ...coming])
    expect(await idsIn({ onPitch: null })).toHaveLength(6)
  })

  it('lot limits follow the settings in force', async () => {
    const rules = { ...DEFAULT_RULES, lotMax: DEFAULT_RULES.lotMin }
    const { asAlice } = await openHttpRig({ deps: { rules: () => rules } })
    expect(await (await asAlice(`/api/instruments/${PLAYER}`)).json()).toMatchObject({ maxLot: 0.01 })
  })

  it('a match carries its clock, its score and its trade window', async () => {
    const { asAlice } = await openHttpRig()
    expect(await (await asAlice('/api/matches')).json()).toEqual({
      matches: [
        {
          id: FIXTURE,
          name: 'Harbour vs Mill',
          league: 'League 1',
          replay: false,
          purse: 'main',
          startsAt: '2026-05-02T14:00:00.000Z',
          state: 'INPLAY_1ST_HALF',
          stateId: 2,
          minute: 30,
          home: { id: 1, name: 'Harbour', score: 1, shootout: null },
          away: { id: 2, name: 'Mill', score: 0, shootout: null },
          tradeWindow: windowJson,
        },
      ],
    })
  })

  it('a match that was decided by penalties shows both scores', async () => {
    const { deps } = await openHttpRig()
    const info = present(await deps.catalogue.match(FIXTURE), 'match')
    const sides = { home: { ...info.home, goals: 2, shootout: 4 }, away: { ...info.away, goals: 2, shootout: 3 } }
    const over = { ...info, ...sides, state: 'FT_PEN' }
    const catalogue = { ...deps.catalogue, match: async () => over, matches: async () => [over] }
    const { asAlice } = await openHttpRig({ deps: { catalogue } })
    const scores = { state: 'FT_PEN', home: { score: 2, shootout: 4 }, away: { score: 2, shootout: 3 } }
    expect(await (await asAlice(`/api/matches/${FIXTURE}`)).json()).toMatchObject(scores)
    expect(await (await asAlice('/api/matches')).json()).toMatchObject({ matches: [scores] })
  })

  it('the trade window is computed now: late match data suspends it', async () => {
    const { asAlice, world } = await openHttpRig()
    const path = `/api/matches/${FIXTURE}/trade-window`
    expect(await (await asAlice(path)).json()).toEqual(windowJson)
    world.pass(DEFAULT_RULES.feedStaleMs + 1)
    expect(await (await asAlice(path)).json()).toMatchObject({
      status: 'SUSPENDED',
      open: false,
      reason: 'the live feed is late',
    })
    expect(await (await asAlice(`/api/instruments/${PLAYER}`)).json()).toMatchObject({ tradingStatus: 'SUSPENDED' })
  })

  it('an unknown id is 404, an invalid one 400', async () => {
    const { asAlice } = await openHttpRig()
    for (const path of [`/api/instruments/${STRANGER}`, '/api/matches/4294967295/trade-window']) {
      const response = await asAlice(path)
      expect(response.status, path).toBe(404)
      expect(await response.json()).toMatchObject({ error: 'not found', code: 'NOT_FOUND' })
    }
    for (const id of ['0', '-1', '4294967296', '1e3', '0x1', '1.0', '__proto__', '%00', '99999999999999999999']) {
      expect((await asAlice(`/api/matches/${id}/trade-window`)).status, id).toBe(400)
      expect((await asAlice(`/api/instruments/${id}`)).status, id).toBe(400)
    }
  })

  it("a price history has ticks with causes and reasons, stats over them, and the player's first tick", async () => {
    const { asAlice } = await openHttpRig()
    const path = `/api/instruments/${PLAYER}/price-history`
    const told = (kind: string, words: string) => ({ kind, event: null, words })
    const event = { kind: 'goal', minute: 12, extraMinute: null, undone: false }
    const goal = { kind: 'event', event, words: 'Goal in the 12th minute' }
    expect(await (await asAlice(`${path}?period=5m`)).json()).toEqual({
      instrumentId: PLAYER,
      period: '5m',
      ticks: [
        {
          at: '2026-05-02T14:29:40.000Z',
          price: 200,
          cause: 'listing',
          eventId: null,
          reason: told('listing', 'First price in this match'),
        },
        { at: '2026-05-02T14:29:50.000Z', price: 230, cause: 'event', eventId: 7, reason: goal },
        {
          at: '2026-05-02T14:30:00.000Z',
          price: 210.005,
          cause: 'trade',
          eventId: null,
          reason: told('crowd', 'Orders of traders'),
        },
      ],
      stats: {
        open: 200,
        high: 230,
        low: 200,
        volume: 1.5,
        changePct: 5.0025,
        firstTickAt: '2026-05-01 14:29:59.8770+00',
      },
    })
    expect((await asAlice(`${path}?period=2h`)).status).toBe(400)
    expect((await asAlice(`/api/instruments/${STRANGER}/price-history`)).status).toBe(404)
  })

  it('each period has its length, and a player without ticks has no stats', async () => {
    const asked: (number | null)[] = []
    const none = { ticks: [], volume: lots(0), firstTickAt: null }
    const prices = async (_id: unknown, from: number | null) => {
      asked.push(from === null ? null : NOW - from)
      return none
    }
    const { asAlice } = await openHttpRig({ deps: { history: { prices, trades: away, moves: away, movers: away } } })
    for (const period of ['5m', '1h', '6h', '1d', 'all']) {
      const response = await asAlice(`/api/instruments/${PLAYER}/price-history?period=${period}`)
      expect(await response.json()).toMatchObject({
        ticks: [],
        stats: { open: null, high: null, low: null, volume: 0, changePct: null, firstTickAt: null },
      })
    }
    expect(asked).toEqual([300_000, 3_600_000, 21_600_000, 86_400_000, null])
  })

  it('recent trades are anonymous, with times to the second', async () => {
    const { asAlice } = await openHttpRig()
    const path = `/api/instruments/${PLAYER}/recent-trades`
    expect(await (await asAlice(path)).json()).toEqual({
      trades: [
        { at: '2026-05-02T14:30:01.000Z', direction: 'short', lotSize: 0.01, price: 210.005, action: 'close' },
        { at: '2026-05-02T14:30:00.000Z', direction: 'long', lotSize: 0.5, price: 210, action: 'open' },
      ],
      nextCursor: null,
    })
    expect(await (await asAlice(`${path}?limit=1`)).json()).toMatchObject({
      trades: [{ direction: 'short' }],
      nextCursor: expect.any(String),
    })
    for (const limit of ['0', '101', '1.5', 'all']) {
      expect((await asAlice(`${path}?limit=${limit}`)).status, limit).toBe(400)
    }
    expect((await asAlice(`/api/instruments/${STRANGER}/recent-trades`)).status).toBe(404)
  })

  it('movers carry price, change and volume', async () => {
    const { asAlice } = await openHttpRig()
    const shown = {
      instrumentId: PLAYER,
      name: 'A. Striker',
      position: 'FWD',
      team: { id: 1, name: 'Harbour', side: 'home' },
      fixtureId: FIXTURE,
      replay: false,
      tradingStatus: 'OPEN',
      currentPrice: 210.005,
      changePct: 5.0025,
      volume: 2.5,
    }
    expect(await (await asAlice('/api/instruments/movers')).json()).toEqual({
      gainers: [shown],
      losers: [],
      mostTraded: [shown],
      asOf: '2026-05-02T14:30:00.000Z',
    })
  })

  it('match events are in the order of play, with team statistics, retracted ones included', async () => {
    const { asAlice } = await openHttpRig()
    const goal = { type: 'goal', minute: 45, team: 'home', playerId: 1, playerName: 'Player 1' }
    expect(await (await asAlice(`/api/matches/${FIXTURE}/events`)).json()).toEqual({
      fixtureId: FIXTURE,
      events: [
        { ...goal, id: 11, extraMinute: null, relatedPlayerName: 'B. Wing', result: '1-0', retracted: false },
        { ...goal, id: 12, extraMinute: 2, relatedPlayerName: null, result: '2-0', retracted: true },
      ],
      teamStats: { home: { Corners: 4, 'Ball Possession %': 61 }, away: { Corners: 1 } },
    })
    expect((await asAlice('/api/matches/7/events')).status).toBe(404)
  })

  it('a squad is one team, starters first, with named statistics', async () => {
    const { asAlice } = await openHttpRig()
    const squad = await (await asAlice(`/api/matches/${FIXTURE}/squad?team=home`)).json()
    expect(squad).toEqual({
      team: { id: 1, name: 'Harbour', side: 'home' },
      players: [
        {
          playerId: 5,
          instrumentId: P(5),
          name: 'Keeper',
          position: 'GK',
          jerseyNumber: 1,
          starter: true,
          stats: {},
        },
        {
          playerId: 1,
          instrumentId: P(1),
          name: 'A. Striker',
          position: 'MID',
          jerseyNumber: 9,
          starter: true,
          stats: { 'Shots On Target': 2, Rating: 7.4 },
        },
        {
          playerId: 3,
          instrumentId: P(3),
          name: 'Bench',
          position: null,
          jerseyNumber: null,
          starter: false,
          stats: {},
        },
      ],
    })
    expect((await asAlice(`/api/matches/${FIXTURE}/squad?team=both`)).status).toBe(400)
    expect((await asAlice('/api/matches/7/squad?team=away')).status).toBe(404)
  })

  it('districts are public', async () => {
    const { app } = await openHttpRig()
    expect(await (await app.request('/api/districts')).json()).toEqual({ districts: [{ id: 1, name: 'Harbour' }] })
  })
})
