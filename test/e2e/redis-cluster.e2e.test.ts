/** Two processes of the real program on PostgreSQL and a Redis Cluster, of which a master dies. */
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { microsFromDecimal } from '../../actors/kernel/micros.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { installationOf } from '../../db/installation.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { audit, BALANCED } from '../support/books.ts'
import { onServers } from '../support/data-place.ts'
import { HttpClient } from '../support/http-client.ts'
import { opensEventually } from '../support/orders.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { RedisNodes } from '../support/redis-cluster.ts'

const PER_MINUTE = 500

afterEach(killRemaining)

const Me = z.looseObject({ ranked: z.boolean() })
const Board = z.looseObject({ entries: z.array(z.looseObject({ username: z.string() })) })

onServers((settle) => {
  it('[Q22] on a Redis Cluster users sign in, trade, see boards and prices across processes, and a master may die', async () => {
    const [place, nodes] = [await settle(), await RedisNodes.start()]
    onTestFinished(async () => {
      await place.remove()
      await nodes.stop()
    })
    const env = {
      ...place.env,
      REDIS_URL: nodes.url,
      TRUSTED_PROXIES: '1',
      RATE_LIMIT_PER_MIN: String(PER_MINUTE),
      ADMIN_EMAILS: 'ann@synthetic.invalid',
    }
    const owner = new Program({ ...env, ROLES: 'api,rooms', DEMO_TRADERS: '4', DEMO_SPEED: '8' })
    const near = (await owner.listening).url
    const other = new Program({ ...env, ROLES: 'api', DEMO_REPLAY: 'none' })
    const far = (await other.listening).url
    for (const url of [near, far]) expect((await fetch(`${url}/ready`)).status).toBe(200)

    const ann = await HttpClient.of(near, 'Ann')
    expect(await ann.request('PUT', '/api/admin/settings/trading.hold_secs', { value: 0 })).toMatchObject({
      status: 200,
    })

    // Bob's process does not run the match: his orders and prices travel over the cluster.
    const bob = new HttpClient(far)
    const { userId } = await bob.signIn('Bob')
    const { position: first } = (await opensEventually(bob, 'one', { isLimited: true })).trade
    const feed = new FeedClient(await bob.socketUrl())
    await feed.opened
    await feed.subscribe([first.instrumentId])
    const shown = () =>
      vi.waitUntil(async () => {
        const { currentPrice } = await ann.instrument(first.instrumentId)
        return feed.prices.at(-1)?.price === microsFromDecimal(currentPrice)
      }, PATIENCE)
    await shown()
    await vi.waitUntil(async () => (await bob.close(first.id, 'close one')).status === 200, PATIENCE)
    for (const user of [ann, bob]) {
      await vi.waitUntil(async () => {
        const { entries } = await user.get('/api/leaderboard/roi/global', Board)
        return entries.some(({ username }) => username === 'bob')
      }, PATIENCE)
    }
    expect(await bob.get('/api/leaderboard/me', Me)).toMatchObject({ ranked: true })

    // The processes count together.
    const knocks = []
    for (let n = 0; n < PER_MINUTE + 20; n++) {
      const headers = { 'x-forwarded-for': '203.0.113.9' }
      knocks.push((await fetch(`${n % 2 === 0 ? near : far}/api/nowhere`, { headers })).status)
    }
    expect(knocks.filter((status) => status === 429)).toHaveLength(20)

    // The master that holds the boards, and one of three that carry channels and balances.
    const boards = keys.boards(await place.look(({ db }) => installationOf(db)), 'main')
    const master = await nodes.masterOf(`{${boards}}`)
    master.kill('SIGKILL')
    const { position: second } = (await opensEventually(bob, 'two', { isLimited: true })).trade
    await vi.waitUntil(async () => (await fetch(`${far}/ready`)).status === 200, PATIENCE)
    await shown()
    await vi.waitUntil(async () => (await bob.close(second.id, 'close two')).status === 200, PATIENCE)
    await vi.waitUntil(async () => {
      const answer = await bob.request('GET', '/api/leaderboard/roi/global')
      return answer.status === 200 && JSON.stringify(answer.body).includes(userId)
    }, PATIENCE)

    const ends = [await other.stop(), await owner.stop()]
    const lastLines = ends.map(({ stdout }) => stdout.slice(-4_000)).join('\n')
    expect(ends, lastLines).toMatchObject([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ])
    // A process was never taken for gone because its channel had moved.
    for (const { stdout } of ends) expect(stdout).not.toContain('"process_gone"')
    expect(await audit(place)).toMatchObject(BALANCED)
  })
})
