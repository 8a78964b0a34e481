import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { instrumentId } from '../../actors/kernel/ids.ts'
import { FLAG } from '../../rooms/feed/price-frame.ts'
import { MATCH, openOrder, P, u, U } from '../support/fixtures.ts'
import { ok } from '../support/actor-rig.ts'
import { RealtimeRig, FeedStand, sessionOf, until } from './realtime-rig.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closers.splice(0)) await close()
})

async function openRealtimeRig(options: Parameters<typeof RealtimeRig.open>[0] = {}): Promise<RealtimeRig> {
  const rig = await RealtimeRig.open(options)
  closers.push(() => rig.close())
  return rig
}

async function openPlaying(options: Parameters<typeof RealtimeRig.playing>[0] = {}): Promise<RealtimeRig> {
  const rig = await RealtimeRig.playing(options)
  closers.push(() => rig.close())
  return rig
}

async function openStand(options: Parameters<typeof FeedStand.open>[0] = {}): Promise<FeedStand> {
  const stand = await FeedStand.open(options)
  closers.push(() => stand.close())
  return stand
}

/** User n buys enough of a player to move the price. */
const buys = async (rig: RealtimeRig, n: number, player: number) =>
  ok(await rig.desk.submit(openOrder({ userId: U(n), instrumentId: P(player), lots: lots(u(1)) })))

