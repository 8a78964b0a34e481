/** What this process measures, for Prometheus. Most of it is read where it stands when somebody asks, and costs nothing until then. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { BooksSample, WorkLeft } from '../../db/ledger-monitor.ts'
import type { RealTimeStats } from '../../rooms/stats.ts'
import type { RequestFacts } from '../http/edge.ts'
import type { CommitFacts } from './observed.ts'

export interface Measuring {
  readonly contentType: string
  /** Everything, in the text format of Prometheus. */
  readonly text: () => Promise<string>
  readonly request: (facts: RequestFacts) => void
  readonly commit: (facts: CommitFacts) => void
  readonly leaseLost: () => void
  /** A look at the books: what is wrong adds up until the process ends, so that nobody can miss it. */
  readonly books: (sample: BooksSample) => void
  readonly workLeft: (left: WorkLeft) => void
  /** How late the loop was since the last call is what `text` says until the next one, to everybody who asks. */
  turnLoop(): void
  /** Measures the event loop no more. */
  stop(): void
}

/** The methods that are told apart; a client may make up others. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const REQUEST_SECS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const COMMIT_SECS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 10]
const BATCH_SIZES = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500]
const LOOP_RESOLUTION_MS = 10

/** Measures from now on until it is stopped. `figures` is asked for each time somebody reads. */
export function startMeasuring(figures: () => RealTimeStats): Measuring {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  loop.enable()
  let lag = lagOf(loop)
  const books = booksMetrics()
  const work = workMetrics()
  const requests = new Histogram({
    name: 'touchline_http_request_duration_seconds',
    help: 'Requests by method, pattern of the route, and status; `none` is an unknown path.',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECS,
    registers: [],
  })
  const commits = new Histogram({
    name: 'touchline_commit_duration_seconds',
    help: 'Commits of matches by verdict; `fault`: the database was away, and it is not known what it wrote.',
    labelNames: ['verdict'],
    buckets: COMMIT_SECS,
    registers: [],
  })
  for (const verdict of ['committed', 'rejected', 'fenced', 'fault'] as const) commits.zero({ verdict })
  const batches = new Histogram({
    name: 'touchline_commit_batch_commands',
    help: "Users' commands in one commit.",
    buckets: BATCH_SIZES,
    registers: [],
  })
  const leasesLost = new Counter({
    name: 'touchline_lease_renewals_lost_total',
    help: "Leases that were another process's when they were to be renewed.",
    registers: [],
  })

  const registry = new Registry()
  const own: Metric[] = [requests, commits, batches, leasesLost, ...books.metrics, ...work.metrics]
  for (const metric of [...own, ...processMetrics(() => lag), ...realTimeMetrics(figures)])
    registry.registerMetric(metric)
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request: ({ method, route, status, ms }) =>
      requests.observe({ method: METHODS.has(method) ? method : 'OTHER', route, status }, ms / SECOND_MS),
    commit: ({ batch, verdict, ms }) => {
      commits.observe({ verdict }, ms / SECOND_MS)
      batches.observe(batch.watch.length)
    },
    leaseLost: () => leasesLost.inc(),
    books: books.take,
    workLeft: work.take,
    turnLoop: () => {
      lag = lagOf(loop)
      loop.reset()
    },
    stop: () => {
      loop.disable()
    },
  }
}

type Labelled = Iterable<readonly [label: string, value: number]>

/** A number, or one for each value of a label, that is kept elsewhere and read when somebody asks. */
function readWhenAsked(
  Kind: typeof Gauge | typeof Counter,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label?: string },
  value: () => number | Labelled,
): Metric {
  return new Kind({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [],
    collect() {
      this.reset()
      const now = value()
      if (typeof now === 'number') this.inc(now)
      else if (label !== undefined) for (const [each, its] of now) this.inc({ [label]: each }, its)
    },
  })
}

type Quantiles = readonly (readonly [quantile: string, seconds: number])[]

/** A timer that is on time fires after the resolution itself; where nothing was measured yet there is no number. */
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
    help: 'How late timers were in the last ten seconds: half of them at most, 99 in a hundred, and the latest.',
    label: 'quantile',
  }
  return [
    readWhenAsked(Gauge, loopLag, lag),
    readWhenAsked(Gauge, { name: 'process_resident_memory_bytes', help: 'Memory of the process.' }, () =>
      process.memoryUsage.rss(),
    ),
    readWhenAsked(
      Gauge,
      { name: 'nodejs_heap_size_used_bytes', help: 'Memory of its objects.' },
      () => process.memoryUsage().heapUsed,
    ),
    readWhenAsked(Counter, { name: 'process_cpu_seconds_total', help: 'Processor time of the process.' }, () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1e6
    }),
  ]
}

