import { Client as Sdk, type Room } from '@colyseus/sdk'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { matchRoomId } from '../../rooms/match/match-room.ts'
import { MatchWire } from '../../rooms/match/match-wire.ts'
import { decodePriceFrame, FLAG, type PriceFrame } from '../../rooms/feed/price-frame.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { u } from '../support/fixtures.ts'
import { ComposedServer, PATIENCE } from '../support/composed-server.ts'
import { HttpClient, type InstrumentSeen, pick } from '../support/http-client.ts'
import { eachDataPlace } from '../support/data-place.ts'

eachDataPlace((settle) => {
  let server: ComposedServer
  const sockets: FeedClient[] = []
  const rooms: Room[] = []
  beforeAll(async () => {
    server = await ComposedServer.open(await settle())
  })
  afterAll(async () => {
    for (const { ws } of sockets) ws.terminate()
    for (const room of rooms) room.reconnection.enabled = false
    await server.close()
  })

  /** A plain WebSocket with a fresh ticket, and the length of every price message on it. */
  async function plainHttpRig(player: HttpClient): Promise<FeedClient & { readonly lengths: number[] }> {
    const client = Object.assign(new FeedClient(await player.socketUrl()), { lengths: [] as number[] })
    client.ws.on('message', (data: Buffer, isBinary: boolean) => (isBinary ? client.lengths.push(data.length) : 0))
    sockets.push(client)
    await client.opened
    return client
  }

  /** A seat in the room of the match, and the price messages that arrive there. */
  async function roomDoor(player: HttpClient) {
    const sdk = new Sdk(await player.socketUrl())
    const room = await sdk.joinById(matchRoomId(server.matchId), {}, MatchWire)
    rooms.push(room)
    const prices: PriceFrame[] = []
    room.onMessage('price', (bytes: Uint8Array) => prices.push(present(decodePriceFrame(bytes), 'a valid frame')))
    return { room, prices }
  }

  const buy = ({ id, currentPrice }: InstrumentSeen) =>
    ({ instrumentId: id, direction: 'long', lotSize: 1, clientPrice: currentPrice }) as const

  it('the plain door shows at once what REST shows, 93 bytes a price', async () => {
    const ada = await server.user('Ada E10')
    const seen = (await ada.instruments()).slice(0, 5)
    const door = await plainHttpRig(ada)
    expect(door.ws.protocol).toBe('feed.v1')
    const answer = await door.subscribe(seen.map(({ id }) => id))
    expect(answer).toMatchObject({ type: 'subscribed', id: 7, instrumentIds: seen.map(({ id }) => id), rejected: [] })
    await vi.waitUntil(() => door.prices.length === seen.length, PATIENCE)
    expect(door.lengths).toEqual(seen.map(() => 93))
    for (const [n, instrument] of seen.entries()) {
      expect(door.prices[n]).toMatchObject({
        flags: FLAG.snapshot,
        fixtureId: server.matchId,
        instrumentId: instrument.id,
        price: u(instrument.currentPrice),
        base: u(instrument.live_base_price),
        imbalance: u(instrument.net_position_imbalance),
        status: 'OPEN',
        phase: 'live',
      })
    }
  })

  it('an open over REST is told to whoever follows the player, with its cause and the new price, and to nobody else', async () => {
    const [ada, bob] = [await server.user('Ada E11'), await server.user('Bob E11')]
    const [followed, ignored] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN').slice(5)
    const door = await plainHttpRig(ada)
    await door.subscribe([present(followed, 'a player').id])
    await bob.opens(buy(present(ignored, 'another player')))
    const { position } = await bob.opens(buy(present(followed, 'a player')))
    await vi.waitUntil(() => door.prices.length === 2, PATIENCE)

    const [snapshot, move] = door.prices
    const after = await ada.instrument(position.instrumentId)
    expect(move).toMatchObject({
      flags: 0,
      cause: 'trade',
      instrumentId: position.instrumentId,
      price: u(position.openPrice),
      previous: snapshot?.price,
      imbalance: (snapshot?.imbalance ?? NaN) + u(1),
    })
    expect(after).toMatchObject({ currentPrice: position.openPrice, last_published_price: position.openPrice })
    // The move of the other player was before this one, and has not been here.
    expect(door.prices.map(({ instrumentId }) => instrumentId)).toEqual([followed?.id, followed?.id])
  })

  it('[W5] the match room shows the match, and both doors tell the same moves', async () => {
    const ada = await server.user('Ada E12')
    const [player] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN').slice(9)
    const [plain, seat] = [await plainHttpRig(ada), await roomDoor(ada)]
    const { id } = present(player, 'a player')
    const stateOf = () => seat.room.state.instruments?.get(id)
    await vi.waitUntil(() => stateOf() !== undefined, PATIENCE)
    expect(seat.room.state.toJSON()).toMatchObject({ matchId: server.matchId, phase: 'live', trading: 'OPEN' })
    expect(stateOf()?.price).toBe(u(present(player, 'a player').currentPrice))

    await plain.subscribe([id])
    await seat.room.request('subscribe', { instrumentIds: [id] })
    const { position } = await ada.opens(buy(present(player, 'a player')))
    await vi.waitUntil(() => plain.prices.length === 2 && seat.prices.length === 2, PATIENCE)
    await server.play(10)
    await vi.waitUntil(() => plain.prices.length === 3 && seat.prices.length === 3, PATIENCE)
    expect(seat.prices).toEqual(plain.prices)
    expect(seat.prices.map(({ cause }) => cause).slice(1)).toEqual(['trade', 'match'])
    expect(seat.prices[1]?.price).toBe(u(position.openPrice))
    const now = await ada.instrument(id)
    expect(seat.prices[2]?.price).toBe(u(now.currentPrice))
    await vi.waitUntil(() => stateOf()?.price === u(now.currentPrice), PATIENCE)
  })

  it('[W2] neither door opens without a valid token of its own kind', async () => {
    const ada = await server.user('Ada E13')
    const { token, wsUrl } = await ada.ticket()
    expect(wsUrl).toBe(server.wsUrl)
    const access = ada.cookie('game_access')
    const knock = async (query: string) => {
      const client = new FeedClient(`${wsUrl}/${query}`)
      const opened = await client.opened.then(() => 'open', String)
      client.ws.terminate()
      const { status } = await fetch(
        `${wsUrl.replace('ws', 'http')}/matchmake/joinById/match-${server.matchId}${query}`,
        {
          method: 'POST',
          body: '{}',
        },
      )
      return [opened, status]
    }
    const closed = ['Error: Unexpected server response: 401', 401]
    expect(await knock(`?token=${token}`)).toEqual(['open', 200])
    expect(await knock('')).toEqual(closed)
    expect(await knock('?token=guess')).toEqual(closed)
    expect(await knock(`?token=${access}`)).toEqual(closed)
    await server.play(61)
    expect(await knock(`?token=${token}`), 'a minute later').toEqual(closed)
    expect(await new HttpClient(server.url).request('POST', '/api/ws/token')).toMatchObject({ status: 401 })
  })

  it('[W7] ids that are none are turned down by name, and the rest of the request is carried out', async () => {
    const ada = await server.user('Ada E14')
    const { id } = pick(await ada.instruments())
    const stranger = '00000000-0000-5000-8000-000000000000'
    const door = await plainHttpRig(ada)
    door.ask({ type: 'subscribe', id: 1, instrumentIds: [stranger, 'nobody', '', id.toUpperCase()] })
    await vi.waitUntil(() => door.said.length > 0, PATIENCE)
    expect(door.said[0]).toEqual({
      type: 'subscribed',
      id: 1,
      instrumentIds: [id],
      rejected: [stranger, 'nobody', ''].map((instrumentId) => ({ instrumentId, code: 'not_found' })),
    })
  })

  it('[D8] both doors tell of an account what REST tells', async () => {
    const ada = await server.user('Ada W70')
    const [first, second] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN').slice(3)
    const [plain, seat] = [await plainHttpRig(ada), await roomDoor(ada)]
    const told: { plain: unknown[]; seat: unknown[] } = { plain: [], seat: [] }
    plain.ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) return
      const { type, id: _, ...page } = JSON.parse(data.toString())
      if (type === 'account') told.plain.push(page)
    })
    seat.room.onMessage('account', (page: unknown) => told.seat.push(page))
    await ada.opens(buy(present(first, 'a player')))
    plain.ask({ type: 'account', id: 1, since: '0' })
    await seat.room.request('account', { since: '0' })
    await vi.waitUntil(() => told.plain.length === 1 && told.seat.length === 1, PATIENCE)
    await ada.opens(buy(present(second, 'another player')))
    await vi.waitUntil(() => told.plain.length === 2 && told.seat.length === 2, PATIENCE)
    const rest = await Promise.all(
      [0, 1].map((since) => ada.request('GET', `/api/account/changes?since=${since}&limit=1`)),
    )
    const events = (pages: readonly unknown[]) => pages.flatMap((page) => (page as { events: unknown[] }).events)
    expect(told.plain).toEqual(told.seat)
    expect(events(told.plain)).toEqual(events(rest.map(({ body }) => body)))
  })
})
