import { Socket } from 'node:net'
import type { Room } from '@colyseus/sdk'
import { ClientState, CloseCode, matchMaker, Protocol } from '@colyseus/core'
import { WebSocketClient } from '@colyseus/ws-transport'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { MICROS_MAX, price } from '../../actors/kernel/micros.ts'
import { fixtureId, instrumentId } from '../../actors/kernel/ids.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import { MatchRoom, matchRoomId } from '../../rooms/match/match-room.ts'
import { MatchWire } from '../../rooms/match/match-wire.ts'
import { decodePriceFrame, FLAG, type PriceFrame } from '../../rooms/feed/price-frame.ts'
import { half, MATCH, openOrder, P, player, U } from '../support/fixtures.ts'
import { ok } from '../support/actor-rig.ts'
import { RealtimeRig, sessionOf, until } from './realtime-rig.ts'

let rig: RealtimeRig
const rooms: Room[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const room of rooms.splice(0)) {
    room.reconnection.enabled = false
    room.connection.close()
  }
  await rig.close()
})

const seat = (token: string) => rig.sdk(token).joinById(matchRoomId(MATCH), {}, MatchWire)
type MatchSdkRoom = Awaited<ReturnType<typeof seat>>

interface Viewer {
  readonly room: MatchSdkRoom
  readonly prices: PriceFrame[]
  readonly errors: unknown[]
}

function view(room: MatchSdkRoom): Viewer {
  rooms.push(room)
  const viewer: Viewer = { room, prices: [], errors: [] }
  room.reconnection.minUptime = 0
  room.reconnection.minDelay = 10
  room.onMessage('price', (bytes: Uint8Array) => viewer.prices.push(present(decodePriceFrame(bytes), 'a valid frame')))
  room.onMessage('error', (error: unknown) => viewer.errors.push(error))
  return viewer
}

const join = async (token = '1'): Promise<Viewer> => view(await seat(token))

const Seat = z.object({ processId: z.string(), roomId: z.string(), sessionId: z.string() })

const serverRoom = (): MatchRoom => {
  const room = matchMaker.getLocalRoomById(matchRoomId(MATCH))
  if (!(room instanceof MatchRoom)) throw new Error('the match has no room')
  return room
}

/** A reference to a value of a message, and another. */
const twice = (n: number): number[] => (n < 0 ? [1, 1] : [0xd6, 0x70, 0, 0, 0, n, 0xd6, 0x70, 0, 0, 0, n])

/** Cuts a client's connection without a word. */
function breakOff(room: Room): void {
  const client = present(serverRoom().clients.get(room.sessionId), 'client')
  if (!(client instanceof WebSocketClient)) throw new Error('not a WebSocket')
  client.ref.terminate()
}

const reserve = (): Promise<Response> =>
  fetch(`http://${rig.address}/matchmake/joinById/match-90001?token=1`, { method: 'POST' })

const post = (path: string, body: unknown): Promise<Response> => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(`http://${rig.address}/matchmake/${path}`, init)
}

/** The HTTP status of a matchmaking request. */
const asks = async (path: string, body: unknown = {}): Promise<number> => (await post(path, body)).status

