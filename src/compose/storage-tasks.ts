/** The background work that keeps the books and the database. */
import { microsNearest, money } from '../../actors/kernel/micros.ts'
import { AdoptionGuard } from '../../db/adoption-guard.ts'
import { AuditChain } from '../../db/audit-chain.ts'
import { Archive } from '../../db/archive.ts'
import { LedgerClosings } from '../../db/ledger-closings.ts'
import { LedgerMonitor } from '../../db/ledger-monitor.ts'
import { Months } from '../../db/months.ts'
import { Retention } from '../../db/retention.ts'
import { timelineOf } from '../../db/wallet-cache.ts'
import type { Host } from '../features/feature.ts'
import { largeAdoptions } from '../observe/security-metrics.ts'
import { watchReplica } from './replica-watch.ts'
import type { SchemaWatch } from './schema-watch.ts'
import { EVERYWHERE, type Task } from './task-runner.ts'

/** Of one run, five minutes each: after a long absence several runs catch up. */
const CLOSINGS_MAX = 50

/** Transactions of one run of the archive, up to 2,000 positions each. */
const ARCHIVINGS_MAX = 8

/** What keeps the books and the audit log. */
export function ledgerTasks({ log, world, stores: { db }, market, accounts, observation }: Host): readonly Task[] {
  const months = new Months(db, world)
  const ledger = new LedgerMonitor(db, world)
  const closings = new LedgerClosings(db)
  const auditChain = new AuditChain(db)
  const adoptionGuard = new AdoptionGuard({
    db,
    world,
    audit: market.audit,
    users: accounts.userList,
    dayMax: () => money(microsNearest(market.settings.value('trading.adoption_day_max'))),
  })
  return [
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
      // About ten seconds: soon enough for an alert, and cheap enough to ask for all the time. In every process: one
      // that never looked would tell the control room that the books balance.
      name: 'ledger-check',
      everyMs: 9_973,
      roles: EVERYWHERE,
      run: async () => observation.measuring.books(await ledger.books()),
    },
    {
      // As often, and in every process: matches that no process runs are noticed even when none has rooms.
      name: 'work-left',
      everyMs: 9_949,
      roles: EVERYWHERE,
      run: async () => {
        try {
          observation.measuring.workLeft(await ledger.workLeft())
        } catch (error) {
          observation.measuring.workUnknown()
          throw error
        }
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
        // Entries are handed on once: they are counted before anything can fail.
        observation.measuring.audited(entries, large.length)
        for (const user of await adoptionGuard.freeze(entries)) log.warn('adopting_user_frozen', { userId: user })
      },
    },
  ]
}

/** What keeps the database: what leaves it, and how it is reached. */
export function databaseTasks(
  { config, log, world, stores, market: { settings } }: Host,
  schema: SchemaWatch,
): readonly Task[] {
  const retention = new Retention(stores.db, world, () => ({
    fullDays: settings.value('retention.full_ticks_days'),
    days: settings.value('retention.ticks_days'),
    journalDays: settings.value('retention.journal_days'),
  }))
  const archive = new Archive(stores.db, world, () => settings.value('retention.archive_days'))
  const lookAtReplica = watchReplica(stores.connection, log)
  return [
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
      // Twice a second: a connection that is silent for three seconds is found in four.
      name: 'silent-connections',
      everyMs: 509,
      roles: EVERYWHERE,
      run: async () => {
        const cut = await stores.connection.cutSilent()
        if (cut > 0) log.warn('silent_connections_cut', { cut })
      },
    },
  ]
}