describe('the endpoint of the price feed', () => {
  it('[W2] when a token cannot be checked the socket is closed with 1013 and the fault reported', async () => {
    const rig = await openRealtimeRig()
    expect(await rig.closedWith('/?token=broken')).toBe(1013)
    expect(rig.reports).toHaveLength(1)
  })

  it('[W19] only a hundred refused sockets a second are told why; the others get the HTTP status', async () => {
    const rig = await openRealtimeRig()
    const codes = await Promise.all(Array.from({ length: 100 }, () => rig.closedWith('/?token=nobody')))
    expect(new Set(codes)).toEqual(new Set([4001]))
    expect(await rig.refusedWith('/?token=nobody')).toBe(401)
    rig.world.pass(1_000)
    expect(await rig.closedWith('/?token=nobody')).toBe(4001)
  })

  it('[W19] an address above its limit is refused with 429, whatever it asks for; a user with 4029', async () => {
    let left = 1
    const rig = await openRealtimeRig({ doorLimits: { admitsAddress: async () => left-- > 0 } })
    expect((await rig.feedClient()).ws.readyState).toBe(1)
    for (const path of ['/?token=1', '/', '/x/match-90001', '/nowhere']) expect(await rig.refusedWith(path)).toBe(429)
    const strict = await openRealtimeRig({ doorLimits: { admitsUser: async (user) => user !== U(1) } })
    expect(await strict.closedWith('/?token=1')).toBe(4029)
    expect((await strict.feedClient('2')).ws.readyState).toBe(1)
  })

  it('[W20] while the game is open to admins alone, others are closed with 4003', async () => {
    const rig = await openRealtimeRig()
    expect(await rig.closedWith('/?token=early')).toBe(4003)
  })

  it('[W20] the sockets of chosen visitors end, and no others', async () => {
    const rig = await openRealtimeRig()
    const [early, ended, other] = [await rig.feedClient('1'), await rig.feedClient('2'), await rig.feedClient('3')]
    expect(rig.realTime.visitors()).toEqual([1, 2, 3].map((n) => ({ userId: U(n), sessionId: sessionOf(n) })))
    rig.realTime.disconnectVisitors(({ userId }) => userId === U(1), 'coming soon')
    rig.realTime.disconnectVisitors(({ sessionId }) => sessionId === sessionOf(2), 'session over')
    expect([await early.closed, await ended.closed]).toEqual([4003, 4001])
    other.ask({ type: 'ping', id: 1 })
    await until('the other is answered', () => other.said.length === 1)
  })

  it('an upgrade on any other path is answered 404', async () => {
    const rig = await openRealtimeRig()
    for (const path of ['/feed?token=1', '/x/match-1?token=1', '/a/b/c', '//']) {
      expect(await rig.refusedWith(path), path).toBe(404)
    }
  })

  it('[H1] a refused upgrade is told why, and when to try again', async () => {
    const rig = await openRealtimeRig({ doorLimits: { admitsAddress: async ({ url }) => url !== '/limited' } })
    const json = { 'content-type': 'application/json' }
    expect(await rig.refusalOf('/api/ws')).toMatchObject({ status: 404, body: '{"error":"not found"}', headers: json })
    expect(await rig.refusalOf('/limited')).toMatchObject({
      status: 429,
      body: '{"error":"too many requests"}',
      headers: { ...json, 'retry-after': '60' },
    })
  })

  it('[X8] an upgrade with two hosts is answered 400', async () => {
    const { address } = await openRealtimeRig()
    const socket = connect(Number(address.split(':')[1]), '127.0.0.1')
    const asks = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA'
    socket.write(`GET /?token=1 HTTP/1.1\r\nHost: here\r\nHost: elsewhere\r\n${asks}AAAAAAAAAAAAAAAAAA==\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 /)
  })

  it('[X8] a refused upgrade harms the process neither by a reset nor by a connection that its client keeps', async () => {
    const rig = await openRealtimeRig({ doorLimits: { admitsAddress: async ({ url }) => url !== '/limited' } })
    const port = Number(rig.address.split(':')[1])
    const asks = 'Host: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13'
    const request = (path: string): string =>
      `GET ${path} HTTP/1.1\r\n${asks}\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`
    for (const [path, status] of [
      ['/nothing', 404],
      ['/limited', 429],
    ] as const) {
      // One does not read the answer, one resets when it has it, one goes on to send and never ends its side.
      const hasty = connect(port, '127.0.0.1', () => hasty.write(request(path), () => hasty.resetAndDestroy()))
      const reset = connect(port, '127.0.0.1', () => reset.write(request(path)))
      const [answer] = await once(reset, 'data')
      expect(String(answer)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      reset.resetAndDestroy()
      const kept = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => kept.write(request(path)))
      kept.on('error', () => undefined)
      kept.resume()
      await once(kept, 'end')
      kept.write('x')
    }
    await vi.waitUntil(() => rig.openSockets() === 0, { timeout: 10_000 })
    expect(await rig.refusedWith('/nothing')).toBe(404)
  })

  it('[X8] no name that every object has is a room', async () => {
    const rig = await openRealtimeRig()
    for (const name of ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty']) {
      expect(await rig.refusedWith(`/x/${name}?sessionId=1`), name).toBe(404)
      expect(await rig.closedWith(`/x/${name}?sessionId=1&reconnectionToken=1`), name).toBe(1012)
      for (const method of ['joinById', 'reconnect', 'create', name]) {
        const body = JSON.stringify({ reconnectionToken: '1' })
        const { status } = await fetch(`http://${rig.address}/matchmake/${method}/${name}?token=1`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        expect([403, 404, 409], `${method} ${name}`).toContain(status)
      }
    }
  })

  it('a connection without a complete request in time is cut, and no other', async () => {
    const stand = await openStand({ handshakeMs: 200 })
    const here = await stand.client()
    const cut = (socket: Socket): Promise<void> =>
      new Promise((resolve) => socket.on('close', () => resolve()).resume())
    const silent = connect(stand.port, '127.0.0.1')
    const slow = connect(stand.port, '127.0.0.1')
    slow.on('error', () => undefined) // cut while it writes
    const request = 'GET /?token=2 HTTP/1.1\r\nHost: here\r\n'
    let sent = 0
    const dripping = setInterval(() => slow.write(request[sent++ % request.length] ?? ''), 20)
    await Promise.all([cut(silent), cut(slow)])
    clearInterval(dripping)
    expect(here.ws.readyState).toBe(here.ws.OPEN)
  })

  it('[W3] signing out closes the sockets of that user with 4001, and no others', async () => {
    const rig = await openRealtimeRig()
    const leaver = await rig.feedClient('1')
    const other = await rig.feedClient('2')
    rig.realTime.disconnectUser(U(1))
    expect(await leaver.closed).toBe(4001)
    other.ask({ type: 'ping', id: 1 })
    await until('the other is answered', () => other.said.length === 1)
  })
})