describe('a seat in a match room', () => {
  it('[W19] a user above the limit is answered 429 and activates nothing; [W20] 503 while only admins may play', async () => {
    rig = await RealtimeRig.open({ doorLimits: { admitsUser: async (user) => user !== U(1) } })
    const load = vi.spyOn(rig.store, 'load')
    expect(await asks('joinById/match-90001?token=1')).toBe(429)
    expect(await asks('joinById/match-90001?token=early')).toBe(503)
    expect(load).not.toHaveBeenCalled()
  })

  it('[W21] a match that does not exist is looked up once in two seconds, and eight at most at once', async () => {
    rig = await RealtimeRig.open()
    const { store } = rig
    let [atOnce, most] = [0, 0]
    const load = vi.spyOn(store, 'load').mockImplementation(async () => {
      most = Math.max(most, ++atOnce)
      await new Promise((resolve) => setTimeout(resolve, 30))
      atOnce--
      return null
    })
    const many = Array.from({ length: 40 }, (_, n) => asks(`joinById/match-${n + 1}?token=1`))
    expect(new Set(await Promise.all(many))).toEqual(new Set([404]))
    expect([load.mock.calls.length, most]).toEqual([40, 8])
    for (let n = 0; n < 5; n++) expect(await asks('joinById/match-7?token=1')).toBe(404)
    expect(load).toHaveBeenCalledTimes(40)
    rig.world.pass(2_000)
    expect(await asks('joinById/match-7?token=1')).toBe(404)
    expect(load).toHaveBeenCalledTimes(41)
    load.mockRestore()
    await rig.plays() // what was unknown is found as soon as it runs
    expect(await asks('joinById/match-90001?token=1')).toBe(200)
  })

  it('[W20] a seat of a visitor who must go is freed before it is taken', async () => {
    rig = await RealtimeRig.playing()
    const { processId, roomId, sessionId } = Seat.parse(await (await reserve()).json())
    expect(sessionId).not.toBe(sessionOf(1)) // who knows a user's session must not know their seat
    rig.realTime.disconnectVisitors(() => true, 'coming soon')
    expect(rig.realTime.visitors()).toEqual([])
    const late = new WebSocket(`ws://${rig.address}/${processId}/${roomId}?sessionId=${sessionId}`)
    expect(await new Promise<number>((resolve) => late.addEventListener('close', ({ code }) => resolve(code)))).toBe(
      4001,
    )
    const { room } = await join('2')
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    rig.realTime.disconnectVisitors(({ userId }) => userId === U(2), 'coming soon')
    expect(await closed).toBe(4003)
  })

  it('[W16] clients cannot create rooms, by any method or name', async () => {
    rig = await RealtimeRig.open()
    for (const path of ['create/match', 'create/replay', 'query/match']) {
      expect(await asks(`${path}?token=1`, { matchId: 90_001 }), path).toBe(403)
    }
    const unknown = ['joinById/match-90001', 'joinById/other-1', 'join/match', 'join/other']
    for (const path of [...unknown, 'joinOrCreate/match', 'joinOrCreate/other', 'joinOrCreate/replay']) {
      expect(await asks(`${path}?token=1`, { matchId: 90_001 }), path).toBe(404)
    }
    expect(await (await post('reconnect/match-90001', {})).json()).toMatchObject({
      code: 'VALIDATION_FAILED',
      issues: [{ path: 'reconnectionToken' }],
    })
    await expect(rig.sdk().create('match', { matchId: MATCH })).rejects.toMatchObject({ code: 403 })
    const missing = { code: 404, message: 'no such match' }
    await expect(rig.sdk().joinOrCreate('match', { matchId: MATCH })).rejects.toMatchObject(missing)
    await expect(rig.sdk().joinOrCreate('match')).rejects.toMatchObject(missing)
    expect(await matchMaker.query({})).toHaveLength(0)
  })

  it('[W16] `joinOrCreate` of the stock SDK joins the running room of the match', async () => {
    rig = await RealtimeRig.playing()
    const [one, two] = [view(await rig.sdk('1').joinOrCreate('match', { matchId: MATCH }, MatchWire)), await join('2')]
    expect(one.room.roomId).toBe(two.room.roomId)
    expect(await matchMaker.query({})).toHaveLength(1)
    expect(serverRoom().clients).toHaveLength(2)
  })

  it('[W9] a match is joined by its room id, or by name and match id, and activated if it does not run', async () => {
    rig = await RealtimeRig.playing()
    await rig.restart()
    const byId = await join('1')
    const byName = view(await rig.sdk('2').join('match', { matchId: MATCH }, MatchWire))
    expect(byId.room.roomId).toBe(byName.room.roomId)
  })
})

