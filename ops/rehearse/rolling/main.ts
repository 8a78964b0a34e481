/**
 * Rehearses a rolling release: two processes of each role behind nginx, under load. Each in turn is asked to stop and
 * is started again. Then the signing key and BUS_KEY are replaced in the same way, in two steps.
 *
 *   npm run ops -- rolling [--rounds 1] [--users 20] [--sockets 100] [--speed 20] [--seed N]
 *                          [--nats nats://127.0.0.1:4222]
 *
 * A request fails if it gets no answer or a status of 500 or above, including `busy` with its Retry-After. No request
 * may fail, no user may be signed out, and tokens of either key must count in every process. Every process must end
 * within ten seconds, every socket must reconnect and miss no move, every trade must have happened once, and the books
 * must balance. DATABASE_URL and REDIS_URL (or TEST_…) name the servers; a database is made there. With `--nats`,
 * messages between processes go through that server. NGINX_BINARY names nginx if it is not on the path. The exit code
 * is 1 when a promise is broken.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import { demand } from '../rig/account.ts'
import { SimulatedClient, Instruments } from '../rig/simulated-client.ts'
import { checkConsistency, waitForTrading } from '../rig/consistency.ts'
import { serverPlace } from '../rig/data-place.ts'
import { formLeague } from '../rig/league.ts'
import { SimulatedTrader } from '../rig/simulated-trader.ts'
import { startTrading } from '../rig/trading-load.ts'
import { TradingTally } from '../rig/trading-tally.ts'
import { whole } from '../rig/options.ts'
import { Cluster, type Name, NAMES } from './cluster.ts'
import { Follower } from './follower.ts'
import { keyRotation, type KeyRotation } from './key-rotation.ts'
import { Reader } from './reader.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    users: { type: 'string', default: '20' },
    sockets: { type: 'string', default: '100' },
    speed: { type: 'string', default: '20' },
    nats: { type: 'string', default: '' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const rounds = whole('rounds', values.rounds, 1)
const users = whole('users', values.users, 1)
const sockets = whole('sockets', values.sockets, 0)
const seed = whole('seed', values.seed, 0)
const database = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
const redisUrl = process.env['REDIS_URL'] ?? process.env['TEST_REDIS_URL']
if (database === undefined || redisUrl === undefined) throw new Error('DATABASE_URL and REDIS_URL must name servers')

const READERS = 3
const LOOK_MS = 200
/** Before and after each restart. */
const CALM_MS = 2_000
const STOP_MS = 10_000
/** Sockets are asked to reconnect within five seconds. */
const BACK_MS = 15_000

const Listing = Instruments.extend({
  instruments: z.array(z.looseObject({ id: z.string(), fixtureId: z.int() })),
})

const folder = mkdtempSync(join(tmpdir(), 'touchline-rolling-'))
const place = await serverPlace(database, redisUrl)
const tally = new TradingTally()
const traders = Array.from({ length: users }, (_, n) => {
  return new SimulatedTrader(`Rolling ${n + 1}`, chanceFrom(seed * 1_000 + n + 1), tally)
})
const admin = new SimulatedClient('Rolling Auditor')
const readers: Reader[] = []
const followers: Follower[] = []
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/** Requests so far, and how many of them failed. */
const asked = (): number => tally.sent + sum(readers.map((reader) => reader.asked))
const failed = (): number => tally.failed + sum(readers.map((reader) => reader.failures.length))
const awayNow = (): number => followers.filter(({ isConnected }) => !isConnected).length
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

async function restart(cluster: Cluster, name: Name): Promise<void> {
  const before = { asked: asked(), failed: failed(), breaks: sum(followers.map(({ breaks }) => breaks)) }
  await pause(CALM_MS)
  const begin = performance.now()
  const code = await cluster.stop(name)
  const stopped = performance.now()
  demand(code === 0 && stopped - begin < STOP_MS, () => `${name} ended with ${code} after ${seconds(stopped - begin)}`)
  await cluster.start(name)
  const started = performance.now()
  while (awayNow() > 0) {
    demand(performance.now() - stopped < BACK_MS, () => `${awayNow()} of ${sockets} sockets have not reconnected`)
    await pause(LOOK_MS)
  }
  await pause(CALM_MS)
  const breaks = sum(followers.map((follower) => follower.breaks)) - before.breaks
  const requests = `${asked() - before.asked} requests, ${failed() - before.failed} failed`
  const times = `stopped in ${seconds(stopped - begin)}, listening ${seconds(started - stopped)} later`
  say(`${name.padEnd(8)} ${times}; ${requests}; ${breaks} sockets reconnected`)
}

