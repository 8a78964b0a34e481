import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { concernsOf, durationWords, type Facts, lastedWords } from '../../src/web/control/concerns.ts'
import { anchorOf, sectionsOf } from '../../src/web/control/markdown.ts'
import { parseMetrics } from '../../src/web/control/metrics.ts'
import type { AuditEntry, Setting } from '../../src/web/control/answers.ts'
import { SAID } from '../../src/web/control/said.ts'
import { alertRules } from '../ops/watching.ts'

const ROOT = join(import.meta.dirname, '../..')
const NOW = Date.parse('2026-11-26T03:00:00Z')
const ago = (minutes: number): string => new Date(NOW - minutes * 60_000).toISOString()
const by = (minutes: number) => ({ updatedAt: ago(minutes), updatedBy: 'ann' })

const well: Facts = {
  now: NOW,
  checks: { database: 'ok', accepting: 'ok' },
  feed: { faults: [], matches: [], quarantined: [] },
  reactions: { waiting: 0, oldestAt: null, setAside: [], nextCursor: null },
  webhooks: [],
  settings: [],
  flags: [],
  audit: [],
  replays: [],
  mainPurseIsLive: true,
  metrics: [parseMetrics('touchline_outbox_lag_seconds 1'), parseMetrics('touchline_outbox_lag_seconds 1')],
  nameOf: () => 'Harbour – Mill',
  isOver: () => false,
}
const setting = (key: string, value: string): Setting => ({
  key,
  value,
  type: 'choice',
  default: 'open',
  description: '',
  ...by(4),
})
const entry = (action: string, over: Partial<AuditEntry> = {}): AuditEntry => ({
  id: 1,
  at: ago(2),
  actor: null,
  action,
  subject: 'x',
  subjectName: null,
  before: null,
  after: null,
  reason: null,
  outcome: 'ok',
  ...over,
})
const said = (facts: Partial<Facts>) => concernsOf({ ...well, ...facts }).map((one) => one.what + lastedWords(one, NOW))
const metrics = (...lines: string[]) => [parseMetrics(lines.join('\n')), parseMetrics(lines.join('\n'))] as const