describe('an SDK client', () => {
  it('sees the match as synced state in exact integers', async () => {
    rig = await RealtimeRig.open()
    rig.grant(1)
    await rig.plays({ home: { id: 1, name: 'Harbour', goals: 2, shootout: 4 } })
    const { room } = await join()
    room.send('subscribe', { instrumentIds: [P(1), P(2)] })
    await until('the state', () => room.state.instruments?.size === 2)
    expect(room.state.toJSON()).toMatchObject({
      matchId: MATCH,
      phase: 'live',
      minute: 0,
      homeGoals: 2,
      awayGoals: 0,
      homeShootout: 4,
      awayShootout: -1,
      trading: 'OPEN',
    })
    const trade = ok(await rig.desk.submit(openOrder()))
    await until('the price', () => room.state.instruments.get(P(1))?.price === trade.price)
    expect(room.state.instruments.get(P(1))?.imbalance).toBe(trade.position.lots)
    const wire = present(serverRoom().state.instruments.get(P(2)), 'instrument')
    // The room soon shows the true one again, sometimes before the client has taken the patch.
    const seen = new Set<unknown>()
    room.onStateChange((state) => void seen.add(state.instruments.get(P(2))?.imbalance))
    for (const edge of [price(MICROS_MAX), -1, -MICROS_MAX]) {
      await until(`${edge} arrives`, () => {
        if (seen.has(edge)) return true
        wire.imbalance = edge
        serverRoom().broadcastPatch()
        return false
      })
    }
  })

  it('[W24] sees in the state the players it follows, and of the others nothing, whatever others follow', async () => {
    rig = await RealtimeRig.playing({ players: 4 })
    // The stock client learns the layout of the state from the server.
    const joined = async (token: string) => {
      const room = await rig
        .sdk(token)
        .joinOrCreate<{ toJSON(): { instruments?: object } }>('match', { matchId: MATCH })
      rooms.push(room)
      room.onMessage('price', () => undefined)
      const frames: string[] = []
      const { onmessage } = room.connection.events
      const keep = (event: { readonly data: ArrayBuffer }): void => {
        frames.push(Buffer.from(event.data).toString('latin1'))
        onmessage?.(event)
      }
      Object.assign(room.connection.events, { onmessage: keep })
      return { room, frames, seen: () => Object.keys(room.state.toJSON().instruments ?? {}).toSorted() }
    }
    const [silent, one, two] = [await joined('1'), await joined('2'), await joined('3')]
    const patched = async (): Promise<void> => {
      await until('all have joined', () => serverRoom().clients.every(({ state }) => state === ClientState.JOINED))
      ok(await rig.desk.submit(openOrder({ instrumentId: P(4) })))
      serverRoom().broadcastPatch()
      await rig.plays()
      serverRoom().broadcastPatch()
      for (const { room } of [silent, one, two]) await room.request('unsubscribe', { instrumentIds: [] }).catch(() => 0)
    }
    await one.room.request('subscribe', { instrumentIds: [P(1), P(2)] })
    await two.room.request('subscribe', { instrumentIds: [P(2), P(3)] })
    await patched()
    expect([silent.seen(), one.seen(), two.seen()]).toEqual([[], [P(1), P(2)], [P(2), P(3)]])
    expect(one.room.state.toJSON()).toMatchObject({ instruments: { [P(1)]: { trading: 'OPEN' } } })
    await one.room.request('unsubscribe', { instrumentIds: [P(1)] })
    await two.room.request('subscribe', { instrumentIds: [P(4)] })
    await patched()
    expect([silent.seen(), one.seen(), two.seen()]).toEqual([[], [P(2)], [P(2), P(3), P(4)]])
    await one.room.request('subscribe', { instrumentIds: [P(1)] })
    await one.room.request('unsubscribe', { instrumentIds: [P(1)] })
    await one.room.request('unsubscribe', { instrumentIds: [P(2)] })
    await one.room.request('subscribe', { instrumentIds: [P(2)] })
    await patched()
    expect([silent.seen(), one.seen(), two.seen()]).toEqual([[], [P(2)], [P(2), P(3), P(4)]])
    const { base } = present(rig.desk.view(MATCH)?.instrument(P(2)), 'instrument')
    await until('the newest price', () => JSON.stringify(one.room.state.toJSON()).includes(`"base":${base},`))
    // Not one byte about a player reached who does not follow them.
    expect(silent.frames.filter((frame) => /[0-9a-f]{8}-/.test(frame))).toEqual([])
    expect(one.frames.filter((frame) => frame.includes(P(3)) || frame.includes(P(4)))).toEqual([])
  })

  it('[W24] a player who is listed later is seen by those who follow them alone', async () => {
    rig = await RealtimeRig.open({ players: 2 })
    await rig.plays({ players: [player(1)] })
    const [one, two] = [await join('1'), await join('2')]
    for (const { room } of [one, two]) await room.request('subscribe', { instrumentIds: [P(1)] })
    await rig.plays()
    await two.room.request('subscribe', { instrumentIds: [P(2)] })
    await until('the state', () => two.room.state.instruments?.size === 2)
    expect([...one.room.state.instruments.keys()]).toEqual([P(1)])
  })

  it('[W4] gets the price frames of what it subscribed to, and of nothing else', async () => {
    rig = await RealtimeRig.playing()
    const { room, prices } = await join()
    const stranger = instrumentId('cccccccc-0000-5000-8000-000000000001')
    expect(await room.request('subscribe', { instrumentIds: [P(1), stranger] })).toEqual({
      instrumentIds: [P(1)],
      rejected: [{ instrumentId: stranger, code: 'not_found' }],
    })
    await until('the snapshot', () => prices.length === 1)
    expect(prices[0]).toMatchObject({ instrumentId: P(1), flags: FLAG.snapshot })
    ok(await rig.desk.submit(openOrder({ instrumentId: P(2) })))
    const trade = ok(await rig.desk.submit(openOrder({ instrumentId: P(1) })))
    await until('the move', () => prices.length === 2)
    expect(prices[1]).toMatchObject({ instrumentId: P(1), price: trade.price, cause: 'trade' })
    await room.request('unsubscribe', { instrumentIds: [P(1)] })
    const witness = await rig.feedClient('2')
    await witness.subscribe([P(1)])
    ok(await rig.desk.submit(openOrder({ instrumentId: P(1) })))
    await until('the next move is out', () => witness.prices.length === 2)
    await room.request('unsubscribe', { instrumentIds: [P(1)] }) // whatever was sent before its answer has arrived
    expect(prices).toHaveLength(2)
  })

  it('[W5] both endpoints send the same bytes', async () => {
    rig = await RealtimeRig.playing()
    const viewer = await join()
    const plain = await rig.feedClient('2')
    await viewer.room.request('subscribe', { instrumentIds: [P(1)] })
    await plain.subscribe([P(1)])
    ok(await rig.desk.submit(openOrder()))
    await until('both moves', () => viewer.prices.length === 2 && plain.prices.length === 2)
    expect(viewer.prices).toEqual(plain.prices)
  })

  it('[W11] an invalid message is answered with an error, and the client stays', async () => {
    rig = await RealtimeRig.playing()
    const { room, errors } = await join()
    room.send('subscribe', { instrumentIds: 'all' })
    room.send('buy', { lots: 100 })
    room.send('subscribe', { instrumentIds: Array.from({ length: 300 }, () => 1) })
    await until('three errors', () => errors.length === 3)
    expect(JSON.stringify(errors[2])).toMatch(/^.{1,600}; and 295 more"}$/)
    await expect(room.request('subscribe', {})).rejects.toMatchObject({ reason: { code: 'bad_message' } })
    expect(room.connection.isOpen).toBe(true)
    expect(rig.reports).toEqual([])
  })

  it('[W11] a small message that is a huge value is not read, whatever its type', async () => {
    rig = await RealtimeRig.playing()
    const { room, errors } = await join()
    // Of 60 levels, each twice that below.
    const levels = Array.from({ length: 60 }, (_, n) => [0xd6, 0x69, 0, 0, 0, n, 0x92, ...twice(n - 1)]).flat()
    const value = [0xdc, 0, 60, ...levels]
    for (const name of ['subscribe', '*', 'constructor', '__proto__']) {
      room.connection.send(Buffer.from([Protocol.ROOM_DATA, 0xa0 + name.length, ...Buffer.from(name), ...value, 0]))
      room.connection.send(Buffer.from([Protocol.ROOM_DATA, 0xa0 + name.length, ...Buffer.from(name), 0x90]))
    }
    await until('the errors', () => errors.length === 8)
    expect(room.connection.isOpen).toBe(true)
    expect(rig.reports).toEqual([])
  })

  it('[W11] so is one whose payload cannot be read, and a request of that kind', async () => {
    rig = await RealtimeRig.playing()
    const { room, errors } = await join()
    const type = [0xa9, ...Buffer.from('subscribe')]
    const cutOff = [0xdf, 0xff, 0xff, 0xff, 0xff] // a map of four thousand million entries
    room.connection.send(Buffer.from([Protocol.ROOM_DATA, ...type, ...cutOff]))
    room.connection.send(Buffer.from([Protocol.ROOM_REQUEST, 1, ...type, ...cutOff]))
    room.send('buy', {})
    await until('the errors', () => errors.length === 2)
    expect(errors).toMatchObject([{ code: 'bad_message' }, { message: 'no such message: buy' }])
    expect(room.connection.isOpen).toBe(true)
    expect(rig.reports).toEqual([])
  })

  it('[W17] reconnects after a broken connection and still follows the same instruments', async () => {
    rig = await RealtimeRig.playing()
    const { room, prices } = await join()
    await room.request('subscribe', { instrumentIds: [P(1)] })
    let returned = false
    room.onReconnect(() => (returned = true))
    breakOff(room)
    await until('it has reconnected', () => returned && serverRoom().clients.get(room.sessionId)?.state === 1)
    await until('the current price', () => prices.length === 2)
    expect(prices[1], 'no move, for it was there before').toEqual({ ...prices[0], flags: FLAG.snapshot })
    const trade = ok(await rig.desk.submit(openOrder()))
    await until('the move', () => prices.length === 3)
    expect(prices[2]).toMatchObject({ flags: 0, price: trade.price })
    await until('the state', () => room.state.instruments?.get(P(1))?.price === trade.price)
    expect(room.state.instruments.size).toBe(1)
  })

  it('[W17] reconnects before the server has noticed that its connection broke', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    await room.request('subscribe', { instrumentIds: [P(1)] })
    const { prices, room: returned } = view(await rig.sdk('expired').reconnect(room.reconnectionToken, MatchWire))
    await until('the current price', () => prices.length === 1)
    ok(await rig.desk.submit(openOrder()))
    await until('the move', () => prices.length === 2)
    await until('the state', () => returned.state.instruments?.size === 1)
    expect([returned.sessionId, serverRoom().connections]).toEqual([room.sessionId, 1])
  })

  it('[W17] a connection that comes in the place of another ends that one, though it lives', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    room.reconnection.enabled = false
    const left = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    const [roomId, reconnectionToken] = room.reconnectionToken.split(':')
    const path = `${matchMaker.processId}/${roomId}?sessionId=${room.sessionId}&reconnectionToken=${reconnectionToken}`
    const next = new WebSocket(`ws://${rig.address}/${path}`)
    expect(await left).toBe(CloseCode.MAY_TRY_RECONNECT)
    expect(next.readyState).toBe(WebSocket.OPEN)
    expect(serverRoom().connections).toBe(1)
    next.close()
  })

  it('[W17] so does one that reconnects by itself', async () => {
    rig = await RealtimeRig.playing()
    const { room, prices } = await join()
    await room.request('subscribe', { instrumentIds: [P(1)] })
    const before = present(serverRoom().clients.get(room.sessionId), 'client')
    const returned = new Promise((resolve) => room.onReconnect(() => resolve(true)))
    room.connection.events.onclose?.({ code: CloseCode.ABNORMAL_CLOSURE })
    await returned
    expect(serverRoom().clients.get(room.sessionId)).not.toBe(before)
    await until('the current price', () => prices.length === 2)
  })

  it('[W17] sends what it has queued when it reconnects, and [W12] is closed with 4029 when it sends more', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    const ask = (): void => room.send('unsubscribe', { instrumentIds: [P(1)] })
    await room.request('subscribe', { instrumentIds: [P(1)] })
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    room.reconnection.minDelay = 100
    room.onDrop(() => {
      for (let n = 0; n < 10; n++) ask()
    })
    const returned = new Promise((resolve) => room.onReconnect(() => resolve(true)))
    breakOff(room)
    await returned
    expect(await room.request('unsubscribe', { instrumentIds: [P(1)] })).toEqual({ instrumentIds: [P(1)] })
    for (let n = 0; n < 20; n++) ask()
    expect(await closed).toBe(4029)
  })

  it('[W17] that reconnects gets the current prices of what it follows', async () => {
    rig = await RealtimeRig.playing()
    const { room, prices } = await join()
    await room.request('subscribe', { instrumentIds: [P(1)] })
    room.reconnection.minDelay = 100
    const gone = new Promise((resolve) => room.onDrop(() => resolve(true)))
    breakOff(room)
    await gone
    const trade = ok(await rig.desk.submit(openOrder()))
    await until('the newest price', () => prices.length === 2)
    expect(prices[1]).toMatchObject({ flags: FLAG.snapshot, price: trade.price })
  })

  it('[W17] whose seat is lost is closed with 1012, because its session may last, and joins again', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    const { sessionId, reconnectionToken } = room
    const path = `?sessionId=${sessionId}&reconnectionToken=${reconnectionToken.split(':')[1]}`
    await room.leave()
    await until('the seat is free', () => serverRoom().clients.length === 0)
    // The room is here, or another process has it.
    for (const id of ['match-90001', 'match-7']) expect(await rig.closedWith(`/x/${id}${path}`)).toBe(1012)

    const { room: returning } = await join()
    const left = new Promise((resolve) => returning.onLeave((code) => resolve(code)))
    Object.assign(returning, { reconnectionToken })
    breakOff(returning)
    expect(await left).toBe(1012)
    const again = await join()
    await until('the state', () => again.room.state.matchId === MATCH)
  })

  it('[W12] that sends too many messages is closed with 4029', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    for (let n = 0; n < 11; n++) room.send('unsubscribe', { instrumentIds: [P(1)] })
    expect(await closed).toBe(4029)
  })

  it('[W13] is told when to reconnect before a shutdown, and joins again after the restart', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    const said: unknown[] = []
    room.onMessage('shutdown', (message: unknown) => said.push(message))
    await until('it has arrived', () => serverRoom().clients[0]?.state === 1)
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    await rig.realTime.stop()
    expect(await closed).toBe(1012)
    expect(said).toEqual([{ reconnectInMs: expect.any(Number) }])
    await rig.boot()
    const again = await join()
    await until('the state', () => again.room.state.matchId === MATCH)
  })

  it('signing out frees the seats of clients that are away or have not connected yet', async () => {
    rig = await RealtimeRig.playing({ limits: { perUserMax: 2 } })
    const { room } = await join('1')
    await until('it has arrived', () => serverRoom().clients[0]?.state === 1)
    room.reconnection.enabled = false
    breakOff(room)
    await until('it is away', () => serverRoom().clients.length === 0)
    const [roomId, reconnectionToken] = room.reconnectionToken.split(':')
    const { sessionId } = Seat.parse(await (await reserve()).json())
    expect((await reserve()).status).toBe(429)
    rig.realTime.disconnectUser(U(1))
    await until('no seat is reserved', () => !serverRoom().hasReservedSeat(room.sessionId, reconnectionToken))
    expect(await asks(`reconnect/${roomId}`, { reconnectionToken })).toBe(409)
    const late = new WebSocket(`ws://${rig.address}/${matchMaker.processId}/${roomId}?sessionId=${sessionId}`)
    expect(await new Promise<number>((resolve) => late.addEventListener('close', ({ code }) => resolve(code)))).toBe(
      4001,
    )
    expect((await reserve()).status).toBe(200)
    expect((await reserve()).status).toBe(200)
  })

  it('a seat that is not taken in time is freed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    rig = await RealtimeRig.playing({ limits: { perUserMax: 1 } })
    expect((await reserve()).status).toBe(200)
    expect((await reserve()).status).toBe(429)
    vi.advanceTimersByTime(10_000)
    serverRoom().clock.tick()
    expect((await reserve()).status).toBe(200)
  })

  it('[W15] gets nothing before it has acknowledged its join, then only the newest price of each instrument that moved', async () => {
    rig = await RealtimeRig.playing()
    const viewer = await join()
    const witness = await rig.feedClient('2')
    await viewer.room.request('subscribe', { instrumentIds: [P(1)] })
    await witness.subscribe([P(1)])
    await until('the snapshots', () => viewer.prices.length === 1 && witness.prices.length === 1)
    const client = present(serverRoom().clients[0], 'client')
    client.state = ClientState.JOINING
    for (let n = 1; n <= 3; n++) {
      ok(await rig.desk.submit(openOrder()))
      await until('the witness has it', () => witness.prices.length === 1 + n)
    }
    expect(viewer.prices).toHaveLength(1)
    client.state = ClientState.JOINED
    await until('the newest price', () => viewer.prices.length === 2)
    expect(viewer.prices[1]).toEqual({ ...witness.prices[3], flags: FLAG.conflated })
  })

  it('[W3] is closed with 4001 when its user signs out, and cannot reconnect', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join('1')
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    rig.realTime.disconnectUser(U(1))
    expect(await closed).toBe(4001)
    await until('the seat is free', () => serverRoom().clients.length === 0)
    const [roomId, reconnectionToken] = room.reconnectionToken.split(':')
    expect(await asks(`reconnect/${roomId}`, { reconnectionToken })).toBe(409)
  })

  it('[W3] whose user has signed out cannot keep its seat by breaking off instead of closing', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join('1')
    await until('it has arrived', () => serverRoom().clients[0]?.state === 1)
    room.reconnection.enabled = false
    rig.realTime.disconnectUser(U(1))
    breakOff(room)
    await until('the break is noticed', () => serverRoom().clients.length === 0)
    expect(rig.realTime.visitors()).toEqual([])
    const [roomId, reconnectionToken] = room.reconnectionToken.split(':')
    expect(await asks(`reconnect/${roomId}`, { reconnectionToken })).toBe(409)
  })

  it('a patch queued for a slow client is not overwritten by the next one', async () => {
    rig = await RealtimeRig.playing()
    const [, follower] = [await join('1'), await join('2')]
    await follower.room.request('subscribe', { instrumentIds: [P(1)] })
    const room = serverRoom()
    await until('they have joined', () => room.clients.every(({ state }) => state === ClientState.JOINED))
    const queues = room.clients.map((client) => {
      const queued: { readonly bytes: Uint8Array; readonly asSent: string }[] = []
      client.raw = (bytes) => queued.push({ bytes, asSent: Buffer.from(bytes).toString('hex') })
      return queued
    })
    for (let n = 1; n <= 20; n++) {
      present(room.state.instruments.get(P(1)), 'instrument').base = n
      room.state.minute = n
      room.broadcastPatch()
    }
    for (const queued of queues) {
      expect(queued).toHaveLength(20)
      expect(queued.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).toEqual(queued.map((sent) => sent.asSent))
      expect(new Set(queued.map((sent) => sent.asSent)).size).toBe(20)
    }
  })

  it('that never acknowledges its join is closed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    rig = await RealtimeRig.playing()
    const response = await fetch(`http://${rig.address}/matchmake/joinById/match-90001?token=1`, { method: 'POST' })
    const { processId, roomId, sessionId } = Seat.parse(await response.json())
    const path = `${processId}/${roomId}?sessionId=${sessionId}`
    const silent = new WebSocket(`ws://${rig.address}/${path}`)
    const closed = new Promise<number>((resolve) => silent.addEventListener('close', ({ code }) => resolve(code)))
    await until('it is connected', () => serverRoom().clients.length === 1)
    vi.setSystemTime(Date.now() + 5_000)
    serverRoom().clock.tick()
    expect(await closed).toBe(4002)
  })
})

