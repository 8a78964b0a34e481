/** The background work of a process, as one table of tasks. */
import type { Role } from '../variables.ts'
import type { AuditChain } from '../../db/audit-chain.ts'
import type { LedgerClosings } from '../../db/ledger-closings.ts'
import type { LedgerMonitor } from '../../db/ledger-monitor.ts'
import type { Archive } from '../../db/archive.ts'
import type { Months } from '../../db/months.ts'
import type { Retention } from '../../db/retention.ts'
import { largeAdoptions } from '../observe/security-metrics.ts'
import type { Erasures } from '../auth/erasures.ts'
import type { SocketVisitors } from '../auth/socket-visitors.ts'
import type { GameplayBot } from '../replays/gameplay-bot.ts'
import type { DelayedMatches } from '../http/delayed-matches.ts'
import { timelineOf } from '../../db/wallet-cache.ts'
import type { Host } from '../features/feature.ts'
import type { OpenFeature } from './features.ts'
import type { SchemaWatch } from './schema-watch.ts'
import { type Task, TaskRunner } from './task-runner.ts'

export interface TaskParts {
  readonly schema: SchemaWatch
  readonly retention: Retention
  readonly archive: Archive
  /** Partitions of the ledger. */
  readonly months: Months
  readonly ledger: LedgerMonitor
  readonly closings: LedgerClosings
  readonly auditChain: AuditChain
  readonly lookAtReplica: () => Promise<void>
  readonly visitors: SocketVisitors
  readonly bot: GameplayBot
  readonly erasures: Erasures
  readonly watching: DelayedMatches
}

/** Of one run, five minutes each: after a long absence several runs catch up. */
const CLOSINGS_MAX = 50

/** Transactions of one run of the archive, up to 2,000 positions each. */
const ARCHIVINGS_MAX = 8

const EVERYWHERE: readonly Role[] = ['api', 'rooms']

