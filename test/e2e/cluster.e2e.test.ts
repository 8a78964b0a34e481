/** Several processes of the real program on one PostgreSQL and one Redis, over each bus. */
import { sql, type Transaction } from 'kysely'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { microsFromDecimal } from '../../actors/kernel/micros.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { installationOf } from '../../db/installation.ts'
import { migrate, MIGRATIONS } from '../../db/postgres/migrate.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { PriceWatch } from '../../ops/rehearse/rig/price-watch.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { HttpClient, type Order, type PositionSeen, read } from '../support/http-client.ts'
import { opensEventually, orderOf } from '../support/orders.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { onServers, type ServerPlace } from '../support/data-place.ts'
import { audit, BALANCED } from '../support/books.ts'

afterEach(killRemaining)

/** A process that serves clients, and two that run matches, one of which owns the demo match. */
class Cluster {
  readonly api: Program
  readonly #rooms = new Map<string, Program>()
  readonly #place: ServerPlace

  private constructor(place: ServerPlace, api: Program) {
    this.#place = place
    this.api = api
  }

  static async start(place: ServerPlace): Promise<Cluster> {
    const api = new Program({ ...place.env, ROLES: 'api', DEMO_REPLAY: 'none', ADMIN_EMAILS: 'ann@synthetic.invalid' })
    await api.listening // creates the schema and the signing key that all processes share
    const cluster = new Cluster(place, api)
    await Promise.all([cluster.addRooms(), cluster.addRooms()])
    return cluster
  }

