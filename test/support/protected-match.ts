/** A match whose fills may move, as tests of protection need it (actors/match/protection). */
import { expect } from 'vitest'
import { playerId } from '../../actors/kernel/ids.ts'
import type { DataPlace } from './data-place.ts'
import { GOAL, P, player } from './fixtures.ts'
import type { HttpClient } from './http-client.ts'
import { ServerRig } from './server-rig.ts'

const ADMIN = { ADMIN_EMAILS: 'ann@synthetic.invalid' }

/** A server with one match in play, and without a hold. */
export async function openMatch(place: DataPlace, protection: 'on' | 'off'): Promise<ServerRig> {
  const rig = await ServerRig.open({ ...place, env: { ...place.env, ...ADMIN } })
  const ann = await rig.user('Ann')
  for (const [key, value] of [
    ['trading.hold_secs', 0],
    ['trading.protection', protection],
  ] as const) {
    expect(await ann.request('PUT', `/api/admin/settings/${key}`, { value })).toMatchObject({ status: 200 })
  }
  // Prices follow a changed setting from the next update on, by a move of its own.
  await rig.plays(1)
  return rig
}

/** The match's first player scores, as list and statistics show. */
export const scores = (rig: ServerRig) =>
  rig.plays(1, {
    home: { id: 1, name: 'Harbour', goals: 1 },
    events: [{ ...GOAL, playerId: playerId(11), playerName: 'Player 11' }],
    players: [11, 12, 13, 14].map((n) => player(n, { details: n === 11 ? { 52: 1 } : {} })),
  })

export async function buys(user: HttpClient) {
  const { last_published_price: clientPrice } = await user.instrument(P(11))
  return (await user.opens({ instrumentId: P(11), direction: 'long', lotSize: 2, clientPrice })).position
}
