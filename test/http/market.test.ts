import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { FIXTURE, openDoor, PLAYER } from './door.ts'

const STRANGER = '0197f2a0-0000-8000-8000-0000000000ff'

const instrumentJson = {
  id: PLAYER,
  name: 'A. Striker',
  position: 'FWD',
  team: { id: 1, name: 'Harbour', side: 'home' },
  fixtureId: FIXTURE,
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
  serverTime: '2026-05-02T14:30:00.000Z',
}

describe('the market', () => {
  it("[H32] an instrument carries the specification's names and the limits of its lots", async () => {
    const { asAlice } = await openDoor()
    expect(await (await asAlice(`/api/instruments/${PLAYER}`)).json()).toEqual(instrumentJson)
    expect(await (await asAlice('/api/instruments')).json()).toEqual({ instruments: [instrumentJson] })
  })

  it('[H32] limits are those in force now', async () => {
    const rules = { ...DEFAULT_RULES, lotMax: DEFAULT_RULES.lotMin }
    const { asAlice } = await openDoor({ deps: { rules: () => rules } })
    expect(await (await asAlice(`/api/instruments/${PLAYER}`)).json()).toMatchObject({ maxLot: 0.01 })
  })

  it('[H33] a match carries its clock, its score and its trade window', async () => {
    const { asAlice } = await openDoor()
    expect(await (await asAlice('/api/matches')).json()).toEqual({
      matches: [
        {
          id: FIXTURE,
          name: 'Harbour vs Mill',
          league: 'League 1',
          startsAt: '2026-05-02T14:00:00.000Z',
          state: 'INPLAY_1ST_HALF',
          stateId: 2,
          minute: 30,
          home: { id: 1, name: 'Harbour', score: 1 },
          away: { id: 2, name: 'Mill', score: 0 },
          tradeWindow: windowJson,
        },
      ],
    })
  })

  it('[H34] the trade window is the one of this moment: a late feed suspends it', async () => {
    const { asAlice, world } = await openDoor()
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

  it('[H35] what does not exist is 404, what cannot exist is 400', async () => {
    const { asAlice } = await openDoor()
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

  it('[H36] districts are public', async () => {
    const { app } = await openDoor()
    expect(await (await app.request('/api/districts')).json()).toEqual({ districts: [{ id: 1, name: 'Harbour' }] })
  })
})