  async addRooms(): Promise<void> {
    const program = new Program({ ...this.#place.env, ROLES: 'rooms', DEMO_TRADERS: '4', DEMO_SPEED: '8' })
    const { processId } = await program.listening
    this.#rooms.set(processId, program)
  }

  /** The process that owns the demo match, by the lease in the database. */
  async owner(): Promise<Program> {
    const rows = await this.#place.look(({ db }) => db.selectFrom('match_leases').select('owner').execute())
    return present(this.#rooms.get(present(rows[0], 'lease').owner), 'the owner')
  }
}

const visitor = (cluster: Cluster) => visitorOf(cluster.api)

async function visitorOf(
  program: Program,
  name = 'Ada',
): Promise<{ readonly ada: HttpClient; readonly feed: FeedClient }> {
  const ada = await HttpClient.of((await program.listening).url, name)
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

const DryRun = z.looseObject({
  needsForce: z.boolean(),
  matches: z.array(z.looseObject({ known: z.boolean(), moves: z.array(z.unknown()) })),
})

const Refused = z.looseObject({ code: z.string() })

/** Repeats the same request until its outcome is known; returns the number of positions it opened. */
async function outcomeOf(ada: HttpClient, order: Order, key: string): Promise<number> {
  for (let asked = 0; asked < 1_000; asked++) {
    const { status, body } = await ada.open(order, key)
    const isKnown = status !== 503 && Refused.safeParse(body).data?.code !== 'KEY_IN_FLIGHT'
    if (isKnown) return status === 201 ? 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the outcome stayed unknown')
}

const epochsOf = (feed: FeedClient): number[] => [...new Set(feed.prices.map(({ epoch }) => epoch))]
/** Missing moves, epochs that do not begin with a snapshot, and moves of an earlier epoch. */
function gapsIn(feed: FeedClient): number {
  const watch = new PriceWatch()
  for (const frame of feed.prices) watch.see(frame)
  return watch.gaps
}
/** Waits until the feed shows the player's current price. A trade's own move may be folded into another. */
async function shows(feed: FeedClient, ada: HttpClient, { instrumentId }: PositionSeen): Promise<void> {
  await vi.waitUntil(async () => {
    const { currentPrice } = await ada.instrument(instrumentId)
    return (
      feed.prices.findLast((frame) => frame.instrumentId === instrumentId)?.price === microsFromDecimal(currentPrice)
    )
  }, PATIENCE)
}

onServers((settle) => {
  /** A cluster on separate stores, which are removed after the test. */
  const clustered = async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    return { place, cluster: await Cluster.start(place) }
  }

  it('[Q4] a process without matches serves the commands and prices of the match owner', async () => {
    const { cluster } = await clustered()
    const { ada, feed } = await visitor(cluster)
    const { order, trade } = await opensEventually(ada, 'one')
    await shows(feed, ada, trade.position)
    const again = await ada.open(order, 'one')
    expect(again).toMatchObject({ status: 201, body: trade })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const closing = await ada.close(trade.position.id, 'early')
    expect(closing).toMatchObject({ status: 409, body: { error: 'cooldown_active' } })
    expect(epochsOf(feed)).toHaveLength(1)
    // Without snapshots, each number of the match arrives once, whichever process sends it.
    const seqs = feed.prices.filter(({ flags }) => (flags & 5) === 0).map(({ seq }) => seq)
    expect(new Set(seqs).size).toBe(seqs.length)
  })

  it('[H17] an admin hears what a setting would move in matches of other processes', async () => {
    const { cluster } = await clustered()
    const { url } = await cluster.api.listening
    await visitor(cluster)
    const ann = await HttpClient.of(url, 'Ann')
    const set = (key: string, value: number) => ann.request('PUT', `/api/admin/settings/${key}`, { value })
    expect(await set('rules.max_move_pct', 0)).toMatchObject({ status: 200 })
    const effects = async () => read(await set('scoring.scale?dryRun=true', 5), 200, DryRun)
    // The match can say as soon as it has had an update.
    await vi.waitUntil(async () => (await effects()).matches.some(({ known }) => known), PATIENCE)
    const { needsForce, matches } = await effects()
    expect([needsForce, matches.map(({ known }) => known)]).toEqual([true, [true]])
    expect(matches[0]?.moves.length).toBeGreaterThan(10)
    expect(await set('scoring.scale', 5)).toMatchObject({
      status: 409,
      body: { code: 'RULES_MOVE_PRICES', unknownMatches: [] },
    })
  })

  it('[Q11] when the owner of a match is killed another process takes it over: nothing is lost, nothing happens twice', async () => {
    const { place, cluster } = await clustered()
    const { ada, feed } = await visitor(cluster)
    const first = await opensEventually(ada, 'before')
    expect(await (await cluster.owner()).kill()).toMatchObject({ code: null, stderr: '' })
    const second = await opensEventually(ada, 'after')
    const again = await ada.open(first.order, 'before')
    expect(again).toMatchObject({ status: 201, body: first.trade })
    const open = await ada.positions('open')
    expect(new Set(open.map(({ id }) => id))).toEqual(new Set([first.trade.position.id, second.trade.position.id]))
    // The same socket continues in a new epoch, which begins with a snapshot.
    await vi.waitUntil(() => epochsOf(feed).length === 2, PATIENCE)
    await shows(feed, ada, second.trade.position)
    expect(gapsIn(feed)).toBe(0)
    await cluster.api.stop()
    await killRemaining()
    expect(await audit(place)).toMatchObject(BALANCED)
  })

  it('[Q12] a stopping process hands its match over, and no client has to reconnect', async () => {
    const { cluster } = await clustered()
    const { ada, feed } = await visitor(cluster)
    const { order } = await opensEventually(ada, 'before')
    const ended = (await cluster.owner()).stop()
    let epochs = 1
    const isHandedOver = vi.waitUntil(() => (epochs = epochsOf(feed).length) === 2, PATIENCE)
    // During the handover a request may find that the price has moved, but never that the match has no owner.
    for (let n = 0; epochs === 1; n++) {
      const { status, body } = await ada.open(order, `meanwhile ${n}`)
      expect([201, 409, 422], JSON.stringify(body)).toContain(status)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await isHandedOver
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
    expect((await opensEventually(ada, 'after')).refused).toBe(0)
    expect(feed.ws.readyState).toBe(feed.ws.OPEN)
  })

  it('[D7] a process keeps working after a newer version migrated its database, and others of its version can start', async () => {
    const { place, cluster } = await clustered()
    const { ada } = await visitor(cluster)
    const before = await opensEventually(ada, 'before')
    // The next version may add columns and tables without a breaking migration.
    const next = {
      name: '9999-next',
      up: async (db: Transaction<Database>) => {
        for (const table of ['users', 'wallets', 'positions', 'instruments', 'matches', 'ledger_entries'])
          await sql`alter table ${sql.table(table)} add column later integer default 1`.execute(db)
        await sql`create table later (id integer primary key)`.execute(db)
      },
    }
    expect(await place.look(({ db }) => migrate(db, [...MIGRATIONS, next]))).toEqual(['9999-next'])
    expect((await opensEventually(ada, 'after')).refused).toBe(0)
    expect(await ada.open(before.order, 'before')).toMatchObject({ status: 201, body: before.trade })
    await cluster.addRooms()
    await (await cluster.owner()).stop()
    expect((await opensEventually(ada, 'elsewhere')).trade.position.status).toBe('open')
    await cluster.api.stop()
    await killRemaining()
    expect(await audit(place)).toMatchObject(BALANCED)
  })

  it('[Q13] while the bus is unavailable, trades in the owner process continue, and others are refused until it returns', async () => {
    const place = await settle()
    const relays = await Promise.all([1, 2].map(() => Relay.to(place.env['REDIS_URL'] ?? '')))
    const [near, far] = relays.map(({ url }) => ({ ...place.env, REDIS_URL: url }))
    onTestFinished(async () => {
      for (const relay of relays) await relay.close()
      await place.remove()
    })
    const owner = new Program({ ...near, ROLES: 'api,rooms', DEMO_TRADERS: '0', DEMO_SPEED: '8' })
    await owner.listening
    const other = new Program({ ...far, ROLES: 'api', DEMO_REPLAY: 'none' })
    const [{ ada }, { ada: bob, feed }] = [await visitorOf(owner), await visitorOf(other, 'Bob')]
    for (const user of [ada, bob]) await opensEventually(user, 'before')
    for (const relay of relays) relay.cut()
    for (const key of ['one', 'two', 'three']) await opensEventually(ada, key)
    const order = await orderOf(bob)
    const refusal = await bob.open(order, 'meanwhile')
    expect(refusal).toMatchObject({ status: 503, body: { code: expect.stringMatching(/^(BUSY|UNKNOWN_OUTCOME)$/) } })
    expect(await bob.positions('open')).toHaveLength(1)
    for (const relay of relays) relay.mend()
    const done = await outcomeOf(bob, order, 'meanwhile')
    expect(await bob.positions('open')).toHaveLength(1 + done)
    const { trade } = await opensEventually(ada, 'after')
    await shows(feed, ada, trade.position)
    expect(await ada.positions('open')).toHaveLength(5)
    expect([epochsOf(feed).length, gapsIn(feed)]).toEqual([1, 0])
  })

  it('[Q5] a request to a dead owner is BUSY and did not happen; one to a silent owner has an unknown outcome', async () => {
    const { cluster } = await clustered()
    const { ada } = await visitor(cluster)
    await opensEventually(ada, 'one')
    const unheard = await orderOf(ada)
    await (await cluster.owner()).kill()
    // The answer comes at once, though the lease is still valid; a timeout would answer UNKNOWN_OUTCOME.
    expect(await ada.open(unheard, 'two')).toMatchObject({ status: 503, body: { code: 'BUSY' } })
    expect(await ada.positions('open')).toHaveLength(1)
    await opensEventually(ada, 'three')
    const owner = await cluster.owner()
    const order = await orderOf(ada)
    owner.freeze()
    expect(await ada.open(order, 'four')).toMatchObject({ status: 503, body: { code: 'UNKNOWN_OUTCOME' } })
    owner.wake()
    const done = await outcomeOf(ada, order, 'four')
    expect(await ada.positions('open')).toHaveLength(2 + done)
  })

  it('[A4] an owner that was frozen for longer than its lease writes and publishes nothing when it wakes', async () => {
    const { place, cluster } = await clustered()
    const { ada, feed } = await visitor(cluster)
    await opensEventually(ada, 'before')
    const former = await cluster.owner()
    former.freeze()
    await opensEventually(ada, 'meanwhile')
    former.wake()
    for (const key of ['one', 'two', 'three']) await opensEventually(ada, key)
    await vi.waitUntil(() => epochsOf(feed).length === 2, PATIENCE)
    expect(await ada.positions('open')).toHaveLength(5)
    expect(gapsIn(feed)).toBe(0)
    await cluster.api.stop()
    await killRemaining()
    expect(await audit(place)).toMatchObject(BALANCED)
  })

  it('[Q18] an owner that no longer hears the others is reached again, or replaced: trades go on within seconds', async () => {
    const place = await settle()
    const relay = await Relay.to(place.env['REDIS_URL'] ?? '')
    onTestFinished(async () => {
      await relay.close()
      await place.remove()
    })
    const api = new Program({ ...place.env, ROLES: 'api', DEMO_REPLAY: 'none' })
    await api.listening
    const rooms = { ...place.env, ROLES: 'rooms', DEMO_TRADERS: '0', DEMO_SPEED: '8' }
    const owner = new Program({ ...rooms, REDIS_URL: relay.url })
    const { url, processId } = await owner.listening
    const { ada, feed } = await visitorOf(api)
    const other = new Program(rooms)
    await other.listening
    await opensEventually(ada, 'before')
    const isOwner = async () => {
      const leases = await place.look(({ db }) =>
        db.selectFrom('match_leases').select(['owner', 'expires_at']).execute(),
      )
      return leases.some((lease) => lease.owner === processId && lease.expires_at > new Date())
    }
    const ready = async () => (await fetch(`${url}/ready`)).status

    // Its connections are silent for ever, and new ones work.
    relay.swallow()
    await opensEventually(ada, 'in silence')
    expect(await isOwner()).toBe(true)

    // New ones are silent as well.
    relay.silence()
    await opensEventually(ada, 'by another')
    expect(await isOwner()).toBe(false)
    await vi.waitUntil(async () => (await ready()) === 503, PATIENCE)
    relay.mend()
    await vi.waitUntil(async () => (await ready()) === 200, PATIENCE)
    const { trade } = await opensEventually(ada, 'after')
    await shows(feed, ada, trade.position)
    expect(await ada.positions('open')).toHaveLength(4)
    expect(gapsIn(feed)).toBe(0)
    for (const program of [api, owner, other]) await program.stop()
    expect(await audit(place)).toMatchObject(BALANCED)
  })

  it('[R8] a process starts although another one died while it built the leaderboards', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const api = { ...place.env, ROLES: 'api', DEMO_REPLAY: 'none' }
    const first = new Program(api)
    const ada = new HttpClient((await first.listening).url)
    const { userId } = await ada.signIn('Ada E63')
    await first.stop()
    const boards = await place.look(async ({ db }) => {
      await db.insertInto('board_changes').values({ user_id: userId, version: 1 }).execute()
      return keys.boards(await installationOf(db), 'main')
    })
    await place.redis.del(`${boards}:shown`)
    await place.redis.set(`${boards}:coming`, 'a dead process', 'PX', 60_000)
    const second = new Program(api)
    const { url } = await second.listening
    expect(await new HttpClient(url).signIn('Ada E63')).toMatchObject({ userId })
    expect(await second.stop()).toMatchObject({ code: 0, stderr: '' })
  })

  it('processes without matches share their addresses', async () => {
    const place = await settle()
    onTestFinished(() => place.remove())
    const api = { ...place.env, ROLES: 'api', DEMO_REPLAY: 'none' }
    const first = new Program(api)
    const { url, wsUrl } = await first.listening
    const second = new Program({ ...api, PORT: new URL(url).port, WS_PORT: new URL(wsUrl).port })
    expect(await second.listening).toMatchObject({ url, wsUrl })
    await first.kill()
    const ada = await HttpClient.of(url, 'Ada W94')
    const feed = new FeedClient(await ada.socketUrl())
    await feed.opened
    feed.ask({ type: 'ping', id: 1 })
    await vi.waitUntil(() => feed.said[0]?.type === 'pong', PATIENCE)
    feed.ws.terminate()
  })
})
