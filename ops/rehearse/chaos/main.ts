/**
 * Chaos: three processes of the real program under load, with random faults. After each round the cluster is repaired
 * and every promise is checked; at the end the match is ended and everything is compared.
 *
 *   npm run ops -- chaos [--minutes 2] [--rounds N] [--seed N] [--only id,id] [--users 20] [--speed 30] [--relays]
 *
 * It starts a PostgreSQL and a Redis server of its own. Without PostgreSQL's programs, or without a user other than
 * root to run them, DATABASE_URL (or TEST_DATABASE_URL) must name a server; a database is made there, and that server
 * is not restarted.
 *
 * As root, with `ip`, each process runs in a network namespace of its own, with one link to clients and one to the
 * stores, where packets can be lost (`network.ts`). Elsewhere, and with `--relays`, all run on loopback. The first line
 * says which. In both, a relay per process and store breaks connections in other ways (`relay.ts`).
 *
 * An action that takes longer than a tenth of `--minutes` is left to longer runs. With `--rounds` a run ends after that
 * many rounds, however long they take. `--only` runs each of these actions (`actions.ts`) in a round of its own, in
 * turn. Actions that lose packets, or silence connections for ever, measure the longest time without an order that is
 * carried out; more than ten seconds break a promise. If a promise is broken, the exit code is 1 and all data is kept.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { present } from '../../../actors/kernel/assert.ts'
import { MINUTE_MS } from '../../../actors/kernel/world.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import { demand } from '../rig/account.ts'
import { SimulatedClient, Instruments } from '../rig/simulated-client.ts'
import { checkConsistency, gather, waitForTrading } from '../rig/consistency.ts'
import { serverPlace } from '../rig/data-place.ts'
import { SimulatedTrader } from '../rig/simulated-trader.ts'
import { startTrading } from '../rig/trading-load.ts'
import { TradingTally } from '../rig/trading-tally.ts'
import { numbers, whole } from '../rig/options.ts'
import { rehearsing } from '../rig/program.ts'
import { type Action, ACTIONS, actionsNamed, PAUSE_MAX_MS } from './actions.ts'
import { audit } from '../rig/audit.ts'
import { Cluster } from './cluster.ts'
import { Network } from './network.ts'
import { namedServer } from '../rig/scratch-database.ts'
import { OwnPostgres, PostgresPrograms } from '../rig/postgres.ts'
import { OwnRedis } from '../rig/redis.ts'
import { Watcher } from '../rig/watcher.ts'

const { minutes, users, speed, seed, ...values } = numbers(
  { minutes: [2, 1], users: [20, 1], speed: [30, 1], seed: [Date.now() % 1_000_000, 0] },
  {
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
    relays: { type: 'boolean', default: false },
  },
)
const rounds = values.rounds === undefined ? Infinity : whole('rounds', values.rounds, 1)
const script = actionsNamed(values.only === '' ? [] : values.only.split(','))

const ACTIONS_A_ROUND_MAX = 3
const CALM_MS = 1_500
/** Longer actions would take up most of the run. */
const SHARE_MAX = 0.1

const server = PostgresPrograms.find() === null ? namedServer() : ''
await using started = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'touchline-chaos-'))
started.defer(() => {
  if (process.exitCode !== 1) rmSync(folder, { recursive: true, force: true })
})
const postgres = await OwnPostgres.start(folder)
started.defer(() => postgres?.stop())
const redis = await OwnRedis.start(folder)
started.defer(() => redis.kill())
const place = await serverPlace(postgres?.url ?? server, redis.url)
const chance = chanceFrom(seed)
const network = values.relays ? null : Network.open()
started.defer(() => network?.close())
const cluster = new Cluster(
  {
    ...place.env,
    ...rehearsing('Chaos', speed),
  },
  network,
)
started.defer(() => cluster.end())
const tally = new TradingTally()
const traders = SimulatedTrader.crowd('Chaos', users, seed, tally)
const admin = new SimulatedClient('Chaos Auditor')
const watchers: Watcher[] = []
started.defer(() => {
  for (const watcher of watchers) watcher.stop()
})
const happened = new Map<string, number>()
/** The longest times without an order, by the action that measured them, in milliseconds. */
const measured = new Map<string, number[]>()
const secs = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
const say = (line: string): void => void process.stdout.write(`${line}\n`)

async function begin(): Promise<void> {
  await cluster.makeWhole()
  await gather(cluster.url, admin, traders)
}

/** The actions to blame for a broken promise. */
let current = 'the beginning'

