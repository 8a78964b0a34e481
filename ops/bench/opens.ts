/** Durable opens per second: real actors on the real store, against a transaction per trade and against pgbench. */
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { audit, type BenchDatabase, reset } from './bench-database.ts'
import { closedLoop, type Load } from './closed-loop.ts'
import { type CommitTime, commitTime, describeCommitTime } from './commit-time.ts'
import { BenchMatch } from './matches.ts'
import { naiveOpen, naivePool } from './naive.ts'
import { pgbench, preparePgbench } from './pgbench.ts'
import { figure, type Pace, type Section, type Spread, spreadOf, table, withSpread } from './report.ts'

/** One way to open positions. */
interface Variant {
  readonly name: string
  /** Requests in flight. */
  readonly underWay: number
  readonly rival: 'naive' | 'pgbench' | null
  readonly run: (database: BenchDatabase, pace: Pace) => Promise<Stats>
}

type Stats = Pick<Load, 'perSecond' | 'p50Ms' | 'p99Ms'> & { readonly cost?: Cost }

/** The cost of one open, apart from the processor time of the database. */
interface Cost {
  /** Processor time of this process, including the callers and the garbage collector. */
  readonly nodeMicros: number
  /** Bytes written to PostgreSQL's log, including full pages. */
  readonly logBytes: number
}

const OUTSTANDING = [1, 64, 1_000]
const MATCHES = [1, 2, 8]
const RIVAL_CLIENTS = [1, 8, 32, 64]

export async function benchOpens(database: BenchDatabase, pace: Pace): Promise<Section> {
  const hasPgbench = await preparePgbench(database.url)
  const variants = [...actorVariants(), ...naiveVariants(), ...(hasPgbench ? pgbenchVariants() : [])]
  const rounds: Map<string, Stats>[] = []
  const commits: CommitTime[] = []
  for (let round = 0; round < pace.rounds; round++) {
    const figures = new Map<string, Stats>()
    commits.push(await commitTime(database.url))
    for (const { name, run } of variants) figures.set(name, await run(database, pace))
    rounds.push(figures)
  }
  const { text, data } = describe(variants, rounds)
  return { text: `${text}\n${describeCommitTime(commits)}`, data: { ...data, commits } }
}

interface OpensOptions {
  readonly outstanding: number
  readonly matches: number
}

/** Opens by `users`, each with a key, spread over new matches; audited. */
export async function actorOpens(
  database: BenchDatabase,
  { outstanding, matches: count }: OpensOptions,
  pace: Pace,
): Promise<Load & { readonly cost: Cost }> {
  await reset(database)
  const [cpu, log] = [process.cpuUsage(), await logPosition(database)]
  const matches = await BenchMatch.start(database.connection, count)
  const nextUser = inTurn(database.users)
  const load = await closedLoop({
    ...pace,
    callers: outstanding,
    ask: async (caller) => {
      await present(matches[caller % count], 'match').open(nextUser())
    },
  })
  for (const match of matches) await match.stop()
  const { user, system } = process.cpuUsage(cpu)
  const cost = {
    nodeMicros: (user + system) / load.answered,
    logBytes: ((await logPosition(database)) - log) / load.answered,
  }
  await audit(database, { opened: load.answered, closed: 0, keyed: load.answered })
  return { ...load, cost }
}

