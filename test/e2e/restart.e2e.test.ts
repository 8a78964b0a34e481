import { isDeepStrictEqual } from 'node:util'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { u } from '../support/fixtures.ts'
import { HttpClient, read, TradeAnswer } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program, type Settings } from '../support/process.ts'
import { eachDataPlace, type DataPlace } from '../support/data-place.ts'
import { audit, BALANCED } from '../support/books.ts'

afterEach(killRemaining)

const QUIET = { DEMO_TRADERS: '0' }

async function start(place: DataPlace, settings: Settings): Promise<Program> {
  const program = new Program({ ...place.env, ...QUIET, ...settings })
  await program.listening
  return program
}

async function settled(settle: () => Promise<DataPlace>): Promise<DataPlace> {
  const place = await settle()
  onTestFinished(() => place.remove())
  return place
}

/** Points the client at the address where the program listens now. */
async function visit(client: HttpClient, program: Program): Promise<void> {
  client.url = (await program.listening).url
}

/** What a user can see of their money and of the market. */
const viewOf = async (client: HttpClient) => ({
  wallet: await client.wallet(),
  positions: await client.positions('all'),
  prices: (await client.instruments()).map((i) => [i.id, i.currentPrice, i.live_base_price, i.net_position_imbalance]),
  match: (await client.matches()).map(({ id, minute }) => ({ id, minute })),
})

/** The last price that the feed published of each player. */
const publishedBy = (feed: FeedClient) => new Map(feed.prices.map((frame) => [String(frame.instrumentId), frame.price]))

eachDataPlace((settle) => {
  it('[X11] killed during a match, the server restarts with every wallet, position and price, and the match continues', async () => {
    const place = await settled(settle)
    const first = await start(place, { DEMO_SPEED: '8' })
    const ada = await HttpClient.of((await first.listening).url, 'Ada')
    const player = await vi.waitUntil(
      async () => (await ada.instruments()).find((i) => i.position === 'FWD' && i.tradingStatus === 'OPEN'),
      PATIENCE,
    )
    const feed = new FeedClient(await ada.socketUrl())
    await feed.opened
    await feed.subscribe((await ada.instruments()).map(({ id }) => id))
    const order = {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 0.37,
      clientPrice: player.currentPrice,
    } as const
    const trade = await ada.opens(order, 'kept')
    const gone = await HttpClient.of(ada.url, 'Bea') // whose sign-out closes none of Ada's sockets
    const ended = { cookie: `game_access=${gone.cookie('game_access')}; game_refresh=${gone.cookie('game_refresh')}` }
    await gone.request('POST', '/api/auth/logout')

    const framesSeen = () => new Set(feed.prices.filter(({ cause }) => cause === 'match').map(({ at }) => at)).size
    await vi.waitUntil(() => framesSeen() >= 2, PATIENCE)
    const seen = await vi.waitUntil(async () => {
      // Just after a frame: the next one is then more than a second away.
      const frames = framesSeen()
      await vi.waitUntil(() => framesSeen() > frames, PATIENCE)
      // A view takes several requests. If two in a row are equal, no frame arrived during the first.
      const [view, again] = [await viewOf(ada), await viewOf(ada)]
      const published = publishedBy(feed)
      const isPublished = view.prices.every(([id, price]) => published.get(String(id)) === u(Number(price)))
      return isPublished && isDeepStrictEqual(view, again) && view
    }, PATIENCE)
    expect(await first.kill()).toMatchObject({ code: null, stderr: '' })

    // Without a feed nothing moves, so the view is unchanged.
    const second = await start(place, { DEMO_REPLAY: 'none' })
    await visit(ada, second)
    expect(await viewOf(ada)).toEqual(seen)
    const asked = await fetch(`${ada.url}/api/wallet`, { headers: ended })
    const refreshed = await fetch(`${ada.url}/api/auth/refresh`, { method: 'POST', headers: ended })
    expect([asked.status, refreshed.status], 'a session that had ended').toEqual([401, 401])
    expect(seen.positions).toMatchObject([
      { id: trade.position.id, openPrice: trade.position.openPrice, status: 'open' },
    ])
    const again = await ada.open(order, 'kept')
    expect(again).toMatchObject({ status: 201, body: trade })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const levels = { stopLoss: 1 }
    const changed = await vi.waitUntil(async () => {
      const answer = await ada.change(trade.position.id, levels)
      return answer.status === 503 ? undefined : answer // the killed process may still hold the lease
    }, PATIENCE)
    expect(read(changed, 200, TradeAnswer)).toMatchObject({ position: levels, wallet: seen.wallet })
    await second.kill()

    // The match continues with the next frame; repeating the earlier ones would take long at this speed.
    const third = await start(place, { DEMO_SPEED: '2' })
    await visit(ada, third)
    await vi.waitUntil(async () => !sameBases(await viewOf(ada), seen), PATIENCE)
    expect((await ada.matches()).map(({ id }) => id)).toEqual(seen.match.map(({ id }) => id))
    const next = await ada.instrument(player.id)
    await ada.opens({ ...order, clientPrice: next.currentPrice }, 'after')
    expect(await third.stop()).toMatchObject({ code: 0, stderr: '' })
    expect(await audit(place)).toMatchObject(BALANCED)
  })

  it('a stopping server sends clients the time to reconnect, finishes its work and exits with 0', async () => {
    const place = await settled(settle)
    const program = await start(place, { DEMO_SPEED: '20', DEMO_TRADERS: '30' })
    const ada = await HttpClient.of((await program.listening).url, 'Ada')
    const player = await vi.waitUntil(
      async () => (await ada.instruments()).find((i) => i.tradingStatus === 'OPEN'),
      PATIENCE,
    )
    const feed = new FeedClient(await ada.socketUrl())
    await feed.opened
    await feed.subscribe([player.id])
    const { position } = await ada.opens({
      instrumentId: player.id,
      direction: 'short',
      lotSize: 1,
      clientPrice: player.currentPrice,
    })
    const { code, stdout, stderr } = await program.stop()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('"event":"shutdown_completed"')
    expect(stdout).not.toMatch(/"level":"(warn|error)"/)
    expect(await feed.closed).toBe(1012)
    expect(feed.said).toContainEqual({ type: 'shutdown', reconnectInMs: expect.any(Number) })

    expect(await audit(place)).toMatchObject(BALANCED)
    const stored = await place.look(({ db }) =>
      db.selectFrom('positions').select('id').where('closed_at', 'is', null).execute(),
    )
    expect(stored).toContainEqual({ id: position.id })
  })
})

type View = Awaited<ReturnType<typeof viewOf>>

const sameBases = (a: View, b: View): boolean =>
  a.prices.every(([id, , base]) => b.prices.some(([other, , known]) => id === other && base === known))
