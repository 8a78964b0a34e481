/** The demo: a recording that plays over and over. What a trade in it does is checked by the conformance suite. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ComposedServer, CONFIRM_SECS, MATCH_SECS, PATIENCE } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { pick } from '../support/http-client.ts'

let server: ComposedServer
beforeAll(async () => {
  server = await ComposedServer.open(await embeddedPlace())
})
afterAll(() => server.close())

it('[T28] after full time the next match begins, and lists the same player at a price of its own', async () => {
  const ada = await server.user('Ada')
  const { matchId } = server
  const player = pick(await ada.instruments(), (i) => i.position === 'DEF')
  const order = { instrumentId: player.id, direction: 'long', lotSize: 2, clientPrice: player.currentPrice } as const
  const { position } = await ada.opens(order)
  await server.play(MATCH_SECS)
  server.jump(CONFIRM_SECS)
  const settled = await vi.waitUntil(async () => (await ada.positions('closed'))[0], PATIENCE)
  expect(settled).toMatchObject({ id: position.id, closedBy: 'full_time' })

  await vi.waitUntil(async () => (await ada.instrument(player.id)).tradingStatus === 'OPEN', PATIENCE)
  expect(server.matchId).toBe(matchId + 1)
  const next = await ada.opens({ ...order, clientPrice: (await ada.instrument(player.id)).currentPrice })
  expect(next.position['fixtureId']).toBe(matchId + 1)
})
