/**
 * What a trade costs, by part: processor time of Node by its profiler, time and log of PostgreSQL by its statements.
 *
 *   npm run ops -- bench-parts [--underway 1000] [--matches 2] [--seconds 5] [--json]
 *
 * Openings with journal, tape and ledger, as `bench:trade` makes them, on a PostgreSQL server of its own with
 * pg_stat_statements, without the full pages after a checkpoint. The profiler and the statistics cost something
 * themselves: read shares, and rates elsewhere.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { numbers, refuse } from '../rehearse/rig/options.ts'
import { freePort } from '../rehearse/rig/ports.ts'
import { OwnPostgres, PostgresPrograms } from '../rehearse/rig/postgres.ts'
import { type BenchDatabase, createOnServer } from './bench-database.ts'
import { actorOpens } from './opens.ts'
import { figure, table } from './report.ts'

const { underway, matches, seconds, json } = numbers(
  { underway: [1_000, 1], matches: [2, 1, 1_000], seconds: [5, 1, 3_600] },
  { json: { type: 'boolean', default: false } },
)

const USERS = 100_000
const ROOT = join(import.meta.dirname, '../..')
const STATISTICS = { shared_preload_libraries: 'pg_stat_statements', 'pg_stat_statements.track': 'all' }
/** A page is logged whole once after each checkpoint, five minutes apart: five seconds show it sixty times over. */
const STEADY = { full_page_writes: 'off' }
const SAMPLE_MICROS = 500

/** The first that fits a place in the code, its file or its function. */
const NODE_PARTS: readonly (readonly [string, RegExp])[] = [
  ['garbage collector', /^\(garbage collector\)/],
  ['match actor', /^actors\/(match|kernel)\//],
  ['prices, positions, triggers', /^actors\/(market|position)\//],
  ['tape and journal', /^actors\/tape\/|^db\/(tape|journal)|zlib/i],
  ['arguments and results of the commit', /^db\//],
  ['connection to PostgreSQL', /^node_modules\/pg|^writev|^read |^node:(net|internal\/stream|stream|_stream)/],
  ['callers of the benchmark', /^ops\//],
]

const SQL_PARTS: readonly (readonly [string, RegExp])[] = [
  ['wallets', /update wallets/],
  ['positions', /insert into positions/],
  ['ledger entries', /insert into ledger_entries/],
  ['instruments', /update instruments/],
  ['recent trades', /insert into recent_trades/],
  ['outbox', /insert into outbox|from outbox/],
  ['tape', /insert into tape/],
  ['journal', /insert into journal/],
  ['lease', /match_leases/],
  ['keys in use', /command_results/],
  ['worth of the purse elsewhere', /pnl_at/],
]

interface Part {
  readonly part: string
  /** Microseconds a trade. */
  readonly micros: number
  /** Bytes of PostgreSQL's log a trade. */
  readonly logBytes?: number
}

const programs =
  PostgresPrograms.find() ?? refuse('no PostgreSQL is installed on this machine: install it with its contrib modules')
await using started = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'touchline-parts-'))
started.defer(() => rm(folder, { recursive: true }))
const data = join(folder, 'postgres')
await programs.initialise(data)
const postgres = new OwnPostgres(programs, data, await freePort(), { ...STATISTICS, ...STEADY })
started.defer(() => postgres.stop())
await postgres.run()
await measure(started.use(await createOnServer(postgres.url, USERS)))

async function measure(database: BenchDatabase): Promise<void> {
  const { db } = database.connection
  await sql`create extension pg_stat_statements`.execute(db)
  await sql`select pg_stat_statements_reset()`.execute(db)
  const profile = await profiled(() =>
    actorOpens(database, { outstanding: underway, matches }, { rounds: 1, seconds, warmUpSeconds: 1, quick: false }),
  )
  const { answered, perSecond } = profile.result
  const node = nodeParts(profile.places, answered)
  const postgresParts = await sqlParts(database, answered)
  if (json) {
    console.log(JSON.stringify({ answered, perSecond, node, postgres: postgresParts }))
    return
  }
  const rowOf = ({ part, micros, logBytes }: Part): string[] => [
    part,
    figure(micros),
    logBytes === undefined ? '' : figure(logBytes),
  ]
  console.log(`${underway} under way, ${matches} matches: ${figure(perSecond)} openings a second`)
  console.log(table(['Node', 'µs a trade', ''], node.map(rowOf)))
  console.log(table(['PostgreSQL', 'µs a trade', 'log bytes'], postgresParts.map(rowOf)))
}

/** Microseconds by place, `file function`, without idle time. */
async function profiled<T>(work: () => Promise<T>): Promise<{ result: T; places: ReadonlyMap<string, number> }> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROS })
  await session.post('Profiler.start')
  const result = await work()
  const { profile } = await session.post('Profiler.stop')
  session.disconnect()
  const nodes = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]))
  const places = new Map<string, number>()
  for (const [n, id] of (profile.samples ?? []).entries()) {
    const { url, functionName } = present(nodes.get(id), 'a sampled function')
    const file = url.startsWith('file:') ? `${relative(ROOT, new URL(url).pathname)} ` : url === '' ? '' : `${url} `
    const place = `${file}${functionName}`
    places.set(place, (places.get(place) ?? 0) + (profile.timeDeltas?.[n] ?? 0))
  }
  places.delete('(idle)')
  return { result, places }
}

function nodeParts(places: ReadonlyMap<string, number>, trades: number): Part[] {
  const sums = new Map<string, number>()
  for (const [place, micros] of places) {
    const part = NODE_PARTS.find(([, fits]) => fits.test(place))?.[0] ?? 'the rest'
    sums.set(part, (sums.get(part) ?? 0) + micros / trades)
  }
  return withSum([...sums].map(([part, micros]) => ({ part, micros })))
}

async function sqlParts({ connection: { db } }: BenchDatabase, trades: number): Promise<Part[]> {
  const { rows } = await sql<{ query: string; toplevel: boolean; ms: number; bytes: number }>`
    select query, toplevel, total_exec_time as ms, wal_bytes::float8 as bytes from pg_stat_statements
     where toplevel = (query like '%commit_batch_%')`.execute(db)
  const per = (ms: number, logBytes: number) => ({ micros: (ms * 1_000) / trades, logBytes: logBytes / trades })
  const whole = rows.filter(({ toplevel }) => toplevel)
  const sum = (of: typeof rows, part: string): Part => ({
    part,
    ...per(
      of.reduce((total, { ms }) => total + ms, 0),
      of.reduce((total, { bytes }) => total + bytes, 0),
    ),
  })
  const nested = rows.filter(({ toplevel }) => !toplevel)
  const named = SQL_PARTS.map(([part, fits]) => {
    return sum(
      nested.filter(({ query }) => SQL_PARTS.find(([, one]) => one.test(query))?.[1] === fits),
      part,
    )
  })
  const all = sum(whole, 'all')
  const known = named.reduce(
    (total, { micros, logBytes = 0 }) => ({ micros: total.micros + micros, logBytes: total.logBytes + logBytes }),
    { micros: 0, logBytes: 0 },
  )
  const rest: Part = {
    part: 'the call itself, commit record',
    micros: all.micros - known.micros,
    logBytes: present(all.logBytes, 'log') - known.logBytes,
  }
  return [...[...named, rest].toSorted((a, b) => b.micros - a.micros), all]
}

function withSum(parts: readonly Part[]): Part[] {
  const all = { part: 'all', micros: parts.reduce((total, { micros }) => total + micros, 0) }
  return [...parts.toSorted((a, b) => b.micros - a.micros), all]
}
