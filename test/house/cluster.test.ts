/** Several processes of the real program on one PostgreSQL and one Redis. */
import { afterEach, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { FeedClient } from '../rooms/arena.ts'
import { HttpClient, type InstrumentSeen, read, TradeAnswer } from '../support/http-client.ts'
import { killTheRest, PATIENCE, Program } from '../support/process.ts'
import { audit, BALANCED, onServers, type ServerSite } from '../support/site.ts'

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  await killTheRest()
  for (const clean of cleanUp.splice(0)) await clean()
})

/** A process that serves clients, and two that run matches, one of which has the one that is played. */
class Cluster {
  readonly api: Program
  readonly #rooms = new Map<string, Program>()
  readonly #site: ServerSite

  private constructor(site: ServerSite, api: Program) {
    this.#site = site
    this.api = api
  }

  static async start(site: ServerSite): Promise<Cluster> {
    const api = new Program({ ...site.env, ROLES: 'api', DEMO_REPLAY: 'none' })
    await api.listening() // it makes the schema and the key that all of them sign with
    const cluster = new Cluster(site, api)
    await Promise.all([cluster.addRooms(), cluster.addRooms()])
    return cluster
  }

  async addRooms(): Promise<void> {
    const program = new Program({ ...this.#site.env, ROLES: 'rooms', DEMO_TRADERS: '4', DEMO_SPEED: '8' })
    const { processId } = await program.listening()
    this.#rooms.set(processId, program)
  }

  /** The process that has the match of the demo, by the lease in the database. */
  async owner(): Promise<Program> {
    const rows = await this.#site.look(({ db }) => db.selectFrom('match_leases').select('owner').execute())
    return present(this.#rooms.get(present(rows[0], 'lease').owner), 'the owner')
  }
}

async function visitor(cluster: Cluster): Promise<{ readonly ada: HttpClient; readonly feed: FeedClient }> {
  const ada = new HttpClient((await cluster.api.listening()).url)
  await ada.signIn('Ada')
  const players = await vi.waitUntil(async () => {
    const all = await ada.instruments()
    return all.length > 0 && all
  }, PATIENCE)
  const feed = new FeedClient(await ada.socketUrl())
  await feed.opened
  const answer = await feed.subscribe(players.map(({ id }) => id))
  expect(answer).toMatchObject({ type: 'subscribed', rejected: [] })
  return { ada, feed }
}

/** Tries until the match takes it, as a client does who is told to come back; says how often that was. */
async function opensInTheEnd(ada: HttpClient, key: string) {
  for (let refused = 0; refused < 1_000; refused++) {
    const [player] = (await ada.instruments()).filter((i) => i.position === 'FWD')
    const { id, currentPrice } = present(player, 'a forward')
    const order = { instrumentId: id, direction: 'long', lotSize: 0.05, clientPrice: currentPrice } as const
    const answer = await ada.open(order, key)
    if (answer.status === 201) return { order, trade: read(answer, 201, TradeAnswer), refused }
    expect([503, 409], JSON.stringify(answer.body)).toContain(answer.status)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it never took the order')
}

const epochsOf = (feed: FeedClient): number[] => [...new Set(feed.prices.map(({ epoch }) => epoch))]
const tradesIn = (feed: FeedClient, { id }: Pick<InstrumentSeen, 'id'>) =>
  feed.prices.filter((frame) => frame.instrumentId === id && frame.cause === 'trade')

onServers((settle) => {
  it(
    '[E40] a process without matches serves commands and prices of one that has them',
    { timeout: 60_000 },
    async () => {
      const site = await settle()
      cleanUp.push(() => site.remove())
      const cluster = await Cluster.start(site)
      const { ada, feed } = await visitor(cluster)
      const { order, trade } = await opensInTheEnd(ada, 'one')
      await vi.waitUntil(() => tradesIn(feed, { id: trade.position.instrumentId }).length > 0, PATIENCE)
      const again = await ada.open(order, 'one')
      expect(again).toMatchObject({ status: 201, body: trade })
      expect(again.headers.get('idempotent-replayed')).toBe('true')
      const closing = await ada.close(trade.position.id, 'early')
      expect(closing).toMatchObject({ status: 409, body: { error: 'cooldown_active' } })
      expect(epochsOf(feed)).toHaveLength(1)
      // Every number of the match once, snapshots aside, whichever process brings it.
      const seqs = feed.prices.filter(({ flags }) => (flags & 5) === 0).map(({ seq }) => seq)
      expect(new Set(seqs).size).toBe(seqs.length)
    },
  )

  it(
    '[E41] when the owner of a match is killed another process takes it over: nothing is lost, nothing happens twice',
    { timeout: 90_000 },
    async () => {
      const site = await settle()
      cleanUp.push(() => site.remove())
      const cluster = await Cluster.start(site)
      const { ada, feed } = await visitor(cluster)
      const first = await opensInTheEnd(ada, 'before')
      expect(await (await cluster.owner()).end('SIGKILL')).toMatchObject({ code: null, complained: '' })
      const second = await opensInTheEnd(ada, 'after')
      expect(second.refused).toBeGreaterThan(0)
      const again = await ada.open(first.order, 'before')
      expect(again).toMatchObject({ status: 201, body: first.trade })
      const open = await ada.positions('open')
      expect(new Set(open.map(({ id }) => id))).toEqual(new Set([first.trade.position.id, second.trade.position.id]))
      // The same socket goes on, in a new epoch, which begins with how things stand.
      await vi.waitUntil(() => epochsOf(feed).length === 2, PATIENCE)
      await vi.waitUntil(() => tradesIn(feed, { id: second.trade.position.instrumentId }).length > 1, PATIENCE)
      await cluster.api.end('SIGTERM')
      await killTheRest()
      expect(await audit(site)).toMatchObject(BALANCED)
    },
  )

  it(
    '[E42] a process that is asked to stop hands its match over, and clients are refused for a moment at most',
    { timeout: 90_000 },
    async () => {
      const site = await settle()
      cleanUp.push(() => site.remove())
      const cluster = await Cluster.start(site)
      const { ada, feed } = await visitor(cluster)
      await opensInTheEnd(ada, 'before')
      expect(await (await cluster.owner()).end('SIGTERM')).toMatchObject({ code: 0, complained: '' })
      await opensInTheEnd(ada, 'after')
      await vi.waitUntil(() => epochsOf(feed).length === 2, PATIENCE)
      expect(feed.ws.readyState).toBe(feed.ws.OPEN)
    },
  )

  it('[W94] processes without matches share their addresses', { timeout: 60_000 }, async () => {
    const site = await settle()
    cleanUp.push(() => site.remove())
    const api = { ...site.env, ROLES: 'api', DEMO_REPLAY: 'none' }
    const first = new Program(api)
    const { url, wsUrl } = await first.listening()
    const second = new Program({ ...api, PORT: new URL(url).port, WS_PORT: new URL(wsUrl).port })
    expect(await second.listening()).toMatchObject({ url, wsUrl })
    await first.end('SIGKILL')
    const ada = new HttpClient(url)
    await ada.signIn('Ada W94')
    const feed = new FeedClient(await ada.socketUrl())
    await feed.opened
    feed.ask({ type: 'ping', id: 1 })
    await vi.waitUntil(() => feed.said[0]?.type === 'pong', PATIENCE)
    feed.ws.terminate()
  })
})