const Signed = z.object({ loggedIn: z.boolean() })

/** Replaces both keys while everybody trades. Tokens and messages of both are in use at processes of both steps. */
async function rotateKeys(cluster: Cluster, { announced, replaced }: KeyRotation): Promise<void> {
  for (const [step, settings] of Object.entries({ announced, replaced })) {
    cluster.configure(settings)
    for (const name of NAMES) {
      await restart(cluster, name)
      // Another session of the first trader. The proxy takes its tokens to processes of both steps.
      const newcomer = new SimulatedClient('Rolling 1')
      await newcomer.signIn(cluster.url)
      for (const client of [newcomer, ...traders.map((trader) => trader.client)]) {
        const { loggedIn } = await client.read(cluster.url, '/api/me', Signed)
        demand(loggedIn, () => `a user was signed out when ${name} was restarted with the key ${step}`)
      }
    }
    say(`the next keys are ${step} in every process, and nobody was signed out`)
  }
}

async function run(cluster: Cluster, rotation: KeyRotation): Promise<void> {
  const { url } = cluster
  await admin.signIn(url)
  for (const { client } of traders) await client.signIn(url)
  await formLeague(url, traders)
  await waitForTrading(url, admin)
  const { instruments } = await admin.read(url, '/api/instruments', Listing)
  const followed = instruments.map(({ id, fixtureId }) => ({ instrumentId: id, fixtureId }))
  for (let n = 0; n < sockets; n++) {
    const follower = new Follower(url, present(traders[n % users], 'a trader').client)
    followers.push(follower)
    follower.follow(followed)
  }
  for (const { client } of traders.slice(0, READERS)) {
    const reader = new Reader(url, client)
    readers.push(reader)
    reader.start(present(followed[0], 'an instrument').instrumentId)
  }
  const trading = startTrading(url, traders, admin)
  for (let round = 1; round <= rounds; round++) for (const name of NAMES) await restart(cluster, name)
  await rotateKeys(cluster, rotation)
  await trading.stop()
  for (const reader of readers) await reader.stop()
  await waitForTrading(url, admin)
  await checkConsistency(url, traders, admin)
  tally.checks++
  const counts = await Promise.all(traders.map((trader) => trader.compareAll(url)))
  const frames = sum(followers.map((follower) => follower.frames))
  const gaps = sum(followers.map((follower) => follower.gaps))
  say(`\n${tally.trading()}`)
  say(`${frames} frames of up to ${Math.max(...followers.map(({ epochs }) => epochs))} owners, ${gaps} moves missing`)
  say(`the books balance; ${sum(counts)} positions compared one by one`)
  demand(gaps === 0, () => `${gaps} moves are missing between the frames of a socket`)
  const failures = readers.flatMap((reader) => reader.failures)
  demand(failed() === 0, () => `${failed()} of ${asked()} requests failed: ${failures.slice(0, 10).join('\n')}`)
  demand(cluster.errors.length === 0, () => `errors were logged: ${cluster.errors.slice(0, 5).join('')}`)
}

say(`${users} users, ${sockets} sockets, seed ${seed}, ${place.description}`)
const rotation = await keyRotation()
let cluster: Cluster | null = null
try {
  const settings = {
    ...place.settings,
    ...(values.nats === '' ? {} : { NATS_URL: values.nats }),
    DEMO_SPEED: values.speed,
    DEMO_TRADERS: '0',
    RATE_LIMIT_PER_MIN: '0',
    LOG_LEVEL: 'info',
    JWT_ACCESS_EXPIRY: '7d',
    ...rotation.former,
    ADMIN_EMAILS: 'rolling_auditor@synthetic.invalid',
  }
  cluster = await Cluster.start(settings, folder)
  await run(cluster, rotation)
  say(`\n${asked()} requests, none failed. No promise was broken.`)
} catch (error) {
  say(`\n${tally.trading()}\n\nBROKEN (seed ${seed}, ${folder}, ${place.description})`)
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
} finally {
  for (const follower of followers) follower.stop()
  await cluster?.end()
  if (process.exitCode !== 1) {
    await place.remove(traders.map(({ client }) => client.userId))
    rmSync(folder, { recursive: true, force: true })
  }
}
// The traders of a failed run still try to continue.
process.exit()
