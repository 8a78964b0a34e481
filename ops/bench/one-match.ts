/**
 * What one match carries: orders from other processes over the bus, durable in PostgreSQL, while its prices and its
 * news go to as many processes as a million followers need.
 *
 *   npm run ops -- bench-one-match [--rounds 3] [--seconds 5] [--under-way 1000] [--askers 2] [--processes 100]
 *                                  [--quick] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped. It starts
 * redis-server, which must be installed. The baseline is the same match without a bus, its orders from its own process.
 * All processes share the machine, so look at the processor time of the match: its reciprocal is what one core carries.
 * After each run the books are compared with what was acknowledged.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { MAILBOX_MAX } from '../../actors/kernel/limits.ts'
import { whole } from '../rehearse/rig/options.ts'
import { OwnRedis } from '../rehearse/rig/redis.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { audit, type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import type { Load } from './closed-loop.ts'
import { commitTime, describeCommitTime } from './commit-time.ts'
import { BenchMatch } from './matches.ts'
import type { Listed, OneMatchCommand, OwnerCost, Received } from './one-match-worker.ts'
import { actorOpens } from './opens.ts'
import { processorSeconds } from './processor-time.ts'
import { figure, PACED, paceOf, spreadOf, table, withSpread } from './report.ts'
import { Worker } from './worker.ts'

const USERS = 20_000
/** Sockets that one process serves, by `bench:fanout`. */
const SOCKETS_A_PROCESS = 10_000

const { values: options } = parseArgs({
  options: {
    ...PACED,
    seconds: { type: 'string', default: '5' },
    'under-way': { type: 'string', default: '1000' },
    askers: { type: 'string', default: '2' },
    processes: { type: 'string', default: '100' },
  },
})
const server = namedServer()
const pace = paceOf(options)
const askers = whole('askers', options.askers, 1, 32)
const underWay = whole('under-way', options['under-way'], askers, MAILBOX_MAX)
const processes = whole('processes', options.processes, 1, 1_000)

interface Run {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor time of the process with the match, µs a trade. */
  readonly owner: number
  readonly asker: number | null
  readonly bus: number | null
  readonly tradesPerCommit: number | null
  /** What each follower got, a second. */
  readonly messages: number | null
  readonly kilobytes: number | null
}

async function alone(database: BenchDatabase): Promise<Run> {
  const load = await actorOpens(database, { outstanding: underWay, matches: 1 }, pace)
  const { perSecond, p50Ms, p99Ms } = load
  const none = { asker: null, bus: null, tradesPerCommit: null, messages: null, kilobytes: null }
  return { perSecond, p50Ms, p99Ms, owner: load.cost.nodeMicros, ...none }
}

