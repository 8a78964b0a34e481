/**
 * What an operator must know now, worst first, from the facts that the alerts are made of. The first of them is the
 * sentence on top of the control room.
 */
import { greatest, type Metrics, total } from './metrics.ts'
import type { AuditEntry, FeedState, Flag, Reactions, Replay, Setting, Webhook } from './answers.ts'
import { type AlertName, PLACES, SAID } from './said.ts'

/** `page` wakes an operator, `brake` was put on by one, `ticket` waits for the morning, `note` is no alert. */
export type Level = 'page' | 'brake' | 'ticket' | 'note'

/** What a button does about a concern. */
export type Act =
  | { readonly kind: 'release'; readonly key: string; readonly mode: string }
  | { readonly kind: 'open_service' }
  | { readonly kind: 'settle' | 'void'; readonly matchId: number; readonly name: string }
  | { readonly kind: 'retry'; readonly commits: Reactions['setAside'] }
  | { readonly kind: 'stop'; readonly replay: Replay }
  | { readonly kind: 'look'; readonly at: string; readonly label: string }

export interface Concern {
  readonly level: Level
  readonly what: string
  /** In milliseconds; null if it is not known since when. */
  readonly since: number | null
  /** Whether it happened then, and does not last. */
  readonly isPast: boolean
  readonly by: string | null
  /** The anchor of its section in the runbook. */
  readonly runbook: string
  /** The first is the one in the sentence. */
  readonly acts: readonly Act[]
}

/** What could be asked. A part that did not answer is null. */
export interface Facts {
  readonly now: number
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>> | null
  readonly feed: FeedState | null
  readonly reactions: Reactions | null
  readonly webhooks: readonly Webhook[] | null
  readonly settings: readonly Setting[] | null
  readonly flags: readonly Flag[] | null
  /** Entries of the last hour. */
  readonly audit: readonly AuditEntry[] | null
  readonly replays: readonly Replay[] | null
  readonly mainPurseIsLive: boolean
  /** Two readings, the newest first: a peak that only one of them has is no concern yet. */
  readonly metrics: readonly [Metrics, Metrics] | null
  /** The name of what a trading mode is about. */
  readonly nameOf: (key: string) => string
  /** Whether it is about a match that is settled. */
  readonly isOver: (key: string) => boolean
}

interface More {
  readonly n?: string
  readonly name?: string
  readonly since?: string | null
  readonly isPast?: boolean
  readonly by?: string | null
  readonly acts?: readonly Act[]
}

function concern(alert: AlertName, more: More = {}): Concern {
  const { n = '', name = '', since = null, isPast = false, by = null, acts } = more
  const { level, says, runbook, button } = SAID[alert]
  const look: Act = { kind: 'look', at: PLACES[button] ?? 'health', label: button }
  return {
    level,
    what: says.replace('{n}', n).replace('{name}', name),
    since: since === null ? null : Date.parse(since),
    isPast,
    by,
    runbook,
    acts: acts ?? [look],
  }
}

const RECOVERED_MS = 15_000
/** The time over which the alerts count faults of the feed. */
const FAULT_MS = 600_000
const BOUNDS = {
  mailbox: 512,
  queries: 5,
  lagSecs: 0.1,
  stallSecs: 1,
  sockets: 17_000,
  busSecs: 10,
  feedSecs: 60,
  clockSecs: 180,
}
const [PROVIDER_SECS, LAG_SECS, ARCHIVE_SECS, MONTHS, REUSES, WEBHOOK_MS] = [120, 60, 600, 9, 3, 900_000]

