/**
 * For each alert, series on which it fires and series on which it does not, in the notation of promtool: a value, and
 * how much it grows in each minute.
 */
export interface AlertCase {
  readonly fires: AlertSeries | readonly AlertSeries[]
  /** Labels of the alert besides its severity. */
  readonly labels?: Readonly<Record<string, string>>
  readonly quiet: AlertSeries | readonly AlertSeries[]
}
export type AlertSeries = Readonly<Record<string, string>>

const flat = (value: number | string): string => `${value}+0x40`
const grows = (by: number): string => `0+${by}x40`

const COMMITTED = 'touchline_commit_duration_seconds_count{verdict="committed"}'
const COMMANDS = 'touchline_commit_batch_commands_sum'
const FAULT = 'touchline_commit_duration_seconds_count{verdict="fault"}'
const checked = (instance: string): string => `touchline_ledger_entries_checked_total{instance="${instance}"}`
const request = (route: string, status: number): string =>
  `touchline_http_request_duration_seconds_count{method="POST",route="${route}",status="${status}"}`
const OPEN = '/api/positions/open'
const bucket = (le: string): string =>
  `touchline_http_request_duration_seconds_bucket{route="${OPEN}",status="201",le="${le}"}`
const house = (what: 'paid' | 'taken' | 'margin', opened: string, closed: string): string =>
  `touchline_house_${what}_units_total{opened="${opened}",closed="${closed}"}`
const audited = (action: string, outcome = 'ok'): string =>
  `touchline_audit_entries_total{action="${action}",outcome="${outcome}"}`
const bus = (end: string): string => `touchline_bus_requests_total{end="${end}"}`
const signIns = (outcome: string): string => `touchline_sign_ins_total{outcome="${outcome}"}`
const task = (what: 'failures_in_a_row' | 'running_seconds'): string =>
  `touchline_task_${what}{instance="b",task="retention"}`
const lag = (quantile: string): string => `touchline_loop_lag_seconds{quantile="${quantile}",instance="b"}`
const cpu = (job: string): string => `process_cpu_seconds_total{job="${job}",instance="b"}`
const up = (instance: string): string => `up{job="touchline",instance="${instance}"}`