describe('a subscription', () => {
  it('[W4] brings the current price at once, and from then on the moves of that instrument only', async () => {
    const rig = await openPlaying()
    const client = await rig.feedClient()
    expect(await client.subscribe([P(1)])).toMatchObject({
      type: 'subscribed',
      id: 7,
      instrumentIds: [P(1)],
      rejected: [],
    })
    await until('the snapshot', () => client.prices.length === 1)
    expect(client.prices[0]).toMatchObject({ instrumentId: P(1), flags: FLAG.snapshot, epoch: 1, status: 'OPEN' })
    await buys(rig, 1, 2)
    const trade = await buys(rig, 1, 1)
    await until('the move', () => client.prices.length === 2)
    expect(client.prices[1]).toMatchObject({
      instrumentId: P(1),
      flags: 0,
      cause: 'trade',
      price: trade.price,
      imbalance: u(1),
      previous: client.prices[0]?.price,
    })
  })

  it('[W7] a newly listed player can be followed before the next beat', async () => {
    const stand = await openStand({ players: 1 })
    const client = await stand.client()
    await client.subscribe([P(1)])
    stand.move(1)
    await until('the move', () => client.prices.length === 2) // and now the feed rests for a while
    stand.move(2)
    expect(await client.subscribe([P(2)])).toMatchObject({ instrumentIds: [P(2)], rejected: [] })
    await until('the price, once', () => client.prices.length === 3)
  })

  it('[W8] with `since` it sends the missed moves, flagged REPLAY; with another epoch a snapshot', async () => {
    const rig = await openPlaying()
    const witness = await rig.feedClient()
    await witness.subscribe([P(1)])
    for (let n = 1; n <= 3; n++) {
      await buys(rig, 1, 1)
      await until('the move', () => witness.prices.length === 1 + n)
    }
    const [, first, second, third] = witness.prices
    const client = await rig.feedClient('2')
    await client.subscribe([P(1)], { since: { epoch: 1, seq: first?.seq } })
    await until('two moves', () => client.prices.length === 2)
    expect(client.prices).toEqual([
      { ...second, flags: FLAG.replay },
      { ...third, flags: FLAG.replay },
    ])
    await client.subscribe([P(1)], { since: { epoch: 9, seq: first?.seq } })
    await until('the snapshot', () => client.prices.length === 3)
    expect(client.prices[2]).toEqual({ ...third, flags: FLAG.snapshot })
  })

  it('[W9] a subscription activates a match that does not run', async () => {
    const rig = await openPlaying()
    const price = rig.desk.view(MATCH)?.instrument(P(1))?.base
    await rig.restart()
    const client = await rig.feedClient()
    await client.subscribe([P(1)])
    await until('the snapshot', () => client.prices.length === 1)
    expect(client.prices[0]).toMatchObject({ epoch: 2, seq: 0, flags: FLAG.snapshot, price })
  })

  it('a player is busy, not unknown, during a handover of the match; a later request gets the prices', async () => {
    const rig = await openPlaying()
    await rig.restart()
    vi.spyOn(rig.store, 'acquire').mockResolvedValueOnce(null) // the lease of the dead owner has not run out
    const client = await rig.feedClient()
    expect(await client.subscribe([P(1)])).toMatchObject({
      instrumentIds: [],
      rejected: [{ instrumentId: P(1), code: 'busy' }],
    })
    expect(await client.subscribe([P(1)])).toMatchObject({ instrumentIds: [P(1)], rejected: [] })
    await until('the snapshot', () => client.prices.length === 1)
  })

  it('[W10] a change of trading status is published even if the price does not change', async () => {
    const rig = await openPlaying()
    const client = await rig.feedClient()
    await client.subscribe([P(1)])
    await rig.plays({ state: 'SUSPENDED' })
    await until('the suspension', () => client.prices.length === 2)
    expect(client.prices[1]).toMatchObject({ flags: FLAG.suspended, status: 'SUSPENDED', phase: 'frozen' })
  })
})

