import { describe, expect, it } from 'vitest'
import { money, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { tickReason } from '../../actors/market/reason-words.ts'
import type { Close } from '../../actors/position/position.ts'
import type { MovesQuery, PriceMove } from '../../db/price-moves.ts'
import { NOW, openHttpRig, POSITION } from './http-rig.ts'

const PATH = `/api/positions/${POSITION}/why`
const AT = instant(NOW + 60_000)
const crowd: PriceMove = {
  at: AT,
  from: price(200_000_000),
  to: price(179_000_000),
  cause: 'trade',
  reason: tickReason('trade', null),
  parts: null,
  crowd: -21_000_000,
}

/** The answer for the rig's position, closed so or open. */
async function whyOf(close: Partial<Close> | null, moves: readonly PriceMove[] = [crowd]) {
  const { deps } = await openHttpRig()
  const asked: MovesQuery[] = []
  const held = await deps.positions.find('' as never, POSITION)
  if (held === null) throw new Error('no position')
  const usual: Close = {
    price: price(180e6),
    base: price(180e6),
    pnl: money(-50e6),
    at: AT,
    by: 'user',
    voidReason: null,
  }
  const position = { ...held.position, close: close === null ? null : { ...usual, ...close } }
  const { asAlice } = await openHttpRig({
    deps: {
      positions: { ...deps.positions, find: async () => ({ ...held, position }) },
      history: {
        ...deps.history,
        moves: async (_, query) => {
          asked.push(query)
          return moves
        },
      },
    },
  })
  const response = await asAlice(PATH)
  return { body: await response.json(), asked }
}

describe('GET /api/positions/{id}/why', () => {
  it('sums the moves from its opening until now, and of an open position says no close', async () => {
    const { body, asked } = await whyOf(null)
    expect(asked).toEqual([{ after: NOW, until: null, limit: 9_000 }])
    expect(body).toMatchObject({ close: null, price: 230, until: new Date(NOW).toISOString() })
    expect(body).toMatchObject({
      moves: [{ from: 200, to: 179, parts: { crowd: -21, other: 0 }, sentence: 'Orders of traders: −10.5 %.' }],
    })
  })

  it('says that its owner closed it, and not that a tick did', async () => {
    const { body, asked } = await whyOf({ by: 'user' })
    expect(asked[0]?.until).toBe(AT)
    expect(body).toMatchObject({ close: { level: null, tick: null, sentence: 'You closed it at 180.00.' } })
  })

  it('says at which price the whole margin was lost, and in which move', async () => {
    const { body } = await whyOf({ by: 'washout' })
    expect(body).toMatchObject({
      close: {
        level: 180,
        tick: { to: 179 },
        sentence: 'Orders of traders: −10.5 %; at 180.00 the whole margin was lost.',
      },
    })
  })

  it('says the rule alone where the tick was not stored', async () => {
    const { body } = await whyOf({ by: 'stop_loss' }, [])
    expect(body).toMatchObject({ moves: [], close: { tick: null, sentence: 'Your stop at 190.00 was reached.' } })
  })

  it('of the position of another user is 404', async () => {
    const { deps } = await openHttpRig()
    const { asAlice } = await openHttpRig({ deps: { positions: { ...deps.positions, find: async () => null } } })
    expect((await asAlice(PATH)).status).toBe(404)
  })
})