describe('the sentence of the control room', () => {
  it('is that all is well only if every part has answered', () => {
    expect(said({})).toEqual([])
    expect(said({ feed: null, metrics: null })).toEqual(['There is no answer from the server about feed, metrics'])
    expect(said({ checks: null, settings: null })).toEqual(['There is no answer from the server'])
    expect(said({ checks: { database: 'failed', bus: 'failed', accepting: 'failed' }, settings: null })).toEqual([
      'There is no answer from the database',
      'There is no answer from the bus between processes',
    ])
  })

  it('says since when and by whom trading is halted, the widest brake first, and releases it', () => {
    const settings = [
      setting('trading.mode.instrument.x', 'halted'),
      setting('trading.mode.match.7', 'reduce_only'),
      setting('trading.mode', 'halted'),
    ]
    const [first] = concernsOf({ ...well, settings })
    expect(said({ settings })).toEqual([
      'Trading is halted for 4 min by ann',
      'Trading on Harbour – Mill is close only for 4 min by ann',
      'Trading on Harbour – Mill is halted for 4 min by ann',
    ])
    expect(first).toMatchObject({ level: 'page', acts: [{ kind: 'release', key: 'trading.mode', mode: 'halted' }] })
    const isOver = (key: string) => key === 'trading.mode.match.7'
    expect(said({ settings: [setting('trading.mode.match.7', 'halted')], isOver })).toEqual([])
    expect(said({ settings, isOver })).toHaveLength(2)
    const flags = [{ key: 'coming_soon', enabled: true, default: true, description: '', ...by(90) }]
    expect(said({ flags })).toEqual(['Only admins can use the service for 2 h by ann'])
  })

  it('a match that cannot be read has the buttons that settle and void it', () => {
    const match = { matchId: 7, name: 'Harbour – Mill', reason: 'x', since: ago(12), positions: 1, margin: 20 }
    const [first] = concernsOf({ ...well, feed: { faults: [], matches: [], quarantined: [match] } })
    expect(first?.what).toBe('Harbour – Mill cannot be read: 1 position with 20.00 units of margin wait')
    expect(first?.acts.map(({ kind }) => kind)).toEqual(['settle', 'void'])
  })

  it('reads what the alerts read, and takes no peak of one reading for a concern', () => {
    const late = 'touchline_loop_lag_seconds{quantile="0.99"} 0.2'
    expect(
      said({ metrics: metrics(late, 'touchline_ledger_imbalance_micros -1', 'touchline_matches_overdue 2') }),
    ).toEqual([
      'Money has appeared or vanished',
      'This process is overloaded: its timers are late by 200 ms',
      '2 matches kicked off more than four hours ago and are not settled',
    ])
    expect(said({ metrics: [parseMetrics(late), parseMetrics('')] })).toEqual([])
    const longest = (secs: number) => metrics(`touchline_loop_lag_seconds{quantile="1"} ${secs}`)
    expect(said({ metrics: longest(2) })).toEqual(['This process is overloaded: its timers are late by 2000 ms'])
    expect(said({ metrics: longest(0.9) })).toEqual([])
    expect(said({ metrics: metrics('touchline_archive_failing_seconds 1200') })).toEqual([
      'PostgreSQL has not archived its log for 20 min',
    ])
    const feeds = metrics(
      'touchline_match_clock_still_seconds{match="7"} 185',
      'touchline_provider_quota_left{poller="own"} 0',
    )
    expect(said({ metrics: feeds })).toEqual([
      'A match in play has had no new data for 3 min',
      'The quota of the provider is spent',
    ])
  })

  it('knows from the database how old the data of a match is, whichever process runs it', () => {
    const match = { matchId: 7, name: 'Harbour – Mill', phase: 'live', startsAt: ago(50), updatedAt: ago(1.25) }
    const unread = { matchId: 8, name: 'Mill – Hill', reason: 'x', since: ago(12), positions: 1, margin: 20 }
    const feed = { faults: [], quarantined: [], matches: [match, { ...match, matchId: 8, updatedAt: ago(1.1) }] }
    expect(said({ feed })).toEqual(['A match in play has had no new data for 75 s'])
    expect(said({ feed: { ...feed, matches: [{ ...match, updatedAt: ago(1) }] } })).toEqual([])
    expect(said({ feed: { ...feed, matches: [{ ...match, phase: 'ended' }] } })).toEqual([])
    const ofUnread = { ...feed, matches: [{ ...match, matchId: 8 }], quarantined: [unread] }
    expect(said({ feed: ofUnread })).toEqual([expect.stringMatching(/^Mill – Hill cannot be read/)])
  })

  it('a provider that fails is a concern for ten minutes, or until a match is updated 15 seconds later', () => {
    const fault = { matchId: null, detail: 'no answer', times: 9, firstAt: ago(9), lastAt: ago(3) }
    const match = { matchId: 7, name: 'Harbour – Mill', phase: 'ended', startsAt: ago(50), updatedAt: null }
    const of = (lastAt: number, updatedAt: number, reason: 'request' | 'unreadable' = 'request') => {
      const faults = [{ ...fault, reason, lastAt: ago(lastAt) }]
      return said({ feed: { faults, quarantined: [], matches: [{ ...match, updatedAt: ago(updatedAt) }] } })
    }
    expect(of(0.2, 0)).toEqual(['The provider answers with errors: no answer for 9 min'])
    expect([of(0.3, 0), of(10, 10)]).toEqual([[], []])
    expect(of(1.5, 0, 'unreadable')).toEqual(['Data was skipped: no answer for 9 min'])
    expect(of(10, 0, 'unreadable')).toEqual([])
  })

  it('names the newest of the reactions that failed, and retries them all', () => {
    const setAside = [31, 30].map((seq) => ({ matchId: 7, seq, error: 'timeout', attempts: 5, at: ago(1) }))
    const reactions = { waiting: 0, oldestAt: null, setAside, nextCursor: null }
    expect(said({ reactions })).toEqual(['2 reactions failed, the last to commit 31 of match 7 (timeout)'])
    const [first] = concernsOf({ ...well, reactions })
    expect(first?.acts).toEqual([{ kind: 'retry', commits: setAside }])
  })

  it('says what happened in the last hour, and how long ago', () => {
    const actor = { userId: 'u', username: 'ann' }
    const audit = [
      entry('user.role', { after: 'admin', subjectName: 'zoe', actor }),
      entry('user.role', { after: 'user' }),
      ...Array.from({ length: 4 }, () => entry('session.reuse')),
      entry('wallet.adopt', { after: { byMicros: 2_000_000 } }),
    ]
    const settings = [setting('trading.adoption_alert', '1')]
    expect(said({ audit, settings })).toEqual([
      'Copied sessions were used: 4 within an hour 2 min ago',
      'Balances changed from outside have added more than trading.adoption_alert 2 min ago',
      'A balance was changed from outside 2 min ago',
      'zoe was made an admin 2 min ago by ann',
    ])
    const voided = ['x was ended void 2 min ago']
    expect(said({ audit: [entry('match.end', { after: 'void' }), entry('match.end', { after: 'settle' })] })).toEqual(
      voided,
    )
    const stops = ['full_time', 'void'].map((ending) => entry('replay.stop', { after: { ending, reason: 'a test' } }))
    expect(said({ audit: stops })).toEqual(voided)
    expect(said({ audit: stops.map((one) => ({ ...one, outcome: 'MATCH_OVER' })) })).toEqual([])
    const times = { times: 2, firstAt: ago(100), lastAt: ago(11) }
    const fault = { reason: 'unreadable', matchId: 5, detail: 'no teams', ...times } as const
    expect(said({ feed: { faults: [fault], matches: [], quarantined: [] } })).toEqual([])
    expect(said({ feed: { faults: [{ ...fault, lastAt: ago(5) }], matches: [], quarantined: [] } })).toEqual([
      'Data was skipped: no teams (fixture 5) for 2 h',
    ])
  })

  it('without protection live matches are a note, and no alarm', () => {
    const [note] = concernsOf({ ...well, settings: [setting('trading.protection', 'off')] })
    expect(note).toMatchObject({ level: 'note', acts: [{ at: 'settings' }] })
    expect(said({ settings: [setting('trading.protection', 'off')], mainPurseIsLive: false })).toEqual([])
  })

  it('names times as an operator would', () => {
    expect([-5, 40_000, 240_000, 10_800_000, 200_000_000].map(durationWords)).toEqual([
      '0 s',
      '40 s',
      '4 min',
      '3 h',
      '2 days',
    ])
  })
})