describe('the rules of a socket', () => {
  it('[W11] an invalid message is answered with an error, and the socket stays', async () => {
    const rig = await openRealtimeRig()
    const client = await rig.feedClient()
    for (const nonsense of ['{', '{"type":"account","since":"yesterday"}', '{"type":"subscribe","instrumentIds":[]}'])
      client.ask(nonsense)
    await until('three errors', () => client.said.length === 3)
    expect(client.said.map((said) => said['code'])).toEqual(['bad_message', 'bad_message', 'bad_message'])
    client.ask({ type: 'subscribe', id: 7, instrumentIds: 'all' })
    await until('the fourth error', () => client.said.length === 4)
    expect(client.said[3]).toMatchObject({ type: 'error', id: 7, code: 'bad_message' })
    client.ask({ type: 'subscribe', instrumentIds: Array.from({ length: 300 }, () => 1) })
    await until('the fifth error', () => client.said.length === 5)
    expect(client.said[4]).toMatchObject({ message: expect.stringMatching(/^.{1,500}; and 295 more$/) })
    expect(client.ws.readyState).toBe(client.ws.OPEN)
  })

  it('[W12] more than ten messages in a second close it with 4029, a message over 16 KiB with 1009', async () => {
    const rig = await openRealtimeRig()
    const talker = await rig.feedClient()
    for (let n = 0; n < 11; n++) talker.ask({ type: 'ping', id: n })
    expect(await talker.closed).toBe(4029)
    const shouter = await rig.feedClient()
    shouter.ask({ type: 'ping', padding: 'x'.repeat(16 * 1024) })
    expect(await shouter.closed).toBe(1009)
  })

  it('[W12] one socket follows at most 500 instruments', async () => {
    const stand = await openStand({ players: 510 })
    const client = await stand.client()
    const ids = Array.from({ length: 510 }, (_, i) => P(i + 1))
    await client.subscribe(ids.slice(0, 300))
    await until('the snapshots', () => client.prices.length === 300)
    const answer = await client.subscribe(ids.slice(300))
    expect(answer['instrumentIds']).toHaveLength(200)
    expect(answer['rejected']).toContainEqual({ instrumentId: P(501), code: 'limit' })
    // What it follows already is no new instrument.
    expect(await client.subscribe([P(1)])).toMatchObject({ instrumentIds: [P(1)], rejected: [] })
  })

  it('an idle socket gets a heartbeat within ten seconds, a dead one is cut', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const rig = await openRealtimeRig()
    const client = await rig.feedClient()
    await vi.advanceTimersByTimeAsync(10_000)
    await until('the heartbeat', () => client.said.some((said) => said.type === 'heartbeat'))
    client.ws.pause() // it answers no ping any more
    await vi.advanceTimersByTimeAsync(60_000)
    await until('it is cut', () => rig.realTime.feed.connections === 0)
    expect(client.ws.readyState).toBe(client.ws.OPEN) // it does not know yet: it has stopped reading
  })

  it('[W13] stopping sends `shutdown` with a time to reconnect, then closes with 1012', async () => {
    const rig = await openRealtimeRig()
    const client = await rig.feedClient()
    await rig.realTime.stop()
    expect(await client.closed).toBe(1012)
    expect(client.said).toEqual([{ type: 'shutdown', reconnectInMs: expect.any(Number) }])
    await rig.boot()
    expect((await rig.feedClient()).ws.readyState).toBe(client.ws.OPEN)
  })
})