const counted = (action: string, outcome = 'ok'): AlertCase => ({
  fires: { [audited(action, outcome)]: '0x30 0+1x10' },
  quiet: { [audited(action, outcome)]: flat(3) },
})

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  LedgerImbalance: {
    fires: { touchline_ledger_imbalance_micros: flat(-1) },
    quiet: { touchline_ledger_imbalance_micros: flat(0), touchline_ledger_unbalanced_transactions: flat(0) },
  },
  WalletMismatch: {
    fires: { touchline_wallets_mismatched: flat(1) },
    quiet: { touchline_wallets_mismatched: flat(0) },
  },
  BooksNotLookedAt: {
    fires: { [COMMANDS]: grows(600), [checked('b')]: flat(9), [checked('c')]: grows(9) },
    labels: { instance: 'b' },
    quiet: [
      { [COMMANDS]: grows(600), [checked('b')]: grows(9), [checked('c')]: grows(9) },
      // A night on which matches take the updates of the feed, and no user trades.
      { [COMMANDS]: flat(9), [COMMITTED]: grows(600), [checked('b')]: flat(9) },
    ],
  },
  HousePaysForEarlyTrades: {
    fires: {
      [house('paid', 'before_20s', 'user')]: grows(100),
      [house('taken', 'before_20s', 'user')]: grows(10),
      [house('margin', 'before_20s', 'user')]: grows(1_000),
    },
    quiet: {
      [house('paid', 'before_20s', 'user')]: grows(100),
      [house('taken', 'before_20s', 'user')]: grows(95),
      [house('margin', 'before_20s', 'user')]: grows(1_000),
    },
  },
  HousePaysForEarlyCloses: {
    fires: {
      [house('paid', 'unseen', 'before_20s')]: grows(100),
      [house('taken', 'unseen', 'before_20s')]: grows(10),
      [house('margin', 'unseen', 'before_20s')]: grows(1_000),
    },
    quiet: {
      [house('paid', 'unseen', 'before_20s')]: grows(100),
      [house('taken', 'unseen', 'before_20s')]: grows(100),
      [house('margin', 'unseen', 'before_20s')]: grows(1_000),
    },
  },
  TradesFail: {
    fires: { [request(OPEN, 503)]: grows(10), [request(OPEN, 201)]: grows(100) },
    quiet: { [request(OPEN, 503)]: grows(1), [request(OPEN, 201)]: grows(100), [request(OPEN, 409)]: grows(90) },
  },
  TradesSlow: {
    fires: { [bucket('1')]: grows(90), [bucket('2.5')]: grows(100), [bucket('+Inf')]: grows(100) },
    quiet: { [bucket('1')]: grows(100), [bucket('2.5')]: grows(100), [bucket('+Inf')]: grows(100) },
  },
  SignInsUnanswered: {
    fires: {
      [request('/api/auth/google', 503)]: grows(2),
      [request('/api/auth/google', 200)]: grows(10),
      [request('/api/auth/refresh', 200)]: grows(1_000),
    },
    labels: { route: '/api/auth/google' },
    quiet: {
      [request('/api/auth/google', 503)]: '0x33 3x10',
      [request('/api/auth/google', 200)]: grows(10),
      // What coming_soon refuses.
      [request('/api/auth/sessions', 503)]: grows(100),
      [request('/api/auth/logout-all', 503)]: grows(100),
    },
  },
  MailsDropped: {
    fires: { touchline_mails_dropped_total: grows(1) },
    quiet: { touchline_mails_dropped_total: '5x20 7x20' },
  },
  CommitsFail: { fires: { [FAULT]: grows(1) }, quiet: { [FAULT]: flat(7), [COMMITTED]: grows(99) } },
  MailboxFilling: {
    fires: { 'touchline_mailbox_depth{match="19"}': flat(600) },
    labels: { match: '19' },
    quiet: { 'touchline_mailbox_depth{match="19"}': flat(400) },
  },
  MatchesOverdue: { fires: { touchline_matches_overdue: flat(1) }, quiet: { touchline_matches_overdue: flat(0) } },
  MatchQuarantined: {
    fires: { touchline_matches_quarantined: flat(1) },
    quiet: { touchline_matches_quarantined: flat(0) },
  },
  LeasesLost: {
    fires: { touchline_lease_renewals_lost_total: grows(1) },
    quiet: { touchline_lease_renewals_lost_total: flat(5) },
  },
  PeersSilent: {
    fires: { [bus('answered')]: grows(100), [bus('gone')]: grows(5) },
    quiet: { [bus('answered')]: grows(1_000), [bus('gone')]: grows(1), [bus('silent')]: grows(1) },
  },
  BusUnheard: {
    fires: { 'touchline_bus_unheard_seconds{bus="own",instance="b"}': '0+5x40' },
    labels: { instance: 'b' },
    quiet: { 'touchline_bus_unheard_seconds{bus="own",instance="b"}': flat(1) },
  },
  PushUnauthorized: {
    fires: { 'touchline_pushes_total{outcome="unauthorized"}': grows(1) },
    quiet: { 'touchline_pushes_total{outcome="unauthorized"}': flat(7) },
  },
  PushesFail: {
    fires: { 'touchline_pushes_total{outcome="failed"}': grows(6), 'touchline_pushes_total{outcome="sent"}': grows(4) },
    quiet: { 'touchline_pushes_total{outcome="failed"}': grows(1), 'touchline_pushes_total{outcome="sent"}': grows(9) },
  },
  PartUnavailable: {
    fires: {
      'touchline_part_ready{part="fastStore",instance="b"}': flat(0),
      'touchline_part_ready{part="fastStore",instance="c"}': flat(1),
    },
    labels: { part: 'fastStore', instance: 'b' },
    quiet: {
      'touchline_part_ready{part="accepting",instance="b"}': flat(0),
      'touchline_part_ready{part="fastStore",instance="b"}': flat(1),
    },
  },
  ReplicaUnused: {
    fires: { 'touchline_replica_in_use{instance="b"}': flat(0), 'touchline_replica_in_use{instance="c"}': flat(1) },
    labels: { instance: 'b' },
    quiet: { 'touchline_replica_in_use{instance="b"}': flat(1) },
  },
  QueriesWait: {
    fires: { 'touchline_database_waiting{pool="readers",instance="b"}': flat(20) },
    labels: { instance: 'b' },
    quiet: {
      'touchline_database_waiting{pool="readers",instance="b"}': flat(2),
      'touchline_database_waiting{pool="commits",instance="b"}': flat(20),
    },
  },
  MatchesNotRun: {
    fires: [
      { touchline_matches_unsettled: flat(2), 'touchline_matches_running{instance="b"}': flat(1) },
      // Of a process without rooms, when no other is there.
      { 'touchline_matches_unsettled{instance="b"}': flat(1), 'touchline_matches_running{instance="b"}': flat(0) },
    ],
    quiet: {
      touchline_matches_unsettled: flat(2),
      'touchline_matches_running{instance="b"}': flat(1),
      'touchline_matches_running{instance="c"}': flat(1),
    },
  },
  ProbeFails: {
    fires: { touchline_probe_succeeded_timestamp_seconds: flat(0) },
    quiet: { touchline_probe_succeeded_timestamp_seconds: '0+60x40' },
  },
  ProbeDown: {
    labels: { job: 'touchline-probe', instance: 'probe:9465' },
    fires: { 'up{job="touchline-probe",instance="probe:9465"}': flat(0) },
    quiet: { 'up{job="touchline-probe",instance="probe:9465"}': flat(1) },
  },
  SignInsFail: {
    fires: { [signIns('ok')]: grows(1), [signIns('INVALID_CODE')]: grows(10) },
    quiet: { [signIns('ok')]: grows(20), [signIns('INVALID_CODE')]: grows(10) },
  },
  TokensReused: {
    fires: { [audited('session.reuse')]: grows(1) },
    quiet: { [audited('session.reuse')]: flat(9) },
  },
  RefusalBurst: counted('refusals.burst'),
  RefusalsEverywhere: {
    fires: { [request(OPEN, 429)]: grows(600), [request(OPEN, 201)]: grows(600) },
    quiet: { [request(OPEN, 429)]: grows(60), [request(OPEN, 201)]: grows(600) },
  },
  CrowdRegistered: counted('registrations.crowd'),
  AdminMade: counted('user.promote'),
  MatchVoided: counted('match.void'),
  CheatSuspected: { ...counted('integrity.alert'), labels: { action: 'integrity.alert' } },
  BalanceAdopted: counted('wallet.adopt'),
  LargeBalanceAdopted: counted('wallet.adopt_large'),
  AdoptingUserFrozen: counted('wallet.adopt_freeze'),
  AdoptionRefused: counted('wallet.adopt', 'ADOPTION_TOO_LARGE'),
  FeedLate: {
    fires: { 'touchline_feed_age_seconds{match="19"}': flat(90) },
    labels: { match: '19' },
    quiet: {
      'touchline_feed_age_seconds{match="19"}': flat(12),
      'touchline_match_clock_still_seconds{match="19"}': flat(75),
    },
  },
  PollerAway: {
    fires: { 'touchline_provider_polling{poller="own",instance="b"}': flat(0) },
    quiet: {
      'touchline_provider_polling{poller="own",instance="b"}': flat(0),
      'touchline_provider_polling{poller="own",instance="c"}': flat(1),
    },
  },
  ProviderSilent: {
    fires: { 'touchline_provider_answer_age_seconds{poller="own"}': '0+60x40' },
    quiet: { 'touchline_provider_answer_age_seconds{poller="own"}': flat(11) },
  },
  ProviderFails: {
    fires: { 'touchline_feed_faults_total{reason="request"}': grows(1) },
    quiet: { 'touchline_feed_faults_total{reason="request"}': flat(7) },
  },
  ProviderQuotaSpent: {
    fires: { 'touchline_provider_quota_left{poller="own"}': flat(0) },
    quiet: { 'touchline_provider_quota_left{poller="own"}': flat(17) },
  },
  FixturesSkipped: {
    fires: { 'touchline_feed_faults_total{reason="unreadable"}': grows(1) },
    labels: { reason: 'unreadable' },
    quiet: {
      'touchline_feed_faults_total{reason="unreadable"}': flat(3),
      'touchline_feed_faults_total{reason="request"}': grows(1),
    },
  },
  LoopLate: {
    // All timers; and one stall in each window, which its p99 does not show.
    fires: [{ [lag('0.99')]: flat(0.2) }, { [lag('0.99')]: flat(0.02), [lag('1')]: flat(2) }],
    labels: { instance: 'b' },
    quiet: [{ [lag('0.99')]: flat(0.01), [lag('1')]: flat(0.4) }, { [lag('1')]: '0x33 2 0 0 0' }],
  },
  ReadersTooSlow: {
    fires: { touchline_conflations_total: grows(30), touchline_deliveries_total: grows(100) },
    quiet: { touchline_conflations_total: grows(1), touchline_deliveries_total: grows(100) },
  },
  SocketsFull: {
    fires: {
      'touchline_sockets{door="feed",instance="b"}': flat(15_000),
      'touchline_sockets{door="room",instance="b"}': flat(4_000),
    },
    labels: { instance: 'b' },
    quiet: {
      'touchline_sockets{door="feed",instance="b"}': flat(15_000),
      'touchline_sockets{door="feed",instance="c"}': flat(15_000),
    },
  },
  ReactionsLate: {
    fires: { touchline_outbox_lag_seconds: flat(90) },
    quiet: { touchline_outbox_lag_seconds: flat(9) },
  },
  ReactionsSetAside: { fires: { touchline_outbox_set_aside: flat(1) }, quiet: { touchline_outbox_set_aside: flat(0) } },
  LedgerMonthsMissing: {
    fires: { touchline_months_missing: flat(10) },
    quiet: { touchline_months_missing: flat(1) },
  },
  ClosesUnpaid: { fires: { touchline_closes_unpaid: flat(1) }, quiet: { touchline_closes_unpaid: flat(0) } },
  ArchiveFails: {
    fires: { touchline_archive_failing_seconds: grows(60) },
    // One attempt in vain, after a quiet hour.
    quiet: { touchline_archive_failing_seconds: '0x33 3600 0x5' },
  },
  WebhookFailing: {
    fires: { touchline_webhook_failing_seconds: flat(1_000) },
    quiet: { touchline_webhook_failing_seconds: flat(600) },
  },
  TaskFails: {
    // Hourly; and every second.
    fires: [{ [task('failures_in_a_row')]: '0 1 2 3+0x40' }, { [task('failures_in_a_row')]: grows(60) }],
    labels: { instance: 'b', task: 'retention' },
    quiet: [{ [task('failures_in_a_row')]: flat(2) }, { [task('failures_in_a_row')]: '0x30 60 0 0 60 0' }],
  },
  TaskHangs: {
    fires: { [task('running_seconds')]: grows(60) },
    labels: { instance: 'b', task: 'retention' },
    quiet: { [task('running_seconds')]: flat(200) },
  },
  ProcessDown: {
    fires: { [up('b')]: flat(0), [up('c')]: flat(1) },
    labels: { job: 'touchline', instance: 'b' },
    quiet: { [up('b')]: flat(1), [up('c')]: flat(1) },
  },
  ProcessRestarts: {
    fires: { [cpu('touchline')]: '0+9x9 0+9x9 0+9x9 0+9x9' },
    labels: { instance: 'b' },
    // A release, and a roll-back; and another program.
    quiet: { [cpu('touchline')]: '0+9x9 0+9x9 0+9x9', [cpu('prometheus')]: '0+9x9 0+9x9 0+9x9 0+9x9' },
  },
  AllDown: {
    // Kubernetes discovery drops the targets of dead pods: no series is left.
    fires: { [up('b')]: '1 1 1 stale' },
    quiet: { [up('b')]: flat(0), [up('c')]: flat(1) },
  },
}
