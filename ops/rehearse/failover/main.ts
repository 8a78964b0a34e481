/**
 * Rehearses the failover of PostgreSQL as operators run it: a primary, a synchronous standby and HAProxy in front, and
 * behind it a process for clients and two for matches, under load. In each round the primary is killed with all of its
 * processes, the standby is promoted, and the former primary is rewound and follows it.
 *
 *   npm run ops -- failover [--rounds 3] [--users 20] [--speed 10] [--detect-ms 1000] [--asynchronous] [--seed N]
 *   npm run ops -- failover --patroni [--fence-ms 2000] [--rounds 3] …
 *
 * HAProxy has the configuration of `ops/deploy/proxy/haproxy.cfg`. No acknowledged trade may be lost and none doubled,
 * every idempotency key must lead to one outcome, no socket may miss a move, the books must balance, no process may
 * end, and at most ten seconds may pass without an acknowledged trade.
 *
 * Without `--patroni` the rehearsal answers HAProxy's health checks as Patroni does, and promotes and rewinds itself.
 * `--detect-ms` is the time from the kill to the promotion. With `--asynchronous` commits do not wait for the standby,
 * which is cut off half a second before each kill: the rehearsal must then find lost trades, and end with 1.
 *
 * With `--patroni` the real Patroni does all this, with the configuration of `ops/deploy/patroni/patroni.yaml` and one
 * etcd. In turn PostgreSQL is killed alone, the whole machine is (Patroni and PostgreSQL at once), and it is frozen and
 * goes on later. The lock of a machine must run out, so twenty seconds more are allowed for it; unless its death is
 * reported: with `--fence-ms` the lock is deleted so long after it, as the runbook says, and ten seconds are the bound.
 *
 * It needs PostgreSQL's programs, Redis, and HAProxy on the path or in HAPROXY_BINARY; Patroni, etcd and etcdctl with
 * `--patroni`. The exit code is 1 when a promise is broken.
 */
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { demand } from '../rig/account.ts'
import { audit } from '../rig/audit.ts'
import { checkConsistency, gather, waitForTrading } from '../rig/consistency.ts'
import { numbers, whole } from '../rig/options.ts'
import { rehearsing } from '../rig/program.ts'
import { Rehearsal, say } from '../rig/rehearsal.ts'
import { PostgresPrograms } from '../rig/postgres.ts'
import { Processes } from '../rig/processes.ts'
import { OwnRedis } from '../rig/redis.ts'
import { makeDatabase } from '../rig/scratch-database.ts'
import { Instruments, SimulatedClient } from '../rig/simulated-client.ts'
import { SimulatedTrader } from '../rig/simulated-trader.ts'
import { startTrading } from '../rig/trading-load.ts'
import { TradingTally } from '../rig/trading-tally.ts'
import { Watcher } from '../rig/watcher.ts'
import { Balancer } from './balancer.ts'
import type { Databases } from './databases.ts'
import { Pair } from './pair.ts'
import { PatroniPair } from './patroni.ts'

const {
  rounds,
  users,
  speed,
  'detect-ms': detectMs,
  seed,
  ...values
} = numbers(
  {
    rounds: [3, 1, 100],
    users: [20, 1, 500],
    speed: [10, 1],
    'detect-ms': [1_000, 0, 60_000],
    seed: [Date.now() % 1_000_000, 0],
  },
  {
    asynchronous: { type: 'boolean', default: false },
    patroni: { type: 'boolean', default: false },
    'fence-ms': { type: 'string' },
  },
)
const fenceMs = values['fence-ms'] === undefined ? null : whole('fence-ms', values['fence-ms'], 0, 60_000)

/** Before the kill, after the first trade that follows it, and after the former primary is back. */
const CALM_MS = 3_000
const LOOK_MS = 50
/** How long the rehearsal waits for a trade, to measure also a time that is too long. */
const PATIENCE_MS = 60_000
const WATCHERS = 3

const programs = present(PostgresPrograms.find(), "PostgreSQL's programs and a user other than root to run them")
const rehearsal = new Rehearsal('failover')
const { folder } = rehearsal
const tally = new TradingTally()
const traders = SimulatedTrader.crowd('Failover', users, seed, tally)
const admin = new SimulatedClient('Failover Auditor')
const watchers: Watcher[] = []
const secs = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0)