describe('the endpoint of the room', () => {
  it('[W2] a socket without a seat is closed with 4001', async () => {
    rig = await RealtimeRig.playing()
    for (const query of ['', '?sessionId=guess', '?sessionId=constructor']) {
      expect(await rig.closedWith(`/x/match-90001${query}`), query).toBe(4001)
    }
  })

  it('Colyseus itself answers no HTTP request', async () => {
    rig = await RealtimeRig.playing()
    const foreign = { origin: 'https://foreign.example' }
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      for (const path of ['', '__healthcheck', 'matchmake/create/match', 'matchmake/create/replay']) {
        const response = await fetch(`http://${rig.address}/${path}`, { method, headers: foreign })
        expect([405, 403], `${method} ${path}`).toContain(response.status)
        if (response.status === 405) expect(response.headers.get('allow')).toBe('POST')
        expect([...response.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
      }
    }
  })
})

describe('a room in trouble', () => {
  it('[P7] what its match does not take of the feed is counted by reason, and logged once', async () => {
    rig = await RealtimeRig.playing()
    for (let n = 0; n < 3; n++) await rig.plays({ periods: half(1) })
    await rig.plays({ state: 'NS', stateId: 1, periods: [] })
    expect(rig.realTime.stats().refusedUpdates).toEqual({ clock_behind: 3, before_kick_off: 1 })
    expect(rig.warnings).toEqual(
      ['clock_behind', 'before_kick_off'].map((reason) => ({ event: 'feed_update_refused', matchId: MATCH, reason })),
    )
  })

  it('[R31] listeners hear what each match has committed', async () => {
    rig = await RealtimeRig.open()
    const heard: MatchEvent['kind'][] = []
    rig.realTime.listen((events) => heard.push(...events.map(({ kind }) => kind)))
    await rig.plays()
    expect(heard).toEqual(expect.arrayContaining(['match_updated', 'price_moved']))
  })

  it('a timer that throws is reported once', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    rig = await RealtimeRig.playing()
    serverRoom().clock.setTimeout(() => {
      throw new Error('late')
    }, 0)
    for (let n = 1; n <= 5; n++) {
      vi.setSystemTime(Date.now() + 100)
      serverRoom().clock.tick()
    }
    expect(rig.reports.map(({ error }) => String(error))).toEqual(['Error: late'])
  })

  it('an exception in a handler or timer is reported, and the room lives on', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    serverRoom().onMessage('trip', () => {
      throw new Error('tripped')
    })
    serverRoom().clock.setTimeout(() => {
      throw new Error('late')
    }, 0)
    room.send('trip')
    await until('both are reported', () => rig.reports.length >= 2)
    expect(await room.request('unsubscribe', { instrumentIds: [P(1)] })).toEqual({ instrumentIds: [P(1)] })
    await expect(rig.plays()).resolves.toBe('applied')
  })

  it('a frame of a client that is too large closes their connection, and is no error of the server', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    room.send('subscribe', { instrumentIds: ['x'.repeat(20_000)] })
    expect(await closed).toBe(1009)
    expect(rig.reports).toEqual([])
  })

  it('what follows the header of such a frame is not read', async () => {
    rig = await RealtimeRig.playing()
    const { room } = await join()
    const client = present(serverRoom().clients[0], 'client')
    const socket: unknown = client instanceof WebSocketClient && Reflect.get(client.ref, '_socket')
    if (!(socket instanceof Socket)) throw new Error('no connection')
    room.connection.send(Buffer.alloc(16 * 1024 * 1024))
    await until('it is cut off', () => socket.destroyed)
    expect(socket.bytesRead).toBeLessThan(1024 * 1024)
  })

  it('[A4] a match whose lease is lost is retired', async () => {
    rig = await RealtimeRig.playing({ leaseTtlMs: 60 })
    const { room } = await join()
    const closed = new Promise((resolve) => room.onLeave((code) => resolve(code)))
    await rig.store.acquire(MATCH)
    expect(await closed).toBe(1012)
    await until('it is gone', () => rig.desk.view(MATCH) === undefined)
  })

  it('a seat that has not been taken does not delay the retirement of a match', async () => {
    rig = await RealtimeRig.playing({ limits: { perUserMax: 2 } })
    await join()
    expect(await asks('joinById/match-90001?token=1')).toBe(200)
    void serverRoom().retire()
    await until('it is gone', () => rig.desk.view(MATCH) === undefined && matchMaker.stats.local.roomCount === 0)
    // Nor does it count afterwards.
    expect([(await reserve()).status, (await reserve()).status]).toEqual([200, 200])
  })

  it('[A4] after a fenced commit the next command finds a new owner of the match', async () => {
    rig = await RealtimeRig.playing()
    await rig.store.acquire(MATCH)
    await expect(rig.desk.submit(openOrder())).rejects.toThrow()
    await until('it is gone', () => rig.desk.view(MATCH) === undefined)
    expect(ok(await rig.desk.submit(openOrder())).position.fixtureId).toBe(fixtureId(90_001))
    expect((await rig.desk.activate(MATCH))?.epoch).toBe(3)
  })

  it('[Q12] a match that is retired finishes what it has before another owner can fence it', async () => {
    rig = await RealtimeRig.playing()
    await join()
    const gate = Promise.withResolvers<void>()
    const commit = rig.store.commit.bind(rig.store)
    const commits = vi.spyOn(rig.store, 'commit').mockImplementationOnce(async (batch) => {
      await gate.promise
      return commit(batch)
    })
    const outcome = rig.desk.submit(openOrder())
    await until('it is being committed', () => commits.mock.calls.length === 1)
    const before = serverRoom()
    const leaving = before.retire()
    const next = rig.desk.activate(MATCH)
    await new Promise(setImmediate)
    gate.resolve()
    expect(ok(await outcome).repeated).toBe(false)
    await leaving
    expect((await next)?.epoch).toBe(2)
    expect(serverRoom()).not.toBe(before)
    expect(await asks('joinById/match-90001?token=1')).toBe(200)
  })
})
