/**
 * What one match carries when all its orders come from other processes and 100 processes follow its prices:
 *
 *   npm run ops -- bench-one-match [--engines redis,nats] [--rounds 3] [--seconds 5] [--under-way 1000] [--quick]
 *
 * One process owns the match, on a core of its own. Others send it openings of many users over the bus, with messages
 * signed as in production. The baselines of the same run are the same openings submitted inside the owner, and
 * processes of the version before, whose orders travel in a message each. In the rows `encoded` each commit is encoded
 * and then acknowledged after `--commit-ms`, so that the database does not take the cores of the others; the rows
 * `PostgreSQL` commit, and their books are audited. DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a
 * database is made there and dropped. Redis and NATS are started here.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { OwnRedis } from '../rehearse/rig/redis.ts'
import { audit, type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import type { Address, Engine } from './bus-order.ts'
import type { Listed, OthersCommand, OwnerCommand, Traded, Used } from './one-match-order.ts'
import { OwnNats } from './own-nats.ts'
import { processorSeconds } from './processor-time.ts'
import { paceOf, spreadOf, table, withSpread } from './report.ts'
import { Worker } from './worker.ts'

const { values: options } = parseArgs({
  options: {
    engines: { type: 'string', default: 'redis,nats' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    'under-way': { type: 'string', default: '1000' },
    'commit-ms': { type: 'string', default: '13' },
    rate: { type: 'string', default: '20000' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const pace = paceOf(options)
const underWay = Number(options['under-way'])
const rate = Number(options.rate)
const delayMs = Number(options['commit-ms'])

const USERS = 100_000
/** Until the code is compiled: a second would leave a tenth of the time to the compiler. */
const WARM_UP_SECONDS = 3
const FEW = 64
/** As the server is started. */
const FLAGS = ['--min-semi-space-size=64', '--max-semi-space-size=64']
/** The owner has a core of its own; all others share the other one. */
const CORE = { owner: 0, others: 1 } as const

interface Variant {
  readonly name: string
  readonly commits: 'encoded' | 'PostgreSQL'
  /** Processes that send the orders; 0: the owner itself. */
  readonly askers: number
  readonly isOld?: boolean
  /** Processes that follow the prices. */
  readonly followers: number
  /** Orders a second, whatever the answers do; absent: as many as are answered. */
  readonly rate?: number
}

const VARIANTS: readonly Variant[] = (['encoded', 'PostgreSQL'] as const).flatMap((commits) => [
  { name: 'inside the owner', commits, askers: 0, followers: 0 },
  { name: 'from 10 of the version before', commits, askers: 10, isOld: true, followers: 1 },
  { name: 'from 10, followed by 1', commits, askers: 10, followers: 1 },
  { name: 'from 10, followed by 100', commits, askers: 10, followers: 100 },
  { name: 'from 100, followed by 100', commits, askers: 100, followers: 100 },
  { name: `${rate} a second from 100, followed by 100`, commits, askers: 100, followers: 100, rate },
])

interface Server {
  readonly at: Address
  readonly pid: number
}

interface Result {
  readonly perSecond: number
  /** Cores that the owner used. */
  readonly use: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Microseconds of processor time a trade. */
  readonly owner: number
  readonly asker: number
  readonly broker: number
  readonly postgres: number
  readonly tradesPerCommit: number
  readonly publications: number
  readonly unknown: number
  readonly load: number
}