/** The databases, HAProxy before them, and the settings that lead the program there. */
async function startStores() {
  const redis = await OwnRedis.start(folder)
  rehearsal.later(() => redis.kill())
  const databases = await (values.patroni
    ? PatroniPair.start(programs, folder, { fenceMs })
    : Pair.start(programs, folder, { isSynchronous: !values.asynchronous, detectMs }))
  rehearsal.later(() => databases.stop())
  const balancer = await Balancer.start(folder, databases)
  rehearsal.later(() => balancer.stop())
  // The deployed role may make none: Patroni has made it one.
  const { url } = values.patroni ? balancer : await makeDatabase(balancer.url, 'touchline')
  const settings = { DATA_DIR: join(folder, 'keys'), DATABASE_URL: url, REDIS_URL: redis.url }
  return { databases, settings }
}

/** All users trade while the primary dies and the standby takes its place. */
async function round(n: number, databases: Databases, { url }: Processes): Promise<void> {
  const before = tally.acknowledged
  const { what, silenceMaxMs } = databases.death(n)
  const trading = startTrading(url, traders, admin)
  await pause(CALM_MS)
  tally.listen()
  const atKill = tally.acknowledged - before
  const killedAt = performance.now()
  await databases.kill(n)
  await databases.replaced()
  const promotedAt = performance.now()
  while (tally.lastAcknowledged < promotedAt && performance.now() - promotedAt < PATIENCE_MS) await pause(LOOK_MS)
  await pause(CALM_MS)
  const silence = tally.longestSilence
  const rejoinedFrom = performance.now()
  await databases.rejoined()
  const rejoinedIn = performance.now() - rejoinedFrom
  await pause(CALM_MS)
  const withRejoin = tally.longestSilence
  await trading.stop()
  await waitForTrading(url, admin)
  await checkConsistency(url, traders, admin)
  const repeated = sum(await Promise.all(traders.map((trader) => trader.repeatAll(url))))
  await Promise.all(watchers.map((watcher) => watcher.isUpToDate(url)))
  tally.checks++
  say(
    `${n}  ${what}; ${atKill} trades acknowledged before it, ${tally.acknowledged - before - atKill} after it; ` +
      `promoted after ${secs(promotedAt - killedAt)}\n` +
      `   longest without an acknowledged trade: ${secs(silence.to - silence.from)}, of which ` +
      `${secs(Math.max(0, silence.to - promotedAt))} after the promotion\n` +
      `   the former primary follows ${secs(rejoinedIn)} after it was asked to; ` +
      `longest without a trade until then and after: ${secs(withRejoin.to - withRejoin.from)}\n` +
      `   all acknowledged trades exist once; ${repeated} old keys repeated, each got its old answer`,
  )
  demand(withRejoin.to - withRejoin.from <= silenceMaxMs, () => {
    return `no trade for ${secs(withRejoin.to - withRejoin.from)}, of at most ${secs(silenceMaxMs)}`
  })
}

async function run(databases: Databases, processes: Processes): Promise<void> {
  const { url } = processes
  await processes.startRooms()
  await gather(url, admin, traders)
  const { instruments } = await admin.read(url, '/api/instruments', Instruments)
  for (const { client } of traders.slice(0, WATCHERS)) watchers.push(new Watcher(client))
  for (const watcher of watchers) watcher.watch(url, instruments)
  for (let n = 1; n <= rounds; n++) {
    await round(n, databases, processes)
    processes.demandAlive()
  }
  const { positions } = await audit(url, traders, admin)
  processes.demandAlive()
  const gaps = watchers.flatMap((watcher) => watcher.gaps)
  demand(gaps.length === 0, () => `sockets missed updates: ${gaps.join('; ')}`)
  say(`\n${tally.trading()}`)
  for (const { frames, epochs } of watchers) say(`a watcher saw ${frames} frames of ${epochs} epochs, without a gap`)
  say(`the match is settled and the books balance; ${positions} positions compared one by one`)
}

say(
  `${rounds} rounds, ${users} users, speed ${speed}, seed ${seed}, ${values.asynchronous ? 'a' : ''}synchronous standby` +
    (values.patroni ? ', kept by Patroni' : ''),
)
await rehearsal.play(
  async () => {
    const { databases, settings } = await startStores()
    const processes = await Processes.start({ ...settings, ...rehearsing('Failover', speed) })
    rehearsal.later(() => processes.kill())
    rehearsal.later(() => watchers.forEach((watcher) => watcher.stop()))
    await run(databases, processes)
    say('\n0 acknowledged trades lost, 0 doubled. No promise was broken.')
  },
  { tally, facts: `seed ${seed}` },
)