const counted = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`
const RANK: readonly Level[] = ['page', 'brake', 'ticket', 'note']

/** Worst first. */
export function concernsOf(facts: Facts): readonly Concern[] {
  const all = [...ofParts(facts), ...ofBrakes(facts), ...ofFeed(facts), ...ofMetrics(facts), ...ofWork(facts)]
  return [...all, ...ofAudit(facts), ...ofMoney(facts)].toSorted(
    (a, b) => RANK.indexOf(a.level) - RANK.indexOf(b.level),
  )
}

function ofParts({ checks, ...facts }: Facts): Concern[] {
  if (checks === null) return [concern('PartUnavailable', { name: 'server' })]
  const failed = Object.entries(checks).filter(([name, state]) => state !== 'ok' && name !== 'accepting')
  if (failed.length > 0) return failed.map(([name]) => concern('PartUnavailable', { name: PART[name] ?? name }))
  const unknown = Object.entries(facts).flatMap(([name, fact]) => (fact === null ? [name] : []))
  // Without it the page would say that all is well.
  return unknown.length === 0 ? [] : [concern('PartUnavailable', { name: `server about ${unknown.join(', ')}` })]
}

const PART: Readonly<Record<string, string>> = { fastStore: 'fast store (Redis)', bus: 'bus between processes' }

function ofMetrics({ metrics: readings }: Facts): Concern[] {
  if (readings === null) return []
  const [metrics] = readings
  const both = (of: (metrics: Metrics) => number): number => Math.min(...readings.map(of))
  const most = (name: string): number => both((one) => greatest(one, name) ?? 0)
  const secs = (n: number): string => durationWords(n * 1_000)
  const found: Concern[] = []
  const over = (alert: AlertName, value: number, bound: number, n: string): void => {
    if (value > bound) found.push(concern(alert, { n }))
  }
  const imbalance = both((one) => Math.abs(total(one, 'touchline_ledger_imbalance_micros')))
  over('LedgerImbalance', imbalance + most('touchline_ledger_unbalanced_transactions'), 0, '')
  over('WalletMismatch', most('touchline_wallets_mismatched'), 0, '')
  const mailbox = most('touchline_mailbox_depth')
  over('MailboxFilling', mailbox, BOUNDS.mailbox, String(mailbox))
  const queries = both((one) => one.get('touchline_database_waiting{pool="readers"}') ?? 0)
  over('QueriesWait', queries, BOUNDS.queries, String(queries))
  const lagAt = (quantile: string) => both((one) => one.get(`touchline_loop_lag_seconds{quantile="${quantile}"}`) ?? 0)
  const [usual, longest] = [lagAt('0.99'), lagAt('1')]
  const lag = longest > BOUNDS.stallSecs ? longest : usual
  over('LoopLate', lag, BOUNDS.lagSecs, `${Math.round(lag * 1_000)} ms`)
  const sockets = both((one) => total(one, 'touchline_sockets'))
  over('SocketsFull', sockets, BOUNDS.sockets, String(sockets))
  const unheard = most('touchline_bus_unheard_seconds')
  over('BusUnheard', unheard, BOUNDS.busSecs, secs(unheard))
  const still = most('touchline_match_clock_still_seconds')
  over('FeedLate', still, BOUNDS.clockSecs, secs(still))
  const silent = most('touchline_provider_answer_age_seconds')
  over('ProviderSilent', silent, PROVIDER_SECS, secs(silent))
  if (greatest(metrics, 'touchline_provider_quota_left') === 0) found.push(concern('ProviderQuotaSpent'))
  if (greatest(metrics, 'touchline_replica_in_use') === 0) found.push(concern('ReplicaUnused'))
  const overdue = most('touchline_matches_overdue')
  over('MatchesOverdue', overdue, 0, counted(overdue, 'match', 'matches'))
  const late = most('touchline_outbox_lag_seconds')
  over('ReactionsLate', late, LAG_SECS, secs(late))
  const unpaid = most('touchline_closes_unpaid')
  over('ClosesUnpaid', unpaid, 0, counted(unpaid, 'close'))
  const unarchived = most('touchline_archive_failing_seconds')
  over('ArchiveFails', unarchived, ARCHIVE_SECS, secs(unarchived))
  const months = most('touchline_months_missing')
  over('LedgerMonthsMissing', months, MONTHS, String(months))
  return found
}

/** How old the newest data of a match in play is, if it is too old; else 0. Any process knows it from the database. */
export function lateMs({ phase, updatedAt }: FeedState['matches'][number], now: number): number {
  const age = updatedAt === null ? 0 : now - Date.parse(updatedAt)
  return (phase === 'live' || phase === 'break') && age > BOUNDS.feedSecs * 1_000 ? age : 0
}

function ofFeed({ feed, now }: Facts): Concern[] {
  const matches = feed?.matches ?? []
  const heardAt = Math.max(...matches.map(({ updatedAt }) => Date.parse(updatedAt ?? '') || 0))
  // The provider has recovered if a match was updated 15 seconds later: one lost answer is no concern for long.
  const recent = (feed?.faults ?? []).filter(({ reason, lastAt }) => {
    const at = Date.parse(lastAt)
    const isOver = (reason === 'request' || reason === 'quota') && heardAt - at > RECOVERED_MS
    return now - at < FAULT_MS && !isOver
  })
  const isUnread = (id: number): boolean => feed?.quarantined.some(({ matchId }) => matchId === id) === true
  const late = matches.filter(({ matchId }) => !isUnread(matchId)).map((match) => lateMs(match, now))
  const quarantined = (feed?.quarantined ?? []).map(({ matchId, name, positions, margin, since }) =>
    concern('MatchQuarantined', {
      name,
      since,
      n: `${counted(positions, 'position')} with ${margin.toFixed(2)} units of margin`,
      acts: [
        { kind: 'settle', matchId, name },
        { kind: 'void', matchId, name },
      ],
    }),
  )
  const faults = recent.map(({ reason, matchId, detail, firstAt }) => {
    const name = matchId === null ? detail : `${detail} (fixture ${matchId})`
    if (reason === 'quota') return concern('ProviderQuotaSpent', { since: firstAt })
    return concern(reason === 'request' ? 'ProviderFails' : 'FixturesSkipped', { name, since: firstAt })
  })
  const latest = Math.max(0, ...late)
  const silent = latest === 0 ? [] : [concern('FeedLate', { n: durationWords(latest) })]
  return [...quarantined, ...silent, ...faults]
}

/** Everything, a match, a player. */
const widthOf = (key: string): number => (key === 'trading.mode' ? 0 : key.startsWith('trading.mode.match.') ? 1 : 2)

/** Of a brake, and of what keeps users out. One on everything is as bad as an alert that wakes an operator. */
function ofBrakes({ settings, flags, nameOf, isOver }: Facts): Concern[] {
  const common = { runbook: 'the-brake', isPast: false } as const
  const modes = (settings ?? []).filter(
    ({ key, value }) => key.startsWith('trading.mode') && value !== 'open' && !isOver(key),
  )
  // The widest first.
  const inOrder = modes.toSorted((a, b) => widthOf(a.key) - widthOf(b.key))
  const brakes = inOrder.map(({ key, value, updatedAt, updatedBy }): Concern => {
    const on = key === 'trading.mode' ? '' : ` on ${nameOf(key)}`
    return {
      ...common,
      level: on === '' ? 'page' : 'brake',
      what: value === 'halted' ? `Trading${on} is halted` : `Trading${on} is close only`,
      since: updatedAt === null ? null : Date.parse(updatedAt),
      by: updatedBy,
      acts: [{ kind: 'release', key, mode: String(value) }],
    }
  })
  const closed = (flags ?? []).filter(({ key, enabled }) => key === 'coming_soon' && enabled)
  return [
    ...closed.map(({ updatedAt, updatedBy }): Concern => ({
      ...common,
      level: 'page',
      what: 'Only admins can use the service',
      since: updatedAt === null ? null : Date.parse(updatedAt),
      by: updatedBy,
      acts: [{ kind: 'open_service' }],
    })),
    ...brakes,
  ]
}

function ofWork({ reactions, webhooks, now }: Facts): Concern[] {
  const commits = reactions?.setAside ?? []
  const [newest] = commits
  return [
    ...(newest === undefined
      ? []
      : [
          concern('ReactionsSetAside', {
            n: counted(commits.length, 'reaction'),
            name: `to commit ${newest.seq} of match ${newest.matchId} (${newest.error})`,
            acts: [{ kind: 'retry', commits }],
          }),
        ]),
    ...(webhooks ?? []).flatMap(({ url, failingSince }) =>
      failingSince === null || now - Date.parse(failingSince) < WEBHOOK_MS
        ? []
        : [concern('WebhookFailing', { name: url, since: failingSince })],
    ),
  ]
}

/** Entries that alerts count. One concern of a kind, with its newest entry. */
function ofAudit({ audit, settings }: Facts): Concern[] {
  const entries = audit ?? []
  const found: Concern[] = []
  const about = (alert: AlertName, fits: (entry: AuditEntry) => boolean, least = 1, noun?: string): void => {
    const own = entries.filter(fits)
    const [newest] = own
    if (newest === undefined || own.length < least) return
    const { subject, subjectName, at, actor } = newest
    const n = noun === undefined ? String(own.length) : counted(own.length, noun)
    found.push(
      concern(alert, { n, name: subjectName ?? subject, since: at, isPast: true, by: actor?.username ?? null }),
    )
  }
  const is = (wanted: string) => (entry: AuditEntry) => entry.action === wanted && entry.outcome === 'ok'
  about('TokensReused', is('session.reuse'), REUSES + 1)
  about('AdoptingUserFrozen', is('wallet.adopt_freeze'))
  about('AdoptionRefused', ({ action, outcome }) => action === 'wallet.adopt' && outcome === 'ADOPTION_TOO_LARGE')
  const alertAt = Number(settings?.find(({ key }) => key === 'trading.adoption_alert')?.value ?? Infinity)
  about('LargeBalanceAdopted', (one) => is('wallet.adopt')(one) && addedUnits(one) > alertAt)
  about('BalanceAdopted', is('wallet.adopt'))
  about('CheatSuspected', is('integrity.alert'), 1, 'report')
  about('RefusalBurst', is('refusals.burst'))
  about('CrowdRegistered', is('registrations.crowd'))
  about('AdminMade', (entry) => is('user.role')(entry) && entry.after === 'admin')
  about('MatchVoided', (entry) => endOf(entry) === 'void' && entry.outcome === 'ok')
  return found
}

/** How an operator has ended a match, or a replay. */
function endOf({ action, after }: AuditEntry): unknown {
  if (action === 'match.end') return after
  return action === 'replay.stop' && typeof after === 'object' && after !== null && 'ending' in after
    ? after.ending
    : null
}

/** What an adopted balance has added to its wallet. */
function addedUnits({ after }: AuditEntry): number {
  const micros = typeof after === 'object' && after !== null && 'byMicros' in after ? Number(after.byMicros) : 0
  return micros / 1_000_000
}

/** What costs the house money, and is no alert. */
function ofMoney({ replays, mainPurseIsLive, settings }: Facts): Concern[] {
  if (!mainPurseIsLive) return []
  const paying = (replays ?? []).filter(({ practice }) => !practice)
  const isOff = (settings ?? []).some(({ key, value }) => key === 'trading.protection' && value === 'off')
  const look: Act = { kind: 'look', at: 'settings', label: 'See the settings' }
  return [
    ...paying.map((replay): Concern => ({
      level: 'note',
      what: `The replay ${replay.fixtureId} pays the main purse, and its outcome may be known`,
      since: null,
      isPast: false,
      by: null,
      runbook: 'match-day',
      acts: [{ kind: 'stop', replay }],
    })),
    ...(isOff
      ? [
          {
            level: 'note',
            what: 'Live matches are traded without trading.protection: a user who sees the pitch earlier than the feed wins',
            since: null,
            isPast: false,
            by: null,
            runbook: 'cheating',
            acts: [look],
          } as const,
        ]
      : []),
  ]
}

/** 40 s, 4 min, 3 h, 2 days */
export function durationWords(ms: number): string {
  const secs = Math.max(0, Math.round(ms / 1_000))
  if (secs < 90) return `${secs} s`
  const mins = Math.round(secs / 60)
  if (mins < 90) return `${mins} min`
  const hours = Math.round(mins / 60)
  return hours < 36 ? `${hours} h` : counted(Math.round(hours / 24), 'day')
}

/** After "Trading is halted": for 4 min by ann */
export function lastedWords({ since, isPast, by }: Concern, now: number): string {
  const lasted = since === null ? '' : durationWords(now - since)
  const when = since === null ? '' : isPast ? ` ${lasted} ago` : ` for ${lasted}`
  return `${when}${by === null ? '' : ` by ${by}`}`
}
