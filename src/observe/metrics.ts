/**
 * Metrics of this process for Prometheus. Most are read where they are kept, at each scrape, and cost nothing in
 * between.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { SealedEntry } from '../../db/audit-chain.ts'
import type { BooksSample, WorkLeft } from '../../db/ledger-monitor.ts'
import type { PoolUse } from '../../db/postgres/pools.ts'
import type { ReplicaState } from '../../db/postgres/replica.ts'
import type { RealTimeStats } from '../../rooms/stats.ts'
import type { SignInFailure } from '../auth/security-events.ts'
import type { RequestFacts } from '../http/edge.ts'
import type { Readiness } from '../http/edge-port.ts'
import { CLOSED, HouseResult, OPENED } from './house-result.ts'
import { droppedLines } from './log.ts'
import type { CommitFacts } from './observed.ts'
import { partMetric, poolMetrics, replicaMetrics } from './reach-metrics.ts'
import { realTimeMetrics } from './real-time-metrics.ts'
import { readAtScrape } from './scraped.ts'
import { securityMetrics } from './security-metrics.ts'
import { type TaskState, taskMetrics } from './task-metrics.ts'

export interface Measuring {
  readonly contentType: string
  /** Every metric, in the text format of Prometheus. */
  readonly text: () => Promise<string>
  readonly request: (facts: RequestFacts) => void
  readonly commit: (facts: CommitFacts) => void
  readonly leaseLost: () => void
  readonly signIn: (outcome: 'ok' | SignInFailure) => void
  /** Counts entries of the audit log that this process has sealed, whichever process wrote them. */
  readonly audited: (entries: readonly SealedEntry[], largeAdoptions: number) => void
  /** Counts push messages by what became of them. */
  readonly pushed: (outcome: (typeof PUSHED)[number], messages: number) => void
  readonly mailDropped: () => void
  /** Adds a sample of the ledger. What is wrong adds up until the process ends, so that no scrape can miss it. */
  readonly books: (sample: BooksSample) => void
  readonly workLeft: (left: WorkLeft) => void
  /** How much is left could not be read. */
  readonly workUnknown: () => void
  /** Adds the metrics of real time, which are read from `stats` at each scrape. To be called once. */
  readonly observe: (stats: () => RealTimeStats) => void
  /** Adds the metrics of connections to the database, which are read at each scrape. To be called once. */
  readonly observePools: (pools: () => readonly PoolUse[]) => void
  readonly observeReplica: (state: () => ReplicaState) => void
  /** Adds what this process can reach. `look` runs at each scrape. To be called once. */
  readonly observeParts: (look: Readiness) => void
  /** Adds the metrics of background tasks, which are read at each scrape. To be called once. */
  readonly observeTasks: (look: () => readonly TaskState[]) => void
  /** Rotates the window of the event-loop lag: every scrape until the next call reads the window that ends now. */
  readonly turnLoop: () => void
  /** Stops measuring the event loop. */
  readonly stop: () => void
}

/** The methods that have a label of their own: clients may make up others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const PUSHED = ['sent', 'gone', 'refused', 'unauthorized', 'failed', 'held', 'late'] as const
const REQUEST_SECS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const COMMIT_SECS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 10]
const BATCH_SIZES = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]
const LOOP_RESOLUTION_MS = 10

/** Measures from now on until it is stopped. */
export function startMeasuring(): Measuring {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  loop.enable()
  let lag = lagOf(loop)
  const requests = requestMetrics()
  const commits = commitMetrics()
  const leasesLost = new Counter({
    name: 'touchline_lease_renewals_lost_total',
    help: 'Lease renewals refused because another process had taken the lease.',
    registers: [],
  })
  const pushes = new Counter({
    name: 'touchline_pushes_total',
    help:
      'Push messages to browsers: sent, gone (the browser has unsubscribed), refused, failed (tried again), unauthorized ' +
      '(the push service does not accept this server), held (not tried, since the last attempts failed), late (dropped ' +
      'after 15 minutes).',
    labelNames: ['outcome'],
    registers: [],
  })
  const mailsDropped = new Counter({
    name: 'touchline_mails_dropped_total',
    help: 'Mails that were given up: refused, expired, too many waiting, or the process ended.',
    registers: [],
  })
  for (const outcome of PUSHED) pushes.inc({ outcome }, 0)
  const security = securityMetrics()
  const house = houseMetrics()
  const books = booksMetrics()
  const work = workMetrics()

  const registry = new Registry()
  const register = (metrics: readonly Metric[]): void => metrics.forEach((metric) => registry.registerMetric(metric))
  register([...requests.metrics, ...commits.metrics, leasesLost, pushes, mailsDropped, ...house.metrics])
  register([...security.metrics, ...books.metrics, ...work.metrics])
  register(processMetrics(() => lag))
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request: requests.take,
    commit: (facts) => {
      commits.take(facts)
      house.take(facts)
    },
    leaseLost: () => leasesLost.inc(),
    signIn: security.signIn,
    audited: security.audited,
    pushed: (outcome, messages) => pushes.inc({ outcome }, messages),
    mailDropped: () => mailsDropped.inc(),
    books: books.take,
    workLeft: work.take,
    workUnknown: work.forget,
    observe: (stats) => register(realTimeMetrics(stats)),
    observePools: (pools) => register(poolMetrics(pools)),
    observeReplica: (state) => register(replicaMetrics(state)),
    observeParts: (look) => register([partMetric(look)]),
    observeTasks: (look) => register(taskMetrics(look)),
    turnLoop: () => {
      lag = lagOf(loop)
      loop.reset()
    },
    stop: () => {
      loop.disable()
    },
  }
}

