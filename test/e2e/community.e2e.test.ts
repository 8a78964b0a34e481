import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ServerRig } from '../support/server-rig.ts'
import { type HttpClient, pick } from '../support/http-client.ts'
import { PATIENCE } from '../support/composed-server.ts'
import { eachDataPlace } from '../support/data-place.ts'

const Board = z.looseObject({
  entries: z.array(z.looseObject({ username: z.string(), rank: z.int(), isMe: z.boolean() })),
})
const Me = z.looseObject({ ranked: z.boolean() })
const Message = z.looseObject({ type: z.string(), notification: z.unknown().optional() })
const Notices = z.looseObject({ notifications: z.array(z.looseObject({ type: z.string() })), unreadCount: z.int() })

eachDataPlace((settle) => {
  let rig: ServerRig

  beforeEach(async () => {
    rig = await ServerRig.open(await settle())
  })

  afterEach(() => rig.close())

  const trades = async (client: HttpClient, lotSize: number) => {
    const instrument = pick(await client.instruments())
    const order = {
      instrumentId: instrument.id,
      direction: 'long',
      lotSize,
      clientPrice: instrument.currentPrice,
    } as const
    return (await client.opens(order)).position
  }
  const me = (client: HttpClient) => client.get('/api/leaderboard/me', Me)

  it('a close over HTTP soon appears on the boards, the same for every user', async () => {
    const [ada, bob] = [await rig.user('Ada'), await rig.user('Bob')]
    const [one, two] = [await trades(ada, 1), await trades(bob, 2)]
    await vi.waitUntil(async () => (await ada.get('/api/notifications', Notices)).unreadCount > 0, PATIENCE)
    expect(await me(ada)).toEqual({ ranked: false })
    await rig.jump(180)
    expect([(await ada.close(one.id, 'a')).status, (await bob.close(two.id, 'b')).status]).toEqual([200, 200])
    await vi.waitUntil(async () => (await me(ada)).ranked && (await me(bob)).ranked, PATIENCE)
    const seen = async (client: HttpClient, path: string) =>
      (await client.get(path, Board)).entries.map(({ username, rank }) => [username, rank])
    for (const path of ['/api/leaderboard/roi/global', '/api/leaderboard/global']) {
      expect(await seen(ada, path)).toHaveLength(2)
      expect(await seen(ada, path)).toEqual(await seen(bob, path))
    }
    const mine = (await ada.get('/api/leaderboard/friends', Board)).entries
    expect(mine).toMatchObject([{ username: 'ada', rank: 1, isMe: true }])
  })

  it('a notification is pushed on the account stream, only to its user', async () => {
    const [ada, bob] = [await rig.user('Ada'), await rig.user('Bob')]
    const [received, others] = [await listenTo(ada), await listenTo(bob)]
    await trades(ada, 1)
    await vi.waitUntil(() => received.length > 0, PATIENCE)
    expect(received[0]).toMatchObject({ type: 'badge', title: 'First whistle', read: false })
    const { notifications } = await ada.get('/api/notifications', Notices)
    expect(notifications).toContainEqual(received[0])
    expect(others).toEqual([])
  })
})

/** Collects the notifications that are pushed to this user. */
async function listenTo(client: HttpClient): Promise<unknown[]> {
  const received: unknown[] = []
  const socket = new WebSocket(await client.socketUrl(), 'feed.v1')
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  const answered = new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const message: unknown = JSON.parse(String(data))
      const { type, notification } = Message.parse(message)
      if (type === 'notification') received.push(notification)
      if (type === 'account') resolve()
    })
  })
  socket.send(JSON.stringify({ type: 'account', id: 1 }))
  await answered
  return received
}
