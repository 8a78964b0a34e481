import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { noTraffic, type RealTimeStats } from '../../rooms/stats.ts'
import { type Measuring, startMeasuring } from '../../src/observe/metrics.ts'
import { largeAdoptions } from '../../src/observe/security-metrics.ts'
import { expressions } from '../ops/watching.ts'
import { MATCH, U } from '../support/fixtures.ts'

const IDLE: RealTimeStats = {
  sockets: { feed: 0, room: 0 },
  traffic: noTraffic(),
  tooSlow: 0,
  matches: [],
  refusedUpdates: { clock_behind: 0, before_kick_off: 0 },
  requests: null,
  busUnheardMs: null,
  poller: null,
}

let measuring: Measuring
afterEach(() => measuring.stop())

/** The lines of one metric, without its buckets. */
async function linesOf(name: string): Promise<string[]> {
  const lines = (await measuring.text()).split('\n')
  return lines.filter((line) => line.startsWith(name) && !line.includes('_bucket'))
}

describe('metrics', () => {
  it('are read at the moment of the request', async () => {
    let figures = IDLE
    measuring = startMeasuring()
    measuring.observe(() => figures)
    expect(await linesOf('touchline_feed_age_seconds')).toEqual([])
    figures = {
      sockets: { feed: 3, room: 2 },
      traffic: { writes: 5, prices: 9, conflated: 4 },
      tooSlow: 1,
      matches: [{ matchId: MATCH, waiting: 7, feedAgeMs: 12_500, clockStillMs: 4_500 }],
      refusedUpdates: { clock_behind: 2, before_kick_off: 1 },
      requests: { answered: 6, gone: 1, silent: 2, failed: 0 },
      busUnheardMs: 4_000,
      poller: {
        polling: true,
        answered: 8,
        failed: 3,
        faults: { request: 2, quota: 0, unreadable: 3, calendar: 0, update: 0, field: 0 },
        quotaLeft: 17,
        silentMs: 2_500,
      },
    }
    for (const again of [1, 2]) {
      expect(await linesOf('touchline_sockets{'), `time ${again}`).toEqual([
        'touchline_sockets{door="feed"} 3',
        'touchline_sockets{door="room"} 2',
      ])
      expect(await linesOf('touchline_deliveries_total')).toEqual(['touchline_deliveries_total 9'])
      expect(await linesOf('touchline_conflations_total')).toEqual(['touchline_conflations_total 4'])
      expect(await linesOf('touchline_sockets_dropped_total')).toEqual(['touchline_sockets_dropped_total 1'])
      expect(await linesOf('touchline_mailbox_depth')).toEqual([`touchline_mailbox_depth{match="${MATCH}"} 7`])
      expect(await linesOf('touchline_feed_age_seconds')).toEqual([`touchline_feed_age_seconds{match="${MATCH}"} 12.5`])
      expect(await linesOf('touchline_match_clock')).toEqual([
        `touchline_match_clock_still_seconds{match="${MATCH}"} 4.5`,
      ])
      expect(await linesOf('touchline_feed_updates')).toEqual([
        'touchline_feed_updates_refused_total{reason="clock_behind"} 2',
        'touchline_feed_updates_refused_total{reason="before_kick_off"} 1',
      ])
      expect(await linesOf('touchline_bus_requests_total')).toContain('touchline_bus_requests_total{end="silent"} 2')
      expect(await linesOf('touchline_bus_unheard')).toEqual(['touchline_bus_unheard_seconds{bus="own"} 4'])
      expect(await linesOf('touchline_feed_faults_total')).toContain(
        'touchline_feed_faults_total{reason="unreadable"} 3',
      )
      expect(await linesOf('touchline_provider')).toEqual([
        'touchline_provider_quota_left{poller="own"} 17',
        'touchline_provider_polling{poller="own"} 1',
        'touchline_provider_polls_total{outcome="answered"} 8',
        'touchline_provider_polls_total{outcome="failed"} 3',
        'touchline_provider_answer_age_seconds{poller="own"} 2.5',
      ])
    }
    figures = IDLE
    expect(await linesOf('touchline_mailbox_depth'), 'a match that runs here no more').toEqual([])
    expect(await linesOf('touchline_provider'), 'a process without a provider').toEqual([])
  })

  it('count requests by method, route and status; unknown methods share one label', async () => {
    measuring = startMeasuring()
    const from = '203.0.113.0/24'
    measuring.request({ method: 'GET', route: '/health', status: 200, ms: 3, from })
    measuring.request({ method: 'GET', route: '/health', status: 200, ms: 1_000, from })
    for (const method of ['BREW', 'WHEN']) measuring.request({ method, route: 'none', status: 404, ms: 0, from })
    expect(await linesOf('touchline_http_request_duration_seconds')).toEqual([
      'touchline_http_request_duration_seconds_sum{method="GET",route="/health",status="200"} 1.003',
      'touchline_http_request_duration_seconds_count{method="GET",route="/health",status="200"} 2',
      'touchline_http_request_duration_seconds_sum{method="OTHER",route="none",status="404"} 0',
      'touchline_http_request_duration_seconds_count{method="OTHER",route="none",status="404"} 2',
    ])
  })

  it('keep a ledger problem until it has been read', async () => {
    measuring = startMeasuring()
    const fine = { entries: 10, imbalanceMicros: 0, unbalancedTransactions: 0, mismatchedWallets: 0 }
    measuring.books({ entries: 4, imbalanceMicros: -1, unbalancedTransactions: 1, mismatchedWallets: 2 })
    measuring.books(fine)
    expect(await linesOf('touchline_ledger')).toEqual([
      'touchline_ledger_entries_checked_total 14',
      'touchline_ledger_imbalance_micros -1',
      'touchline_ledger_unbalanced_transactions 1',
    ])
    expect(await linesOf('touchline_wallets_mismatched')).toEqual(['touchline_wallets_mismatched 2'])
  })

  it('[S15] count sign-ins by outcome and audit entries by action; what alerts count begins at zero', async () => {
    measuring = startMeasuring()
    expect(await linesOf('touchline_sign_ins_total')).toContain('touchline_sign_ins_total{outcome="INVALID_CODE"} 0')
    const reuse = 'touchline_audit_entries_total{action="session.reuse",outcome="ok"}'
    expect(await linesOf(reuse)).toEqual([`${reuse} 0`])
    measuring.signIn('INVALID_CODE')
    const ok = { outcome: 'ok' }
    const entries = [
      { action: 'session.reuse', after: null, ...ok },
      { action: 'user.role', after: '"admin"', ...ok },
      { action: 'user.role', after: '{"value":"user","reason":"left"}', ...ok },
      { action: 'match.end', after: '"void"', ...ok },
      { action: 'match.end', after: '"void"', outcome: 'MATCH_OVER' },
      { action: 'match.end', after: '"settle"', ...ok },
      { action: 'replay.stop', after: '{"ending":"void","reason":"a test"}', ...ok },
      { action: 'replay.stop', after: '{"ending":"full_time"}', ...ok },
      { action: 'wallet.adopt', after: '{"purse":"main","byMicros":10000000001}', ...ok },
      { action: 'wallet.adopt', after: '{"purse":"main","byMicros":10000000000}', ...ok },
      { action: 'wallet.adopt', after: '{"purse":"main","byMicros":99000000000}', outcome: 'ADOPTION_TOO_LARGE' },
    ].map((entry) => ({ subject: 'any', ...entry }))
    measuring.audited(entries, largeAdoptions(entries, 10_000).length)
    expect(await linesOf('touchline_sign_ins_total{outcome="I')).toContain(
      'touchline_sign_ins_total{outcome="INVALID_CODE"} 1',
    )
    const lines = (await linesOf('touchline_audit_entries_total')).filter((line) => !line.endsWith(' 0'))
    expect(lines.map((line) => line.replace('touchline_audit_entries_total', ''))).toEqual([
      '{action="session.reuse",outcome="ok"} 1',
      '{action="user.promote",outcome="ok"} 1',
      '{action="user.demote",outcome="ok"} 1',
      '{action="match.void",outcome="ok"} 2',
      '{action="wallet.adopt",outcome="ok"} 2',
      '{action="wallet.adopt_large",outcome="ok"} 1',
      '{action="wallet.adopt",outcome="ADOPTION_TOO_LARGE"} 1',
      '{action="match.void",outcome="MATCH_OVER"} 1',
      '{action="match.end",outcome="ok"} 1',
      '{action="replay.stop",outcome="ok"} 1',
    ])
  })

  it('[S15] every label that an alert of security counts begins at zero', async () => {
    measuring = startMeasuring()
    const actions = expressions().flatMap((expression) => expression.match(/(?<=entries_total\{action=")[\w.]+/g) ?? [])
    expect(actions).toContain('session.reuse')
    const lines = (await linesOf('touchline_audit_entries_total')).join()
    for (const action of actions) expect(lines).toContain(`action="${action}",outcome="ok"} 0`)
  })

  it('begin at zero with what trades cost the house, and with each end of a push message', async () => {
    measuring = startMeasuring()
    const pushes = await linesOf('touchline_pushes_total')
    expect(pushes).toContain('touchline_pushes_total{outcome="unauthorized"} 0')
    measuring.pushed('failed', 1)
    expect((await linesOf('touchline_pushes_total')).length, 'no end is left out').toBe(pushes.length)
    for (const what of ['margin', 'paid', 'taken']) {
      const name = `touchline_house_${what}_units_total`
      const lines = await linesOf(name)
      expect(lines).toContain(`${name}{opened="before_10s",closed="end"} 0`)
      expect(lines).toContain(`${name}{opened="unseen",closed="quiet"} 0`)
      expect(lines.length).toBe(64)
    }
    for (const what of ['gap', 'full_time']) {
      const name = `touchline_house_${what}_units_total`
      expect(await linesOf(name)).toEqual([`${name} 0`])
    }
  })

  it('show every reader the event-loop lag of the last window', async () => {
    measuring = startMeasuring()
    await pause(30)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    await pause(30)
    measuring.turnLoop()
    const lag = await linesOf('touchline_loop_lag_seconds{quantile="1"}')
    expect(Number(lag[0]?.split(' ')[1])).toBeGreaterThan(0.05)
    expect(await linesOf('touchline_loop_lag_seconds{quantile="1"}')).toEqual(lag)
  })

  it('count commits by verdict and size, and lost leases', async () => {
    measuring = startMeasuring()
    const watch = [U(1), U(2)].map((userId) => ({
      userId,
      purse: 'main' as const,
      openPositions: 0,
      unrealizedPnl: 0 as never,
    }))
    const batch = { id: '', matchId: MATCH, epoch: 1, watch, openPositionsMax: 1 }
    const empty = { events: [], instruments: [], ticks: [], keyed: [] }
    const commit = { ...batch, ...empty, at: 0 as never }
    measuring.commit({ batch: commit, verdict: 'committed', ms: 4 })
    measuring.commit({ batch: commit, verdict: 'fault', ms: 10_000 })
    measuring.leaseLost()
    expect(await linesOf('touchline_commit')).toEqual([
      'touchline_commit_duration_seconds_sum{verdict="committed"} 0.004',
      'touchline_commit_duration_seconds_count{verdict="committed"} 1',
      'touchline_commit_duration_seconds_sum{verdict="rejected"} 0',
      'touchline_commit_duration_seconds_count{verdict="rejected"} 0',
      'touchline_commit_duration_seconds_sum{verdict="fenced"} 0',
      'touchline_commit_duration_seconds_count{verdict="fenced"} 0',
      'touchline_commit_duration_seconds_sum{verdict="fault"} 10',
      'touchline_commit_duration_seconds_count{verdict="fault"} 1',
      'touchline_commit_batch_commands_sum 4',
      'touchline_commit_batch_commands_count 2',
    ])
    expect(await linesOf('touchline_lease')).toEqual(['touchline_lease_renewals_lost_total 1'])
  })

  it('show what the process can reach, and how its pools are used', async () => {
    measuring = startMeasuring()
    let fastStore: 'ok' | 'failed' = 'failed'
    measuring.observeParts(async () => [
      ['database', 'ok'],
      ['fastStore', fastStore],
    ])
    measuring.observePools(() => [{ name: 'readers', max: 10, inUse: 10, waiting: 3 }])
    expect(await linesOf('touchline_part_ready')).toEqual([
      'touchline_part_ready{part="database"} 1',
      'touchline_part_ready{part="fastStore"} 0',
    ])
    fastStore = 'ok'
    expect(await linesOf('touchline_part_ready{part="fast')).toEqual(['touchline_part_ready{part="fastStore"} 1'])
    expect(await linesOf('touchline_database')).toEqual([
      'touchline_database_connections{pool="readers"} 10',
      'touchline_database_connections_max{pool="readers"} 10',
      'touchline_database_waiting{pool="readers"} 3',
    ])
  })

  it('count the mails that were dropped', async () => {
    measuring = startMeasuring()
    expect(await linesOf('touchline_mails_dropped_total')).toEqual(['touchline_mails_dropped_total 0'])
    measuring.mailDropped()
    expect(await linesOf('touchline_mails_dropped_total')).toEqual(['touchline_mails_dropped_total 1'])
  })

  it('count the lines that the log has dropped', async () => {
    measuring = startMeasuring()
    expect(await linesOf('touchline_log_lines_dropped_total')).toEqual(['touchline_log_lines_dropped_total 0'])
  })

  it('show the failures of every task, from zero on, and how long its run takes', async () => {
    measuring = startMeasuring()
    measuring.observeTasks(() => [
      { name: 'retention', failures: 2, failuresInARow: 1, runningMs: 1_500 },
      { name: 'orphan-scan', failures: 0, failuresInARow: 0, runningMs: 0 },
    ])
    for (const again of [1, 2])
      expect(await linesOf('touchline_task_'), `time ${again}`).toEqual([
        'touchline_task_failures_total{task="retention"} 2',
        'touchline_task_failures_total{task="orphan-scan"} 0',
        'touchline_task_failures_in_a_row{task="retention"} 1',
        'touchline_task_failures_in_a_row{task="orphan-scan"} 0',
        'touchline_task_running_seconds{task="retention"} 1.5',
        'touchline_task_running_seconds{task="orphan-scan"} 0',
      ])
  })
})
