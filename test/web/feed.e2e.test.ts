/** The page's feed client against the real price feed. */
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { userId } from '../../actors/kernel/ids.ts'
import { Feed, type FeedState } from '../../src/web/client/feed.ts'
import { FLAG, type PriceFrame } from '../../src/web/client/price-frame.ts'
import type { AccountChanges } from '../../src/web/client/wire.ts'
import { ComposedServer, PATIENCE } from '../support/composed-server.ts'
import { type HttpClient, pick } from '../support/http-client.ts'
import { embeddedPlace } from '../support/data-place.ts'

let composed: ComposedServer
beforeAll(async () => {
  composed = await ComposedServer.open(await embeddedPlace())
})
afterAll(() => composed.close())

/** A feed client that records what it receives. */
function listen(player: HttpClient) {
  const received = { frames: [] as PriceFrame[], account: [] as AccountChanges[], states: [] as FeedState[] }
  let isAway = false
  const feed = new Feed({
    token: () => (isAway ? Promise.reject(new Error('no network')) : player.ticket()),
    onPrice: (frame) => received.frames.push(frame),
    onAccount: (changes) => received.account.push(changes),
    onNotice: () => undefined,
    onState: (state) => received.states.push(state),
    onServerTime: () => undefined,
  })
  const setAway = (away: boolean): void => {
    isAway = away
  }
  return { feed, received, setAway }
}

const until = (condition: () => boolean) => vi.waitUntil(condition, PATIENCE)
const Me = z.looseObject({ userId: z.string() })

it('after a lost connection the feed resumes: every move once, in order, and every account event once', async () => {
  const ada = await composed.user('Ada U3')
  const { userId: id } = await ada.get('/api/me', Me)
  const player = pick(await ada.instruments(), (i) => i.position === 'FWD')
  const order = { instrumentId: player.id, direction: 'long', lotSize: 0.1, clientPrice: player.currentPrice } as const
  const { feed, received, setAway } = listen(ada)
  feed.follow([{ instrumentId: player.id, fixtureId: composed.matchId }])
  feed.start()
  const accountEvents = () => received.account.flatMap(({ events }) => events)
  await until(() => received.frames.length > 0 && received.account.length > 0)
  expect(received.account[0]).toMatchObject({ snapshot: true, positions: [] })

  await ada.opens(order)
  await until(() => accountEvents().length === 1)

  setAway(true)
  composed.disconnect(userId(id))
  await until(() => received.states.at(-1) === 'waiting')
  await ada.opens(order)
  await ada.opens({ ...order, direction: 'short' })
  setAway(false)
  feed.reconnectNow()
  await until(() => accountEvents().length === 3)
  const { currentPrice } = await ada.instrument(player.id)
  await until(() => received.frames.at(-1)?.price === currentPrice)

  expect(received.account.slice(1).every(({ snapshot }) => !snapshot)).toBe(true)
  const markers = accountEvents().map(({ marker }) => Number(marker))
  expect(markers).toEqual([...new Set(markers)].toSorted((a, b) => a - b))
  const seqs = received.frames.filter(({ flags }) => (flags & FLAG.snapshot) === 0).map(({ seq }) => seq)
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  feed.stop()
  expect(received.states.at(-1)).toBe('stopped')
})

it('the feed delivers the moves of followed players only', async () => {
  const ada = await composed.user('Ada U4')
  const [one, two] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN')
  const { feed, received } = listen(ada)
  feed.start()
  const follow = (id = '') => feed.follow([{ instrumentId: id, fixtureId: composed.matchId }])
  follow(one?.id)
  await until(() => received.frames.length > 0)
  follow(two?.id)
  await until(() => received.frames.at(-1)?.instrumentId === two?.id)
  const before = received.frames.length

  const order = { direction: 'long', lotSize: 0.1 } as const
  await ada.opens({ ...order, instrumentId: one?.id ?? '', clientPrice: one?.currentPrice ?? 0 })
  await ada.opens({ ...order, instrumentId: two?.id ?? '', clientPrice: two?.currentPrice ?? 0 })
  await until(() => received.frames.length > before)
  expect(received.frames.slice(before).map(({ instrumentId }) => instrumentId)).toEqual([two?.id])
  feed.stop()
})

const followed = (ids: readonly string[], fixtureId = 1) => ids.map((instrumentId) => ({ instrumentId, fixtureId }))
const subscribed = (...rejected: readonly object[]) =>
  JSON.stringify({ type: 'subscribed', instrumentIds: [], rejected })

/** A feed client of a server that gives these answers to `subscribe`, and then refuses nothing. */
async function scripted(...answers: string[]) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const asked: unknown[] = []
  const at: number[] = []
  let connections = 0
  server.on('connection', (socket) => {
    connections++
    socket.on('message', (data: Buffer) => {
      const message: { type: string; instrumentIds: unknown } = JSON.parse(data.toString())
      at.push(performance.now())
      if (message.type !== 'subscribe') return
      asked.push(message.instrumentIds)
      socket.send(answers.shift() ?? subscribed())
    })
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const feed = new Feed({ token: async () => ({ token: 'any', wsUrl: `ws://127.0.0.1:${port}` }) })
  const close = () => {
    feed.stop()
    server.close()
  }
  return { feed, asked, at, connections: () => connections, close }
}

it('the feed requests busy players again, and reconnects when a request fails', async () => {
  const { feed, asked, connections, close } = await scripted(
    subscribed({ instrumentId: 'one', code: 'busy' }, { instrumentId: 'two', code: 'not_found' }),
    JSON.stringify({ type: 'error', code: 'unavailable', message: 'please retry' }),
    subscribed(),
  )
  feed.follow(followed(['one', 'two']))
  feed.start()
  await until(() => asked.length === 3)
  expect(asked).toEqual([['one', 'two'], ['one'], ['one', 'two']])
  expect(connections()).toBe(2)
  close()
})

it.each([
  ['whom no match published', 'not_found'],
  ['for whom there was no room', 'limit'],
])('the feed requests a player again %s, or who is in another match now', async (_, code) => {
  const { feed, asked, close } = await scripted(subscribed({ instrumentId: 'one', code }))
  feed.follow(followed(['one', 'two']))
  feed.start()
  await until(() => asked.length > 0)
  await until(() => {
    feed.follow(followed(['one', 'two']))
    return asked.length > 1
  })
  feed.follow([...followed(['one']), ...followed(['two'], 2)])
  await until(() => asked.length > 2)
  expect(asked).toEqual([['one', 'two'], ['one'], ['two']])
  close()
})

it('the feed subscribes to players of many matches in one message, and sends no more than ten in a second', async () => {
  const { feed, asked, at, close } = await scripted()
  const wanted = Array.from({ length: 12 }, (_, n) => ({ instrumentId: `player ${n}`, fixtureId: n }))
  feed.follow(wanted)
  feed.start()
  await until(() => asked.length > 0)
  expect(asked).toEqual([wanted.map(({ instrumentId }) => instrumentId)])

  for (let n = 1; n <= 12; n++) feed.follow(wanted.map((one) => ({ ...one, fixtureId: one.fixtureId + 100 * n })))
  await until(() => asked.length === 13)
  for (const [n, sentAt] of at.slice(10).entries()) expect(sentAt - (at[n] ?? 0)).toBeGreaterThan(1_000)
  close()
})