async function logPosition({ connection: { db } }: BenchDatabase): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint as bytes`.execute(db)
  return present(rows[0], 'position').bytes
}

/** Far more users than requests in flight, so that no user waits for their own wallet. */
function inTurn<T>(all: readonly T[]): () => T {
  let turn = 0
  return () => present(all[turn++ % all.length], 'one of many')
}

function actorVariants(): Variant[] {
  return OUTSTANDING.flatMap((outstanding) =>
    MATCHES.map((matches) => ({
      name: `actor, ${outstanding} under way, ${matches} ${matches === 1 ? 'match' : 'matches'}`,
      underWay: outstanding,
      rival: null,
      run: (database: BenchDatabase, pace: Pace) => actorOpens(database, { outstanding, matches }, pace),
    })),
  )
}

function naiveVariants(): Variant[] {
  return RIVAL_CLIENTS.map((clients) => ({
    name: `transaction per trade, ${clients} clients`,
    underWay: clients,
    rival: 'naive',
    run: (database, pace) => naiveOpens(database, clients, pace),
  }))
}

async function naiveOpens(database: BenchDatabase, clients: number, pace: Pace): Promise<Load> {
  await reset(database)
  const pool = naivePool(database.url, clients)
  const nextUser = inTurn(database.users)
  const load = await closedLoop({ ...pace, callers: clients, ask: () => naiveOpen(pool, nextUser()) })
  await pool.end()
  await audit(database, { opened: load.answered, closed: 0, keyed: load.answered })
  return load
}

function pgbenchVariants(): Variant[] {
  return RIVAL_CLIENTS.map((clients) => ({
    name: `pgbench TPC-B-like, ${clients} clients`,
    underWay: clients,
    rival: 'pgbench',
    run: async (database, pace) => {
      await reset(database)
      const { perSecond, meanMs } = await pgbench(database.url, clients, pace.seconds)
      return { perSecond, p50Ms: meanMs, p99Ms: Number.NaN }
    },
  }))
}

function describe(variants: readonly Variant[], rounds: readonly ReadonlyMap<string, Stats>[]): Section {
  const of = (round: ReadonlyMap<string, Stats>, name: string): Stats => present(round.get(name), name)
  const ratio = ({ name, underWay }: Variant, rival: Variant['rival']): Spread | null => {
    const rivals = variants.filter((v) => v.rival === rival && v.underWay <= underWay)
    const best = (round: ReadonlyMap<string, Stats>) => Math.max(...rivals.map((v) => of(round, v.name).perSecond))
    return rivals.length === 0 ? null : spreadOf(rounds.map((round) => of(round, name).perSecond / best(round)))
  }
  const costOf = (name: string, part: keyof Cost): number | null => {
    const costs = rounds.flatMap((round) => of(round, name).cost?.[part] ?? [])
    return costs.length === 0 ? null : spreadOf(costs).median
  }

  const results = variants.map((variant) => {
    const { name, rival } = variant
    return {
      name,
      perSecond: spreadOf(rounds.map((round) => of(round, name).perSecond)),
      p50Ms: spreadOf(rounds.map((round) => of(round, name).p50Ms)).median,
      p99Ms: spreadOf(rounds.map((round) => of(round, name).p99Ms)).median,
      nodeMicros: costOf(name, 'nodeMicros'),
      logBytes: costOf(name, 'logBytes'),
      timesNaive: rival === null ? ratio(variant, 'naive') : null,
      timesPgbench: rival === null ? ratio(variant, 'pgbench') : null,
    }
  })
  const cell = (spread: Spread | null): string => (spread === null ? '' : withSpread(spread))
  const rows = results.map((r) => [
    r.name,
    withSpread(r.perSecond),
    figure(r.p50Ms),
    Number.isNaN(r.p99Ms) ? '' : figure(r.p99Ms),
    cell(r.timesNaive),
    cell(r.timesPgbench),
    r.nodeMicros === null ? '' : figure(r.nodeMicros),
    r.logBytes === null ? '' : figure(r.logBytes),
  ])
  const title = `Durable openings: median (min..max) of ${rounds.length} rounds; ratios to the best rival with as much under way`
  const note = variants.some((v) => v.rival === 'pgbench')
    ? 'pgbench reports the mean latency.'
    : 'pgbench is not installed: no ratio to it.'
  const head = ['', 'a second', 'p50 ms', 'p99 ms', '× transactions', '× pgbench', 'Node µs each', 'log bytes each']
  return { text: `${title}\n${table(head, rows)}\n${note}`, data: { results } }
}
