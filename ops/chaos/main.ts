/**
 * Chaos: three processes of the real program under load, to which bad things happen at random; after every round all of it
 * is made whole, and every promise is checked.
 *
 *   npm run chaos -- [--minutes 2] [--seed N] [--users 20] [--speed 30]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server, on which a database is made; a Redis server of its own is
 * started. Exit code 1, and everything is kept to look at, when a promise is broken.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { isDeepStrictEqual } from 'node:util'
import { performance } from 'node:perf_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { demand } from '../crash/account.ts'
import { Guest, Instruments } from '../crash/guest.ts'
import { inspect, waitForTrading } from '../crash/inspection.ts'
import { serverPlace } from '../crash/place.ts'
import { type Market, Player } from '../crash/player.ts'
import { Tally } from '../crash/tally.ts'
import { ACTIONS } from './actions.ts'
import { Cluster } from './cluster.ts'
import { OwnRedis } from './redis.ts'
import { Watcher } from './watcher.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    users: { type: 'string', default: '20' },
    speed: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const [minutes, users, seed] = [Number(values.minutes), Number(values.users), Number(values.seed)]
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server')

/** Few enough instruments that the players get in each other's way. */
const FAVOURITES = 12
const LOOK_MS = 200
const ACTIONS_A_ROUND_MAX = 3
const CALM_MS = 1_500
const Board = z.looseObject({ entries: z.array(z.looseObject({ userId: z.string(), score: z.number() })) })

const folder = mkdtempSync(join(tmpdir(), 'touchline-chaos-'))
const redis = await OwnRedis.start(folder)
const place = await serverPlace(server, redis.url)
const chance = chanceFrom(seed)
const cluster = new Cluster(
  {
    ...place.settings,
    DEMO_SPEED: values.speed,
    DEMO_TRADERS: '0',
    RATE_LIMIT_PER_MIN: '0',
    LOG_LEVEL: 'info',
    JWT_ACCESS_EXPIRY: '7d',
    ADMIN_EMAILS: 'chaos_auditor@synthetic.invalid',
  },
  present(place.settings['DATABASE_URL'], 'address of the database'),
)
const tally = new Tally()
const players = Array.from({ length: users }, (_, n) => {
  return new Player(`Chaos ${n + 1}`, chanceFrom(seed * 1_000 + n + 1), tally)
})
const admin = new Guest('Chaos Auditor')
const watchers: Watcher[] = []
const happened = new Map<string, number>()
const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function begin(): Promise<void> {
  await cluster.makeWhole()
  await admin.signIn(cluster.url)
  for (const { guest } of players) await guest.signIn(cluster.url)
  await waitForTrading(cluster.url, admin)
}

/** Everybody trades while one thing or several happen; then the cluster is made whole, and looked at. */
async function round(n: number): Promise<void> {
  const market: Market = { instruments: [], isClosed: false }
  const lookAround = async (): Promise<void> => {
    while (market.isClosed !== true) {
      const reply = await admin.ask(cluster.url, 'GET', '/api/instruments')
      const open = reply === 'lost' || reply.status !== 200 ? [] : Instruments.parse(reply.body).instruments
      market.instruments = open.filter(({ tradingStatus }) => tradingStatus === 'OPEN').slice(0, FAVOURITES)
      await pause(LOOK_MS)
    }
  }
  const trade = async (player: Player): Promise<void> => {
    // He comes back when the server does.
    while (market.isClosed !== true) {
      await player.play(cluster.url, market)
      await pause(LOOK_MS)
    }
  }
  const playing = Promise.all([lookAround(), ...players.map(trade)])
  const names: string[] = []
  for (let action = 0; action <= chance.below(ACTIONS_A_ROUND_MAX); action++) {
    await pause(chance.below(CALM_MS))
    const next = present(
      chance.pick(ACTIONS, ({ weight }) => weight),
      'an action',
    )
    names.push(next.name)
    happened.set(next.name, (happened.get(next.name) ?? 0) + 1)
    await next.happen({ cluster, redis, chance })
    if (chance.happens(0.5)) await cluster.makeWhole()
  }
  await pause(chance.below(CALM_MS))
  await redis.start()
  await cluster.makeWhole()
  await pause(CALM_MS)
  market.isClosed = true
  await playing
  await waitForTrading(cluster.url, admin)
  await inspect(cluster.url, players, admin)
  tally.checks++
  say(`${String(n).padStart(3)}  ${names.join('; ')}`)
}

/** Boards that were lived through must be those that are made anew. */
async function compareBoards(): Promise<void> {
  const read = async () => (await admin.read(cluster.url, '/api/leaderboard/roi/global?limit=500', Board)).entries
  const scores = (entries: z.output<typeof Board>['entries']) =>
    entries.map(({ userId, score }) => ({ userId, score })).toSorted((a, b) => (a.userId < b.userId ? -1 : 1))
  let lived = scores(await read())
  for (let looks = 0; looks < 50; looks++) {
    await pause(LOOK_MS)
    const now = scores(await read())
    if (isDeepStrictEqual(now, lived)) break
    lived = now
  }
  const reply = await admin.ask(cluster.url, 'POST', '/api/admin/leaderboard/rebuild-roi', {})
  demand(reply !== 'lost' && reply.status === 200, () => `the boards cannot be rebuilt: ${JSON.stringify(reply)}`)
  const rebuilt = scores(await read())
  demand(isDeepStrictEqual(rebuilt, lived), () => `boards differ: ${JSON.stringify(lived)}, ${JSON.stringify(rebuilt)}`)
  say(`${rebuilt.length} places on the board, the same when it is made anew`)
}

async function run(): Promise<void> {
  await begin()
  const { instruments } = await admin.read(cluster.url, '/api/instruments', Instruments)
  for (const { guest } of players.slice(0, 3)) watchers.push(new Watcher(guest))
  for (const watcher of watchers) watcher.watch(cluster.url, instruments)
  const until = performance.now() + minutes * MINUTE_MS
  for (let n = 1; performance.now() < until; n++) await round(n)
  const gaps = watchers.reduce((sum, watcher) => sum + watcher.gaps, 0)
  demand(gaps === 0, () => `${gaps} moves are missing between the frames of a socket`)
  await compareBoards()
  const counts = await Promise.all(players.map((player) => player.compareAll(cluster.url)))
  say(`${counts.reduce((sum, count) => sum + count, 0)} positions compared one by one`)
}

say(`${minutes} minutes, ${users} users, seed ${seed}, ${place.description}`)
try {
  await run()
  say(`\n${[...happened].map(([name, n]) => `${String(n).padStart(3)} × ${name}`).join('\n')}`)
  say(`\n${tally.trading()}`)
  for (const { frames, connections, epochs } of watchers)
    say(`a watcher saw ${frames} frames of ${epochs} epochs on ${connections} connections, without a gap`)
  say('\nNo promise was broken.')
  await cluster.end()
  await place.remove([])
} catch (error) {
  say(`\n${tally.trading()}\n\nBROKEN (seed ${seed}, ${place.description})`)
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
} finally {
  for (const watcher of watchers) watcher.stop()
  await cluster.end()
  await redis.kill()
  rmSync(folder, { recursive: true, force: true })
}