/** Every action happens, as often as its weight, before any is repeated. */
let deck: Action[] = []
function deal(): Action {
  const fits = ({ lastsMs }: Action): boolean => lastsMs <= minutes * MINUTE_MS * SHARE_MAX
  if (deck.length === 0) deck = ACTIONS.filter(fits).flatMap((one) => Array<Action>(one.weight).fill(one))
  const [action] = deck.splice(chance.below(deck.length), 1)
  return present(action, 'an action')
}

/** The actions of a round, and whether the cluster is repaired after each. */
function planOf(n: number): readonly { readonly action: Action; readonly isMended: boolean }[] {
  const scripted = script[(n - 1) % script.length]
  if (scripted !== undefined) return [{ action: scripted, isMended: false }]
  const actions = [deal()]
  for (let more = chance.below(ACTIONS_A_ROUND_MAX); more > 0; more--) {
    const next = deal()
    actions.push(next)
    if (!actions.some(({ isMeasured }) => isMeasured)) continue
    deck.push(...actions.splice(-1))
    break
  }
  return actions.map((action) => ({ action, isMended: chance.happens(0.5) }))
}

function judge({ id }: Action, paused: number): void {
  measured.set(id, [...(measured.get(id) ?? []), paused])
  demand(
    paused <= PAUSE_MAX_MS,
    () => `no order was carried out for ${secs(paused)} (load ${loadavg().map(Math.round).join(' ')})`,
  )
}

/** All users trade while one or several actions happen; then the cluster is repaired and checked. */
async function round(n: number): Promise<void> {
  const since = performance.now()
  const trading = startTrading(cluster.url, traders, admin)
  const plan = planOf(n)
  current = `round ${n}: ${plan.map(({ action }) => action.name).join('; ')}`
  for (const { action, isMended } of plan) {
    await pause(chance.below(CALM_MS))
    happened.set(action.name, (happened.get(action.name) ?? 0) + 1)
    const paused = await action.happen({ cluster, redis, postgres, chance, trading, admin })
    if (paused !== undefined) judge(action, paused)
    if (isMended) await cluster.makeWhole()
  }
  await pause(chance.below(CALM_MS))
  await cluster.makeWhole()
  await pause(CALM_MS)
  await trading.stop()
  await waitForTrading(cluster.url, admin)
  await checkConsistency(cluster.url, traders, admin)
  await Promise.all(watchers.map((watcher) => watcher.isUpToDate(cluster.url)))
  tally.checks++
  const lasted = ((performance.now() - since) / 1_000).toFixed(0)
  say(`${String(n).padStart(4)}  ${lasted.padStart(3)} s  ${plan.map(({ action }) => action.name).join('; ')}`)
}

async function run(): Promise<void> {
  await begin()
  const { instruments } = await admin.read(cluster.url, '/api/instruments', Instruments)
  for (const { client } of traders.slice(0, 3)) watchers.push(new Watcher(client))
  for (const watcher of watchers) watcher.watch(cluster.url, instruments)
  const until = rounds === Infinity ? performance.now() + minutes * MINUTE_MS : Infinity
  for (let n = 1; n <= rounds && performance.now() < until; n++) await round(n)
  current = 'the end'
  const { positions, places } = await audit(cluster.url, traders, admin)
  const gaps = watchers.flatMap((watcher) => watcher.gaps)
  demand(gaps.length === 0, () => `sockets missed updates: ${gaps.join('; ')}`)
  say(`\n${positions} positions compared one by one; ${places} places on the board, live and rebuilt`)
}

async function endAtOnce(): Promise<void> {
  try {
    await cluster.end()
    await place.remove()
  } finally {
    await started.disposeAsync()
    rmSync(folder, { recursive: true, force: true })
  }
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void endAtOnce().finally(() => process.exit(1)))

const length = rounds === Infinity ? `${minutes} minutes` : `${rounds} rounds`
say(`${length}, ${users} users, seed ${seed}, ${postgres === null ? place.description : 'servers of its own'}`)
say(`networks: ${network === null ? 'relays' : 'namespaces and relays'}`)
try {
  await run()
  say(`\n${[...happened].map(([name, n]) => `${String(n).padStart(3)} × ${name}`).join('\n')}`)
  for (const [id, pauses] of measured) say(`${id}: at most ${pauses.map(secs).join(', ')} without an order`)
  say(`\n${tally.trading()}`)
  for (const { frames, connections, epochs } of watchers)
    say(`a watcher saw ${frames} frames of ${epochs} epochs on ${connections} connections, without a gap`)
  say('\nNo promise was broken.')
  await cluster.end()
  await place.remove()
} catch (error) {
  say(`\n${tally.trading()}\n\nBROKEN in ${current} (seed ${seed}, ${place.description}, ${folder})`)
  say(error instanceof Error ? (error.stack ?? error.message) : String(error))
  process.exitCode = 1
}