async function overBus(database: BenchDatabase, redisUrl: string, pid: number): Promise<Run> {
  await reset(database)
  const [made] = await BenchMatch.start(database.connection, 1)
  const { matchId } = present(made, 'match').actor
  await made?.stop()
  const worker = (): Worker => new Worker('one-match-worker.ts', { core: null })
  const tell = <Answer>(to: Worker, command: OneMatchCommand): Promise<Answer> => to.ask<Answer>(command)
  const [owner, followers, ...senders] = Array.from({ length: 2 + askers }, worker)
  if (owner === undefined || followers === undefined) throw new Error('no processes')
  const databaseUrl = database.url
  const listed = await tell<Listed[]>(owner, { kind: 'own', redisUrl, databaseUrl, matchId })
  await tell(followers, { kind: 'follow', redisUrl, matchId, processes })
  const share = Math.floor(USERS / askers)
  const orders = (seconds: number): Promise<Load[]> =>
    Promise.all(
      senders.map((sender, n) => {
        const users = database.users.slice(n * share, (n + 1) * share)
        const of = { users, underWay: Math.floor(underWay / askers), seconds }
        return tell<Load>(sender, { kind: 'order', redisUrl, name: `asker ${n}`, matchId, listed, ...of })
      }),
    )
  const warm = await orders(pace.warmUpSeconds)
  const cpuOf = (): number => senders.reduce((sum, sender) => sum + processorSeconds(sender.pid), 0)
  const [busBefore, askersBefore] = [processorSeconds(pid), cpuOf()]
  await tell<OwnerCost>(owner, { kind: 'cost' })
  await tell<Received>(followers, { kind: 'received' })
  const loads = await orders(pace.seconds)
  const cost = await tell<OwnerCost>(owner, { kind: 'cost' })
  const received = await tell<Received>(followers, { kind: 'received' })
  const [busAfter, askersAfter] = [processorSeconds(pid), cpuOf()]
  await Promise.all([owner, followers, ...senders].map((one) => one.end()))
  const opened = [...warm, ...loads].reduce((sum, load) => sum + load.answered, 0)
  await audit(database, { opened, closed: 0, keyed: opened })
  const micros = (seconds: number): number => (seconds * 1e6) / cost.trades
  return {
    perSecond: loads.reduce((sum, load) => sum + load.perSecond, 0),
    p50Ms: spreadOf(loads.map((load) => load.p50Ms)).max,
    p99Ms: spreadOf(loads.map((load) => load.p99Ms)).max,
    owner: micros(cost.cpuSeconds),
    asker: micros(askersAfter - askersBefore),
    bus: micros(busAfter - busBefore),
    tradesPerCommit: cost.trades / cost.commits,
    messages: received.messages / processes / cost.seconds,
    kilobytes: received.bytes / processes / cost.seconds / 1_000,
  }
}

function describe(rounds: readonly Readonly<Record<string, Run>>[]): string {
  const of = (round: Readonly<Record<string, Run>>, name: string): Run => present(round[name], name)
  const rows = Object.keys(present(rounds[0], 'a round')).map((name) => {
    const spread = (read: (run: Run) => number | null): string => {
      const values = rounds.flatMap((round) => read(of(round, name)) ?? [])
      return values.length === 0 ? '' : withSpread(spreadOf(values))
    }
    const ratio = spreadOf(rounds.map((round) => of(round, name).perSecond / of(round, 'no bus').perSecond))
    return [
      name,
      spread((run) => run.perSecond),
      withSpread(ratio),
      spread((run) => run.p50Ms),
      spread((run) => run.p99Ms),
      spread((run) => run.owner),
      spread((run) => 1e6 / run.owner),
      spread((run) => run.asker),
      spread((run) => run.bus),
      spread((run) => run.tradesPerCommit),
      spread((run) => run.messages),
      spread((run) => run.kilobytes),
    ]
  })
  const head = ['', 'trades a second', '× no bus', 'p50 ms', 'p99 ms', 'µs of the match', 'a core carries', 'µs askers']
  const more = ['µs bus', 'trades a commit', 'messages a follower', 'kB a follower']
  const followers = figure(processes * SOCKETS_A_PROCESS)
  const title = `One match, ${underWay} orders under way from ${askers} processes; ${processes} processes follow it, for ${followers} sockets`
  return `${title}\n${table([...head, ...more], rows)}\nWithout a bus, the match's process sends the orders too.`
}

await using started = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'touchline-one-match-'))
started.defer(() => rmSync(folder, { recursive: true, force: true }))
const redis = await OwnRedis.start(folder)
started.defer(() => redis.kill())
const database = started.use(await createOnServer(server, USERS))
const rounds: Readonly<Record<string, Run>>[] = []
const commits = []
for (let n = 0; n < pace.rounds; n++) {
  commits.push(await commitTime(database.url))
  rounds.push({
    'no bus': await alone(database),
    Redis: await overBus(database, redis.url, present(redis.pid, 'pid of Redis')),
  })
  console.error(`round ${n + 1} of ${pace.rounds} is done`)
}
if (options.json) console.log(JSON.stringify({ rounds, commits }))
else console.log(`${describe(rounds)}\n${describeCommitTime(commits)}`)