describe('what a socket may cost', () => {
  it('[W18] a user has at most ten connections; one more is closed with 4029', async () => {
    const rig = await openPlaying({ limits: { perUserMax: 2 } })
    const first = await rig.feedClient('1')
    await rig.feedClient('1')
    expect(await rig.closedWith('/?token=1')).toBe(4029)
    const seat = () => fetch(`http://${rig.address}/matchmake/joinById/match-${MATCH}?token=1`, { method: 'POST' })
    expect((await seat()).status).toBe(429)
    await rig.feedClient('2')
    first.ws.terminate()
    await until('the socket is gone', () => rig.realTime.feed.connections === 2)
    expect((await seat()).status).toBe(200)
    expect(await rig.closedWith('/?token=1')).toBe(4029)
  })

  it('[W18] the limit of the process counts both endpoints; the room answers 503 when it is full', async () => {
    const rig = await openPlaying({ limits: { connectionsMax: 2 } })
    await rig.feedClient('1')
    const seat = (n: number) =>
      fetch(`http://${rig.address}/matchmake/joinById/match-${MATCH}?token=${n}`, { method: 'POST' })
    expect((await seat(2)).status).toBe(200)
    expect((await seat(3)).status).toBe(503)
    expect(await (await rig.feedClient('4')).closed).toBe(1013)
  })

  it('a socket may look up eight unknown instruments at once, then one a second', async () => {
    const asked: string[] = []
    const stand = await openStand({
      wake: async (id) => {
        asked.push(id)
        return 'unknown'
      },
    })
    const client = await stand.client()
    const codes = async (from: number, to: number) => {
      const ids = Array.from({ length: to - from }, (_, i) => P(from + i))
      return (await client.subscribe([...ids, instrumentId('unknown')]))['rejected']
    }
    const rejected = await codes(100, 110)
    expect(rejected).toMatchObject([
      ...Array.from({ length: 8 }, () => ({ code: 'not_found' })),
      { code: 'busy' },
      { code: 'busy' },
      { instrumentId: 'unknown', code: 'not_found' },
    ])
    stand.world.pass(1_000)
    expect(await codes(110, 112)).toMatchObject([{ code: 'not_found' }, { code: 'busy' }, { code: 'not_found' }])
    expect(asked).toHaveLength(9)
  })

  it('lookups are limited, and so are the waiting requests of a socket', async () => {
    const gate = Promise.withResolvers<void>()
    let [atOnce, most, lookups] = [0, 0, 0]
    const stand = await openStand({
      wake: async () => {
        lookups++
        most = Math.max(most, ++atOnce)
        await gate.promise
        atOnce--
        return 'unknown'
      },
    })
    const clients = await Promise.all(Array.from({ length: 12 }, (_, n) => stand.client(String(n))))
    for (const [n, client] of clients.entries()) client.ask({ type: 'subscribe', instrumentIds: [P(500 + n)] })
    await until('some are looked up', () => lookups === 8)
    const client = present(clients[0], 'client')
    for (let n = 0; n < 8; n++) client.ask({ type: 'ping', id: n })
    const pong = new Promise((resolve) => client.ws.once('pong', resolve))
    client.ws.ping()
    await pong
    stand.world.pass(1_000)
    for (let n = 8; n < 11; n++) client.ask({ type: 'ping', id: n })
    await until('two are refused', () => client.said.filter((said) => said['code'] === 'busy').length === 2)
    gate.resolve()
    await until('all are answered', () => clients.every((c) => c.said.some((said) => said.type === 'subscribed')))
    expect([most, lookups]).toEqual([8, 12])
    await until('nine pings are', () => client.said.filter((said) => said.type === 'pong').length === 9)
  })

  it('as many ids as one message may name fit its 16 KiB', async () => {
    const stand = await openStand({ players: 500 })
    const client = await stand.client()
    const ids = Array.from({ length: 401 }, (_, i) => P(i + 1))
    const since = { epoch: 4_294_967_295, seq: Number.MAX_SAFE_INTEGER }
    expect((await client.subscribe(ids.slice(0, 400), { since }))['instrumentIds']).toHaveLength(400)
    expect(await client.subscribe(ids)).toMatchObject({ type: 'error', code: 'bad_message' })
  })
})

describe('a full process', () => {
  it('[W18] closes further sockets with 1013', async () => {
    const stand = await openStand({ connectionsMax: 1 })
    const first = await stand.client()
    const second = await stand.client()
    expect(await second.closed).toBe(1013)
    expect((await first.subscribe([P(1)]))['instrumentIds']).toEqual([P(1)])
  })
})

describe('a slow socket', () => {
  it('[W14] is closed when its writes do not drain, and delays no other', async () => {
    const stand = await openStand({ players: 300 })
    const { feed, world } = stand
    const slow = await stand.client('1')
    const fast = await stand.client('2')
    const ids = Array.from({ length: 300 }, (_, i) => P(i + 1))
    await fast.subscribe([P(1)])
    slow.ws.pause()
    // 28 KB for each subscription: enough of them fill the kernel's buffers, which hide a stall at first.
    const flood = setInterval(() => {
      if (slow.ws.readyState === slow.ws.OPEN) slow.ask({ type: 'subscribe', instrumentIds: ids })
      world.pass(1_000)
    }, 1)
    await until('it is closed', () => feed.connections === 1).finally(() => clearInterval(flood))
    stand.move(1)
    await until('the fast one is served', () => fast.prices.length === 2)
    expect(fast.prices[1]).toMatchObject({ seq: 1, flags: 0 })
  })
})