interface Taking<T> {
  readonly metrics: readonly Metric[]
  readonly take: (sample: T) => void
}

function requestMetrics(): Taking<RequestFacts> {
  const requests = new Histogram({
    name: 'touchline_http_request_duration_seconds',
    help: 'Request latency by method, route pattern and status. `none`: no such route.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECS,
    registers: [],
  })
  return {
    metrics: [requests],
    take: ({ method, route, status, ms }) =>
      requests.observe({ method: METHODS.has(method) ? method : 'OTHER', route, status }, ms / SECOND_MS),
  }
}

function commitMetrics(): Taking<CommitFacts> {
  const commits = new Histogram({
    name: 'touchline_commit_duration_seconds',
    help: 'Match commit latency by verdict. `fault`: the store threw, outcome unknown.',
    labelNames: ['verdict'],
    buckets: COMMIT_SECS,
    registers: [],
  })
  for (const verdict of ['committed', 'rejected', 'fenced', 'fault'] as const) commits.zero({ verdict })
  const batches = new Histogram({
    name: 'touchline_commit_batch_commands',
    help: 'User commands per commit.',
    buckets: BATCH_SIZES,
    registers: [],
  })
  return {
    metrics: [commits, batches],
    take: ({ batch, verdict, ms }) => {
      commits.observe({ verdict }, ms / SECOND_MS)
      batches.observe(batch.watch.length)
    },
  }
}

/** The smoke detector of the market: a kind of trade that the house pays for again and again. */
function houseMetrics(): Taking<CommitFacts> {
  const counter = (name: string, help: string): Counter<'opened' | 'closed'> => {
    const made = new Counter({
      name,
      help: `${help} By nearness to news of the player.`,
      labelNames: ['opened', 'closed'],
      registers: [],
    })
    // A series that began with its first amount would not show it as an increase.
    for (const opened of OPENED) for (const closed of CLOSED) made.inc({ opened, closed }, 0)
    return made
  }
  const margin = counter('touchline_house_margin_units_total', 'Margin of ended positions of live matches, in units.')
  const paid = counter('touchline_house_paid_units_total', 'What the house paid to winners among them, in units.')
  const taken = counter('touchline_house_taken_units_total', 'What the house took from losers among them, in units.')
  const gaps = new Counter({
    name: 'touchline_house_gap_units_total',
    help: 'What gaps in prices would have cost ended positions of live matches beyond their margin, in units.',
    registers: [],
  })
  const fullTime = new Counter({
    name: 'touchline_house_full_time_units_total',
    help: 'What crowds gained at most by leaving at the shown price when their live match ended, in units.',
    registers: [],
  })
  const result = new HouseResult(
    ({ opened, closed, paid: amount, margin: staked, beyondMargin }) => {
      margin.inc({ opened, closed }, staked)
      paid.inc({ opened, closed }, Math.max(0, amount))
      taken.inc({ opened, closed }, Math.max(0, -amount))
      gaps.inc(beyondMargin)
    },
    (gain) => fullTime.inc(gain),
  )
  return {
    metrics: [margin, paid, taken, gaps, fullTime],
    take: ({ batch, verdict }) => {
      if (verdict === 'committed') result.take(batch)
    },
  }
}