async function measure(database: BenchDatabase, { at, pid }: Server, variant: Variant): Promise<Result> {
  const { commits, askers, isOld = false, followers } = variant
  await reset(database)
  const pinned = (file: string, core: number): Worker => new Worker(file, { core, flags: FLAGS })
  const owner = pinned('one-match-owner.ts', CORE.owner)
  const others = pinned('one-match-others.ts', CORE.others)
  const askOwner = <Answer>(command: OwnerCommand): Promise<Answer> => owner.ask<Answer>(command)
  const askOthers = <Answer>(command: OthersCommand): Promise<Answer> => others.ask<Answer>(command)
  try {
    const databaseUrl = present(database.url, 'address of a server')
    const listed = await askOwner<readonly Listed[]>({
      kind: 'own',
      at,
      databaseUrl,
      delayMs: commits === 'encoded' ? delayMs : null,
    })
    const orders = { users: database.users, listed }
    await askOthers({ kind: 'follow', at, connections: followers })
    await askOthers({ kind: 'join', at, processes: askers, isOld })
    const trade = (seconds: number, callers = underWay): Promise<Traded> => {
      const load = { orders, pressure: { seconds, underWay: callers, rate: variant.rate ?? null } }
      return askers === 0 ? askOwner({ kind: 'submit', ...load }) : askOthers({ kind: 'trade', ...load })
    }
    // Slowly: a process that has just started would keep a thousand waiting.
    const started = await trade(1, FEW)
    const warmUp = await trade(pace.quick ? 1 : WARM_UP_SECONDS)
    await askOwner({ kind: 'used' })
    const before = { broker: processorSeconds(pid), postgres: await backends(database) }
    const traded = await trade(pace.seconds)
    const broker = processorSeconds(pid) - before.broker
    const postgres = since(before.postgres, await backends(database))
    const used = await askOwner<Used>({ kind: 'used' })
    const ownerSeconds = askers === 0 ? traded.cpuSeconds : used.cpuSeconds
    await askOthers({ kind: 'leave' })
    await askOwner({ kind: 'stop' })
    if (commits === 'PostgreSQL') await auditAll(database, [started, warmUp, traded])
    const done = traded.answered - traded.unknown
    const micros = (seconds: number): number => (seconds * 1e6) / done
    return {
      perSecond: (traded.perSecond * done) / traded.answered,
      use: ownerSeconds / pace.seconds,
      p50Ms: traded.p50Ms,
      p99Ms: traded.p99Ms,
      owner: micros(ownerSeconds),
      asker: askers === 0 ? 0 : micros(traded.cpuSeconds),
      broker: micros(broker),
      postgres: micros(postgres),
      tradesPerCommit: done / used.commits,
      unknown: traded.unknown,
      publications: used.publications / pace.seconds,
      load: loadavg()[0] ?? 0,
    }
  } finally {
    await Promise.all([owner.end(), others.end()])
  }
}

/** Every order that was answered is in the books, and none that was not sent. */
async function auditAll(database: BenchDatabase, loads: readonly Traded[]): Promise<void> {
  const { rows } = await sql<{ opened: number }>`select count(*)::integer as opened from positions`.execute(
    database.connection.db,
  )
  const { opened } = present(rows[0], 'count')
  const most = loads.reduce((sum, { answered }) => sum + answered, 0)
  const least = loads.reduce((sum, { answered, unknown }) => sum + answered - unknown, 0)
  if (opened < least || opened > most) throw new Error(`${opened} positions for ${least} to ${most} orders`)
  await audit(database, { opened, closed: 0, keyed: opened })
}

/** The processor seconds of each process of PostgreSQL that serves this database, by its id. */
async function backends({ connection: { db } }: BenchDatabase): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(db)
  return new Map(rows.map(({ pid }) => [pid, processorSeconds(pid)]))
}

/** Of those that still run: others have served the bench between two loads. */
const since = (before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number =>
  [...after].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0), 0)

const folder = mkdtempSync(join(tmpdir(), 'touchline-one-match-'))
const redis = await OwnRedis.start(folder)
const nats = await OwnNats.start()
const database = await createOnServer(server, USERS)
try {
  const servers: Readonly<Record<Engine, Server>> = {
    redis: { at: { engine: 'redis', url: redis.url }, pid: present(redis.pid, 'pid of Redis') },
    nats: { at: { engine: 'nats', url: nats.url }, pid: nats.pid },
  }
  const engines = options.engines.split(',').map((name) => {
    if (name !== 'redis' && name !== 'nats') throw new Error(`--engines knows redis and nats, not ${name}`)
    return name
  })
  const chosen = VARIANTS.filter(({ name, commits }) => `${commits}, ${name}`.includes(options.only))
  const results = new Map<string, Result[]>()
  for (let round = 0; round < pace.rounds; round++) {
    for (const engine of engines) {
      for (const variant of chosen) {
        const name = `${engine}, ${variant.commits}, ${variant.name}`
        const result = await measure(database, servers[engine], variant)
        results.set(name, [...(results.get(name) ?? []), result])
      }
    }
  }
  const columns = [
    ['trades/s', 'perSecond'],
    ['cores of owner', 'use'],
    ['p50 ms', 'p50Ms'],
    ['p99 ms', 'p99Ms'],
    ['µs owner', 'owner'],
    ['µs askers', 'asker'],
    ['µs broker', 'broker'],
    ['µs PostgreSQL', 'postgres'],
    ['trades a commit', 'tradesPerCommit'],
    ['publications/s', 'publications'],
    ['unknown', 'unknown'],
    ['load', 'load'],
  ] as const
  const rows = [...results].map(([name, found]) => [
    name,
    ...columns.map(([, part]) => withSpread(spreadOf(found.map((one) => one[part])))),
  ])
  console.log(`Openings on one match, ${underWay} under way; processor time is microseconds a trade`)
  console.log(table(['', ...columns.map(([head]) => head)], rows))
} finally {
  await database.close()
  nats.kill()
  await redis.kill()
  rmSync(folder, { recursive: true, force: true })
}