function realTimeMetrics(figures: () => RealTimeStats): Metric[] {
  return [
    readWhenAsked(
      Gauge,
      { name: 'touchline_sockets', help: 'Open sockets: of the plain price feed, and of SDK clients.', label: 'door' },
      () => Object.entries(figures().sockets),
    ),
    readWhenAsked(
      Counter,
      { name: 'touchline_deliveries_total', help: 'Prices written to followers.' },
      () => figures().traffic.prices,
    ),
    readWhenAsked(
      Counter,
      { name: 'touchline_conflations_total', help: 'Of these, prices that stand for older ones, too: a slow reader.' },
      () => figures().traffic.conflated,
    ),
    readWhenAsked(
      Counter,
      { name: 'touchline_writes_total', help: 'Writes to followers, one for all that is due.' },
      () => figures().traffic.writes,
    ),
    readWhenAsked(
      Counter,
      {
        name: 'touchline_sockets_dropped_total',
        help: 'Sockets closed because they did not take what they were sent.',
      },
      () => figures().tooSlow,
    ),
    readWhenAsked(
      Gauge,
      { name: 'touchline_matches_running', help: 'Matches that run in this process.' },
      () => figures().matches.length,
    ),
    readWhenAsked(
      Gauge,
      { name: 'touchline_mailbox_depth', help: 'What waits to be decided; 1,024 is full.', label: 'match' },
      () => figures().matches.map(({ matchId, waiting }) => [String(matchId), waiting] as const),
    ),
    readWhenAsked(
      Gauge,
      { name: 'touchline_feed_age_seconds', help: 'How old the newest word of the feed is, in play.', label: 'match' },
      () =>
        figures().matches.flatMap(({ matchId, feedAgeMs }) =>
          feedAgeMs === null ? [] : [[String(matchId), feedAgeMs / SECOND_MS] as const],
        ),
    ),
    readWhenAsked(
      Counter,
      {
        name: 'touchline_bus_requests_total',
        help: 'Requests to other processes: answered, gone (nobody there), silent (no word in time), failed (a fault there).',
        label: 'end',
      },
      () => Object.entries(figures().requests ?? {}),
    ),
  ]
}

interface Taking<T> {
  readonly metrics: readonly Metric[]
  readonly take: (what: T) => void
}

function booksMetrics(): Taking<BooksSample> {
  const checked = new Counter({
    name: 'touchline_ledger_entries_checked_total',
    help: 'Entries of the ledger that were added up, each once, half a minute after it was written.',
    registers: [],
  })
  const imbalance = gauge(
    'touchline_ledger_imbalance_micros',
    'Their sum over all accounts. Anything but 0 is money that appeared or vanished.',
  )
  const unbalanced = gauge(
    'touchline_ledger_unbalanced_transactions',
    'Transactions among them whose entries do not sum to zero.',
  )
  const mismatched = gauge(
    'touchline_wallets_mismatched',
    'Times a wallet, of a few at each look, was not the sum of its entries.',
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

function workMetrics(): Taking<WorkLeft> {
  const unsettled = gauge('touchline_matches_unsettled', 'Matches that are not settled, of the whole installation.')
  const overdue = gauge('touchline_matches_overdue', 'Of these, matches that kicked off more than four hours ago.')
  const waiting = gauge('touchline_outbox_waiting', 'Commits that nobody has reacted to, of the whole installation.')
  const lag = gauge('touchline_outbox_lag_seconds', 'How long the oldest of them has waited.')
  const setAside = gauge('touchline_outbox_set_aside', 'Commits that failed for good, and wait for an operator.')
  return {
    metrics: [unsettled, overdue, waiting, lag, setAside],
    take: (left) => {
      unsettled.set(left.unsettled)
      overdue.set(left.overdue)
      waiting.set(left.unreacted)
      lag.set(left.unreactedMs / SECOND_MS)
      setAside.set(left.setAside)
    },
  }
}

const gauge = (name: string, help: string): Gauge => new Gauge({ name, help, registers: [] })
