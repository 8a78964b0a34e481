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

  /** A client of the price feed with a fresh ticket, and the length of each price message. */
  async function feedOf(user: HttpClient): Promise<FeedClient & { readonly lengths: number[] }> {
    const client = Object.assign(new FeedClient(await user.socketUrl()), { lengths: [] as number[] })
    client.ws.on('message', (data: Buffer, isBinary: boolean) => (isBinary ? client.lengths.push(data.length) : 0))
    sockets.push(client)
    await client.opened
    return client
  }

  /** A client in the room of the match, and the price messages that arrive there. */
  async function joinRoom(user: HttpClient) {
    const sdk = new Sdk(await user.socketUrl())
    const room = await sdk.joinById(matchRoomId(server.matchId), {}, MatchWire)
    rooms.push(room)
    const prices: PriceFrame[] = []
    room.onMessage('price', (bytes: Uint8Array) => prices.push(present(decodePriceFrame(bytes), 'a valid frame')))
    return { room, prices }
  }

  const buy = ({ id, currentPrice }: InstrumentSeen) =>
    ({ instrumentId: id, direction: 'long', lotSize: 1, clientPrice: currentPrice }) as const

  it('the price feed sends a snapshot equal to REST on subscribing, 93 bytes a price', async () => {
    const ada = await server.user('Ada E10')
    const seen = (await ada.instruments()).slice(0, 5)
    const feed = await feedOf(ada)
    expect(feed.ws.protocol).toBe('feed.v1')
    const answer = await feed.subscribe(seen.map(({ id }) => id))
    expect(answer).toMatchObject({ type: 'subscribed', id: 7, instrumentIds: seen.map(({ id }) => id), rejected: [] })
    await vi.waitUntil(() => feed.prices.length === seen.length, PATIENCE)
    expect(feed.lengths).toEqual(seen.map(() => 93))
    for (const instrument of seen) {
      expect(feed.prices.find(({ instrumentId }) => instrumentId === instrument.id)).toMatchObject({
        flags: FLAG.snapshot,
        fixtureId: server.matchId,
        price: u(instrument.currentPrice),
        base: u(instrument.live_base_price),
        imbalance: u(instrument.net_position_imbalance),
        status: instrument.tradingStatus,
        phase: 'live',
      })
    }
  })

  it('an open over REST is published to subscribers of the player only, with its cause and the new price', async () => {
    const [ada, bob] = [await server.user('Ada E11'), await server.user('Bob E11')]
    const [followed, ignored] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN').slice(5)
    const feed = await feedOf(ada)
    await feed.subscribe([present(followed, 'a player').id])
    await bob.opens(buy(present(ignored, 'another player')))
    const { position } = await bob.opens(buy(present(followed, 'a player')))
    await vi.waitUntil(() => feed.prices.length === 2, PATIENCE)

    const [snapshot, move] = feed.prices
    const after = await ada.instrument(position.instrumentId)
    expect(move).toMatchObject({
      flags: 0,
      cause: 'trade',
      instrumentId: position.instrumentId,
      price: u(after.currentPrice),
      previous: snapshot?.price,
      imbalance: (snapshot?.imbalance ?? NaN) + u(1),
    })
    expect(after.last_published_price).toBe(position.currentPrice)
    expect(after.currentPrice).toBe(position.currentPrice)
    // The other player moved before this one, and that move was not sent here.
    expect(feed.prices.map(({ instrumentId }) => instrumentId)).toEqual([followed?.id, followed?.id])
  })

  it('[W5] the match room shows the match, and both endpoints send the same moves', async () => {
    const ada = await server.user('Ada E12')
    const [player] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN').slice(9)
    const [plain, seat] = [await feedOf(ada), await joinRoom(ada)]
    const { id } = present(player, 'a player')
    const stateOf = () => seat.room.state.instruments?.get(id)
    await seat.room.request('subscribe', { instrumentIds: [id] })
    await vi.waitUntil(() => stateOf() !== undefined, PATIENCE)
    expect([...seat.room.state.instruments.keys()]).toEqual([id])
    expect(seat.room.state.toJSON()).toMatchObject({ matchId: server.matchId, phase: 'live', trading: 'OPEN' })
    expect(stateOf()?.price).toBe(u(present(player, 'a player').currentPrice))

    await plain.subscribe([id])
    const { position } = await ada.opens(buy(present(player, 'a player')))
    await vi.waitUntil(() => plain.prices.length === 2 && seat.prices.length === 2, PATIENCE)
    await server.play(10)
    const now = await ada.instrument(id)
    const isShown = ({ prices }: { prices: PriceFrame[] }) => prices.at(-1)?.price === u(now.currentPrice)
    await vi.waitUntil(() => isShown(plain) && isShown(seat) && plain.prices.length === seat.prices.length, PATIENCE)
    expect(seat.prices).toEqual(plain.prices)
    // Between the two the price may have been sent again as it stood.
    expect(new Set(seat.prices.slice(2).map(({ cause }) => cause))).toEqual(new Set(['match']))
    expect(seat.prices[1]).toMatchObject({ cause: 'trade', price: u(position.currentPrice) })
    await vi.waitUntil(() => stateOf()?.price === u(now.currentPrice), PATIENCE)
  })

  it('[W2] neither endpoint opens without a valid token of its own kind', async () => {
    const ada = await server.user('Ada E13')
    const [{ token, wsUrl }, { token: another }, { token: late }] = [
      await ada.ticket(),
      await ada.ticket(),
      await ada.ticket(),
    ]
    expect(wsUrl).toBe(server.wsUrl)
    const access = ada.cookie('game_access')
    /** A token is good for one of the two. */
    const statusesOf = async (query: string, seatQuery = query) => {
      const client = new FeedClient(`${wsUrl}/${query}`)
      await client.opened // a refused one is opened, and closed with the reason before it is sent anything
      client.ask({ type: 'ping', id: 1 })
      const answered = vi.waitUntil(() => client.said.length > 0, PATIENCE).then(() => 'open')
      const opened = await Promise.race([answered.catch(() => 'silent'), client.closed])
      client.ws.terminate()
      const { status } = await fetch(
        `${wsUrl.replace('ws', 'http')}/matchmake/joinById/match-${server.matchId}${seatQuery}`,
        {
          method: 'POST',
          body: '{}',
        },
      )
      return [opened, status]
    }
    const refused = [4001, 401]
    expect(await statusesOf(`?token=${token}`, `?token=${another}`)).toEqual(['open', 200])
    expect(await statusesOf('')).toEqual(refused)
    expect(await statusesOf('?token=guess')).toEqual(refused)
    expect(await statusesOf(`?token=${access}`)).toEqual(refused)
    await server.play(61)
    expect(await statusesOf(`?token=${late}`), 'a minute later').toEqual(refused)
    expect(await new HttpClient(server.url).request('POST', '/api/ws/token')).toMatchObject({ status: 401 })
  })

  it('[W7] unknown ids are rejected by name, and the rest of the request is carried out', async () => {
    const ada = await server.user('Ada E14')
    const { id } = pick(await ada.instruments())
    const unknown = '00000000-0000-5000-8000-000000000000'
    const feed = await feedOf(ada)
    feed.ask({ type: 'subscribe', id: 1, instrumentIds: [unknown, 'no-uuid', '', id.toUpperCase()] })
    await vi.waitUntil(() => feed.said.length > 0, PATIENCE)
    expect(feed.said[0]).toEqual({
      type: 'subscribed',
      id: 1,
      instrumentIds: [id],
      rejected: [unknown, 'no-uuid', ''].map((instrumentId) => ({ instrumentId, code: 'not_found' })),
    })
  })

  it('[D8] both endpoints send the same account events as REST', async () => {
    const ada = await server.user('Ada W70')
    const [first, second] = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN').slice(3)
    const [plain, seat] = [await feedOf(ada), await joinRoom(ada)]
    const pages: { plain: unknown[]; seat: unknown[] } = { plain: [], seat: [] }
    plain.ws.on('message', (data: Buffer, isBinary) => {
      if (isBinary) return
      const { type, id: _, ...page } = JSON.parse(data.toString())
      if (type === 'account') pages.plain.push(page)
    })
    seat.room.onMessage('account', (page: unknown) => pages.seat.push(page))
    await ada.opens(buy(present(first, 'a player')))
    plain.ask({ type: 'account', id: 1, since: '0' })
    await seat.room.request('account', { since: '0' })
    await vi.waitUntil(() => pages.plain.length === 1 && pages.seat.length === 1, PATIENCE)
    await ada.opens(buy(present(second, 'another player')))
    await vi.waitUntil(() => pages.plain.length === 2 && pages.seat.length === 2, PATIENCE)
    const rest = await Promise.all(
      [0, 1].map((since) => ada.request('GET', `/api/account/changes?since=${since}&limit=1`)),
    )
    const events = (all: readonly unknown[]) => all.flatMap((page) => (page as { events: unknown[] }).events)
    expect(pages.plain).toEqual(pages.seat)
    expect(events(pages.plain)).toEqual(events(rest.map(({ body }) => body)))
  })
})