function booksMetrics(): Taking<BooksSample> {
  const checked = new Counter({
    name: 'touchline_ledger_entries_checked_total',
    help: 'Ledger entries added up, each once, half a minute after it was written.',
    registers: [],
  })
  const imbalance = gauge(
    'touchline_ledger_imbalance_micros',
    'Sum of the checked entries over all accounts. Any value but 0 is money that appeared or vanished.',
  )
  const unbalanced = gauge(
    'touchline_ledger_unbalanced_transactions',
    'Checked transactions whose entries do not sum to zero.',
  )
  const mismatched = gauge(
    'touchline_wallets_mismatched',
    'Times a sampled wallet differed from the sum of its ledger entries.',
  )
  return {
    metrics: [checked, imbalance, unbalanced, mismatched],
    take: (sample) => {
      checked.inc(sample.entries)
      imbalance.inc(sample.imbalanceMicros)
      unbalanced.inc(sample.unbalancedTransactions)
      mismatched.inc(sample.mismatchedWallets)
    },
  }
}

function workMetrics(): Taking<WorkLeft> & { readonly forget: () => void } {
  const unsettled = gauge('touchline_matches_unsettled', 'Unsettled matches in the whole installation.')
  const overdue = gauge('touchline_matches_overdue', 'Unsettled matches that kicked off more than four hours ago.')
  const quarantined = gauge(
    'touchline_matches_quarantined',
    'Unsettled matches whose stored state cannot be read; an operator must settle or void them.',
  )
  const waiting = gauge('touchline_outbox_waiting', 'Commits whose reactions are pending, in the whole installation.')
  const lag = gauge('touchline_outbox_lag_seconds', 'Age of the oldest commit whose reactions are pending.')
  const setAside = gauge(
    'touchline_outbox_set_aside',
    'Commits whose reactions failed five times; an operator must retry them.',
  )
  const unpaid = gauge('touchline_closes_unpaid', 'Closes whose pay no wallet could take; an operator must pay them.')
  const failing = gauge(
    'touchline_webhook_failing_seconds',
    'How long the webhook that has failed longest has failed; 0 if none fails.',
  )
  const archive = gauge(
    'touchline_archive_failing_seconds',
    'How long PostgreSQL has archived nothing of its log, while its attempts fail; 0 if the last one succeeded.',
  )
  const months = gauge('touchline_months_missing', 'Months of the next twelve in which no trade could be booked.')
  const all = [unsettled, overdue, quarantined, waiting, lag, setAside, unpaid, failing, archive, months]
  return {
    metrics: all,
    take: (left) => {
      unsettled.set(left.unsettled)
      overdue.set(left.overdue)
      quarantined.set(left.quarantined)
      waiting.set(left.unreacted)
      lag.set(left.unreactedMs / SECOND_MS)
      setAside.set(left.setAside)
      unpaid.set(left.unpaid)
      failing.set(left.webhookFailingMs / SECOND_MS)
      archive.set(left.archiveFailingMs / SECOND_MS)
      months.set(left.monthsMissing)
    },
    // Alerts ask for the most that any process has seen: one that sees nothing must not keep an old number for ever.
    forget: () => {
      for (const each of all) each.set(Number.NaN)
    },
  }
}

const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [] })

type Quantiles = readonly (readonly [quantile: string, seconds: number])[]

/** A timer that is on time fires after the resolution itself; before the first measurement there is no number. */
function lagOf(loop: IntervalHistogram): Quantiles {
  const late = (ns: number): number =>
    Math.max(0, (Number.isFinite(ns) ? ns : 0) / 1e9 - LOOP_RESOLUTION_MS / SECOND_MS)
  return [
    ['0.5', late(loop.percentile(50))],
    ['0.99', late(loop.percentile(99))],
    ['1', late(loop.max)],
  ]
}

function processMetrics(lag: () => Quantiles): Metric[] {
  const loopLag = {
    name: 'touchline_loop_lag_seconds',
    help: 'Event-loop lag over the last 10 s: median, p99 and maximum.',
    label: 'quantile',
  }
  const resident = { name: 'process_resident_memory_bytes', help: 'Resident memory of the process.' }
  const heap = { name: 'nodejs_heap_size_used_bytes', help: 'Heap memory in use.' }
  const dropped = {
    name: 'touchline_log_lines_dropped_total',
    help: 'Lines of the log that were dropped because its reader stands still.',
  }
  const cpu = { name: 'process_cpu_seconds_total', help: 'User and system CPU time of the process.' }
  return [
    readAtScrape(Gauge, loopLag, lag),
    readAtScrape(Gauge, resident, () => process.memoryUsage.rss()),
    readAtScrape(Gauge, heap, () => process.memoryUsage().heapUsed),
    readAtScrape(Counter, dropped, droppedLines),
    readAtScrape(Counter, cpu, () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
  ]
}
