import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { z } from 'zod'
import { fixtureId, type InstrumentId, playerId } from '../../actors/kernel/ids.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import { P } from '../support/fixtures.ts'
import { FIXTURE, openHttpRig, PLAYER } from './http-rig.ts'

const ListSeen = z.object({ instruments: z.array(z.object({ id: z.string(), fixtureId: z.number() })) })

const STRANGER = '0197f2a0-0000-8000-8000-0000000000ff'

describe('the market', () => {
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
})
