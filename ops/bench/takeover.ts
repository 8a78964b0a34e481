/**
 * How long a match stands still when its owner is killed: kills the owner again and again, and measures until an order
 * through another process has a stored answer. One process serves clients and two run matches; the killed one is
 * replaced before the next kill. Traders have orders under way at each kill: after it every key must have led to one
 * outcome, and accounts, positions and books must agree. A watcher must see every move.
 *
 *   npm run ops -- bench-takeover [--kills 20] [--users 10]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a server, where a database is made. Redis is started here. It ends with 1
 * when something was lost or doubled, when a price was missed, or when the median is above 1.5 s.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { present } from '../../actors/kernel/assert.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { Cluster } from '../rehearse/chaos/cluster.ts'
import { rehearsing } from '../rehearse/rig/program.ts'
import { OwnRedis } from '../rehearse/rig/redis.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { Watcher } from '../rehearse/rig/watcher.ts'
import { checkConsistency, waitForTrading } from '../rehearse/rig/consistency.ts'
import { serverPlace } from '../rehearse/rig/data-place.ts'
import { numbers } from '../rehearse/rig/options.ts'
import { Failure, Instruments, SimulatedClient } from '../rehearse/rig/simulated-client.ts'
import { SimulatedTrader } from '../rehearse/rig/simulated-trader.ts'
import { startTrading } from '../rehearse/rig/trading-load.ts'
import { TradingTally } from '../rehearse/rig/trading-tally.ts'

const { kills, users } = numbers({ kills: [20, 1], users: [10, 1, 500] })

/** A process is a witness two seconds after it has joined. */
const CALM_MS = 4_000
const AGAIN_MS = 10
const MEDIAN_MAX_MS = 1_500

const server = namedServer()
await using started = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'touchline-takeover-'))
started.defer(() => rmSync(folder, { recursive: true, force: true }))
const redis = await OwnRedis.start(folder)
started.defer(() => redis.kill())
const place = await serverPlace(server, redis.url)
started.defer(() => place.remove())
const cluster = new Cluster({ ...place.env, ...rehearsing('Takeover', 10) })
started.defer(() => cluster.end())
const admin = new SimulatedClient('Takeover Auditor')
const watcher = new Watcher(admin)
started.defer(() => watcher.stop())
const tally = new TradingTally()
const traders = Array.from(
  { length: users },
  (_, n) => new SimulatedTrader(`Takeover ${n + 1}`, chanceFrom(n + 1), tally),
)

/** Milliseconds until an order without lots is refused, which a new key stores in a commit. */
async function untilTraded(): Promise<number> {
  const since = performance.now()
  for (;;) {
    const { instruments } = await admin.read(cluster.url, '/api/instruments', Instruments)
    const open =
      instruments.find(({ tradingStatus }) => tradingStatus === 'OPEN') ?? present(instruments[0], 'a player')
    const order = { instrumentId: open.id, direction: 'long', lotSize: 0, clientPrice: open.currentPrice }
    const reply = await admin.ask(cluster.url, 'POST', '/api/positions/open', order, `takeover ${performance.now()}`)
    if (reply !== 'lost' && Failure.safeParse(reply.body).data?.code === 'LOT_SIZE_INVALID')
      return performance.now() - since
    await pause(AGAIN_MS)
  }
}

const quantile = (sorted: readonly number[], q: number): number =>
  present(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))], 'a figure')

await cluster.makeWhole()
await admin.signIn(cluster.url)
for (const { client } of traders) await client.signIn(cluster.url)
await waitForTrading(cluster.url, admin)
const { instruments } = await admin.read(cluster.url, '/api/instruments', Instruments)
watcher.watch(cluster.url, instruments)
const taken: number[] = []
for (let n = 1; n <= kills; n++) {
  const trading = startTrading(cluster.url, traders, admin)
  await pause(CALM_MS)
  await waitForTrading(cluster.url, admin)
  await (await cluster.owner()).kill()
  const ms = await untilTraded()
  taken.push(ms)
  process.stdout.write(`kill ${String(n).padStart(2)} of ${kills}: ${ms.toFixed(0)} ms\n`)
  await trading.stop()
  await checkConsistency(cluster.url, traders, admin)
  for (const trader of traders) await trader.repeatAll(cluster.url)
  tally.checks++
  await cluster.makeWhole()
}
await watcher.isUpToDate(cluster.url)
const sorted = taken.toSorted((a, b) => a - b)
const [median, most] = [quantile(sorted, 0.5), quantile(sorted, 1)]
process.stdout.write(
  `\n${kills} kills: median ${median.toFixed(0)} ms, most ` +
    `${most.toFixed(0)} ms; ${watcher.frames} frames of ${watcher.epochs} epochs, ${watcher.gaps.length} gaps\n` +
    `${tally.trading()}\nnone lost, none doubled\n`,
)
if (watcher.gaps.length > 0) process.exitCode = 1
if (median > MEDIAN_MAX_MS) {
  process.stdout.write(`the median is above ${MEDIAN_MAX_MS} ms\n`)
  process.exitCode = 1
}