describe('alerts and sentences', () => {
  const rules = alertRules()

  it('are about the same, and lead to the same section of the runbook', () => {
    const byName = new Map(rules.map((rule) => [rule.alert, rule]))
    for (const [alert, { level, runbook }] of Object.entries(SAID)) {
      const { labels, annotations } = byName.get(alert) ?? {}
      expect([alert, labels?.severity, annotations?.runbook]).toEqual([alert, level, `ops/runbook.md#${runbook}`])
    }
    const anchors = sectionsOf(readFileSync(join(ROOT, 'ops/runbook.md'), 'utf8')).map(({ title }) => anchorOf(title))
    for (const { annotations } of rules) expect(anchors).toContain(annotations.runbook.replace('ops/runbook.md#', ''))
  })

  it('are listed in docs/operations.md', () => {
    const own: Readonly<Record<string, { says: string; button: string }>> = SAID
    const rows = [...Map.groupBy(rules, ({ annotations }) => annotations.runbook)].map(([runbook, of]) => {
      const listed = of.map(({ alert }) => {
        const says = own[alert]?.says.replace('{n}', '…').replace('{name}', '…')
        return says === undefined ? alert : `${alert}: “${says}”`
      })
      const buttons = new Set(of.flatMap(({ alert }) => own[alert]?.button ?? []))
      const label = buttons.size === 0 ? '' : ` (${[...buttons].join(', ')})`
      return `- [${runbook.split('#')[1]}](../${runbook}): ${listed.join('; ')}${label}`
    })
    const document = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8')
    expect(document.replaceAll('\n  ', ' ')).toContain(rows.join('\n'))
  })
})