/** The tasks of what is always there. */
export function taskTable(host: Host, parts: TaskParts): readonly Task[] {
  const { config, log, stores, market, accounts, observation, community, realTime } = host
  const {
    schema,
    retention,
    archive,
    months,
    ledger,
    closings,
    auditChain,
    lookAtReplica,
    visitors,
    bot,
    erasures,
    watching,
  } = parts
  return [
    {
      // Twice a second: a setting changed in one process is in force in every other within a second.
      name: 'settings-refresh',
      everyMs: 499,
      roles: EVERYWHERE,
      run: () => market.settings.refresh(),
    },
    {
      // Twice a second: a session that has ended anywhere is over in every process within a second, with its sockets.
      name: 'ended-sessions',
      everyMs: 503,
      roles: EVERYWHERE,
      run: () => visitors.closeJustEnded(realTime),
    },
    {
      // How old a place on a leaderboard may be.
      name: 'board-refresh',
      everyMs: 211,
      roles: EVERYWHERE,
      run: () => community.keeper.show(),
    },
    {
      // About an hour: old rows cost space, and nothing else.
      name: 'retention',
      everyMs: 3_599_969,
      roles: EVERYWHERE,
      run: async () => {
        const removed = await retention.run()
        if (Object.values(removed).some((rows) => rows > 0)) log.info('retention_completed', { ...removed })
      },
    },
    {
      // About two seconds: by the day, what is moved must be as much as is traded.
      name: 'archive',
      everyMs: 2_003,
      roles: ['rooms'],
      run: async () => {
        const { positions, events } = await archive.run(ARCHIVINGS_MAX)
        if (positions + events > 0) log.info('match_archived', { positions, events })
      },
    },
    {
      // About six hours, and before anything is traded: without a month's partition its trades could not be booked.
      name: 'ledger-months',
      everyMs: 21_599_987,
      roles: EVERYWHERE,
      atStart: 'await',
      run: async () => {
        const made = await months.make()
        if (made > 0) log.info('ledger_months_made', { months: made })
      },
    },
    {
      // About ten seconds: a day would do, but positions that wait for a market should close soon after it opens.
      name: 'erasures',
      everyMs: 10_007,
      roles: ['rooms'],
      run: () => erasures.look(),
    },
    {
      // About ten seconds: soon enough for an alert, and cheap enough to ask for all the time.
      name: 'ledger-check',
      everyMs: 9_973,
      roles: config.metrics === 'off' ? [] : ['rooms'],
      run: async () => {
        observation.measuring.books(await ledger.books())
        observation.measuring.workLeft(await ledger.workLeft())
      },
    },
    {
      // About a minute: an audit adds up what is not closed yet.
      name: 'ledger-closing',
      everyMs: 59_999,
      roles: ['rooms'],
      run: async () => void (await closings.closeAll(CLOSINGS_MAX)),
    },
    {
      // About a second: until then an entry of the audit log could be changed without a trace. The log keeps the heads
      // of the chain outside the database.
      name: 'audit-seal',
      everyMs: 1_009,
      roles: EVERYWHERE,
      run: async () => {
        await accounts.security.flush()
        const { entries, head } = await auditChain.seal()
        if (head !== null) log.info('audit_sealed', { ...head })
        const large = largeAdoptions(entries, market.settings.value('trading.adoption_alert'))
        for (const { subject, after } of large) log.warn('large_balance_adopted', { userId: subject, after })
        observation.measuring.audited(entries, large.length)
      },
    },
    {
      // About a second: after a failover, as long as balances are still cached under the former timeline. Those count
      // for nothing, so this delays the cache and nothing else.
      name: 'timeline',
      everyMs: 1_013,
      roles: EVERYWHERE,
      run: async () => {
        stores.walletCache.timeline = await timelineOf(stores.db)
      },
    },
    {
      // About a second: how long this version may work on a schema that a newer one has broken. A statement of its own,
      // because such a migration may break any other.
      name: 'schema-watch',
      everyMs: 1_033,
      roles: EVERYWHERE,
      run: () => schema.look(),
    },
    {
      // About a second: a standby that does not answer is left within three, and its lag is known to a second.
      name: 'replica-look',
      everyMs: 1_039,
      roles: config.databaseReplicaUrl === null ? [] : EVERYWHERE,
      atStart: 'begin',
      run: lookAtReplica,
    },
    {
      // About ten seconds: the window over which the lag of the event loop is reported.
      name: 'loop-lag',
      everyMs: 9_967,
      roles: EVERYWHERE,
      run: () => observation.measuring.turnLoop(),
    },
    {
      // About a second: no stop-loss may wait for a visitor, so unsettled matches that no process runs are taken up.
      name: 'orphan-scan',
      everyMs: 983,
      roles: EVERYWHERE,
      atStart: 'begin',
      run: () => realTime.desk.lookForOrphans(),
    },
    {
      // Twice a second: a connection that is silent for three seconds is found in four.
      name: 'silent-connections',
      everyMs: 509,
      roles: EVERYWHERE,
      run: async () => {
        const cut = await stores.connection.cutSilent()
        if (cut > 0) log.warn('silent_connections_cut', { cut })
      },
    },
    {
      // About a second: how late a process notices that others hear the bus and it does not.
      name: 'presence',
      everyMs: 1_019,
      roles: EVERYWHERE,
      atStart: 'begin',
      run: () => realTime.presence?.look(),
    },
    {
      // About five seconds: how long a socket may outlive a session that ended without a sign-out.
      name: 'session-scan',
      everyMs: 4_993,
      roles: EVERYWHERE,
      run: () => visitors.closeEnded(realTime),
    },
    {
      // What people see who are not signed in is so much older than its delay says, at most.
      name: 'watching',
      everyMs: 4_987,
      roles: ['api'],
      atStart: 'begin',
      run: () => watching.keep(),
    },
    {
      // About a second: with the flag's own half a second, `coming_soon` has closed every socket within three.
      name: 'early-visitors',
      everyMs: 991,
      roles: EVERYWHERE,
      run: () => visitors.closeEarly(realTime),
    },
    {
      // About a second: a replay started or stopped through another process follows within it.
      name: 'replay-sync',
      everyMs: 997,
      roles: ['rooms'],
      atStart: 'await',
      run: () => bot.look(),
    },
  ]
}

/** Adds the tasks of this process's roles, and those of features, each as a part of its own. */
export function addTasks(host: Host, features: readonly OpenFeature[], parts: TaskParts): void {
  const { config, lifecycle, log } = host
  const onFailure = (task: string): void => host.observation.measuring.taskFailed(task)
  for (const task of [...taskTable(host, parts), ...features.flatMap(({ tasks = [] }) => tasks)]) {
    if (!task.roles.some((role) => config.roles.includes(role))) continue
    const runner = new TaskRunner(task, { log, onFailure })
    lifecycle.add({ name: task.name, kind: 'worker', start: () => runner.start(), stop: () => runner.stop() })
  }
}
