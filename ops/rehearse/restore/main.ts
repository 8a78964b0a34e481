/**
 * Rehearses a restore to a moment in the past: a PostgreSQL whose log is archived, and behind it a process for clients
 * and two for matches, under load. It takes an encrypted base backup while everybody trades, notes a moment, lets
 * everybody trade on, kills the server and deletes its data. Then it restores the backup and the archived log up to
 * that moment, and starts the program on what it gets, with an empty Redis.
 *
 *   npm run ops -- restore [--users 20] [--speed 10] [--seconds 8] [--to name|time] [--seed N]
 *
 * Backups are taken, encrypted and restored by the scripts of `ops/deploy/backup`. Every trade that was acknowledged
 * before the moment must be there once, and none that began after it; each account must have the events that it had;
 * the books must balance; the match must go on, take trades and be settled. A backup that was altered or cut short and
 * a wrong key must be refused. `--seconds` is how long everybody trades before the backup, between it and the moment,
 * and after the moment; `--to` whether the moment is a restore point or a time.
 *
 * It needs PostgreSQL's programs, Redis, bash and gpg. The exit code is 1 when a promise is broken.
 */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { demand } from '../rig/account.ts'
import { audit } from '../rig/audit.ts'
import { checkConsistency, gather, waitForTrading } from '../rig/consistency.ts'
import { freePort } from '../rig/ports.ts'
import { numbers, refuse } from '../rig/options.ts'
import { OwnPostgres } from '../rig/postgres.ts'
import { Processes } from '../rig/processes.ts'
import { rehearsing, type Settings } from '../rig/program.ts'
import { Rehearsal, say } from '../rig/rehearsal.ts'
import { OwnRedis } from '../rig/redis.ts'
import { makeDatabase } from '../rig/scratch-database.ts'
import { SimulatedClient } from '../rig/simulated-client.ts'
import { SimulatedTrader } from '../rig/simulated-trader.ts'
import { startTrading } from '../rig/trading-load.ts'
import { TradingTally } from '../rig/trading-tally.ts'
import { until } from '../rig/until.ts'
import { Backups } from './backups.ts'
import { type Moment, Past } from './past.ts'

const { users, speed, seconds, seed, to } = numbers(
  { users: [20, 1, 500], speed: [10, 1], seconds: [8, 1, 600], seed: [Date.now() % 1_000_000, 0] },
  { to: { type: 'string', default: 'name' } },
)
const tradingMs = seconds * 1_000
const kind = to === 'time' ? 'time' : 'name'
if (kind !== to) refuse('--to must be name or time')

const RESTORE_POINT = 'rehearsal'
/** At the latest after this time the log of a trade is in the archive. */
const ARCHIVED_SECS = 10
const PATIENCE_MS = 120_000
const LOOK_MS = 50

const rehearsal = new Rehearsal('restore')
const { folder } = rehearsal
const tally = new TradingTally()
const traders = SimulatedTrader.crowd('Restore', users, seed, tally)
const admin = new SimulatedClient('Restore Auditor')
const past = new Past(traders)
const since = (moment: number): string => `${((performance.now() - moment) / 1_000).toFixed(1)} s`
const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

const untilTrue = (what: string, holds: () => Promise<boolean>): Promise<void> =>
  until(PATIENCE_MS, LOOK_MS, async () => ((await holds()) ? null : `not within ${PATIENCE_MS} ms: ${what}`))

/** Notes a moment in the log: a restore point, and its time. */
async function noteMoment(postgres: OwnPostgres): Promise<Moment & { readonly which: string; readonly file: string }> {
  const from = performance.now()
  const [row] = await postgres.query<{ at: string; file: string }>(
    `select clock_timestamp()::text as at, pg_walfile_name(pg_create_restore_point('${RESTORE_POINT}')) as file`,
  )
  const { at, file } = present(row, 'the moment')
  return { from, to: performance.now(), which: kind === 'time' ? at : RESTORE_POINT, file }
}

/** The newest file of the log that is in the archive; empty without one. */
async function lastArchived(postgres: OwnPostgres): Promise<string> {
  const [row] = await postgres.query<{ last: string | null }>('select last_archived_wal as last from pg_stat_archiver')
  return row?.last ?? ''
}

/** Everybody trades; a backup is taken, a moment is noted, and the server dies. */
async function tradeAndDie(backups: Backups, postgres: OwnPostgres, { url }: Processes) {
  const trading = startTrading(url, traders, admin)
  await pause(tradingMs)
  const begun = performance.now()
  const backup = await backups.take(postgres.url)
  const took = since(begun)
  const [row] = await postgres.query<{ bytes: string }>('select sum(pg_database_size(oid)) as bytes from pg_database')
  const size = megabytes(Number(present(row, 'the size of all databases').bytes))
  const sealed = megabytes(statSync(backup).size)
  say(`base backup in ${took}, while everybody traded: ${sealed}, encrypted, of databases of ${size}`)
  await pause(tradingMs)
  const moment = await noteMoment(postgres)
  const noted = performance.now()
  const atMoment = tally.acknowledged
  await pause(tradingMs)
  await untilTrue('the moment is in the archive', async () => (await lastArchived(postgres)) >= moment.file)
  say(`the log of the moment was in the archive at most ${since(noted)} after it`)
  await past.read(url)
  say(`${atMoment} commands acknowledged before the moment, ${tally.acknowledged - atMoment} after it`)
  await postgres.kill()
  rmSync(postgres.data, { recursive: true })
  await trading.stop()
  const { files, bytes: archived } = backups.archived
  say(`PostgreSQL is killed and its data is gone; ${files} files of archived log, ${megabytes(archived)}`)
  return { backup, moment }
}

/** A new server from the backup and the archived log. */
async function restore(backups: Backups, backup: string, lost: OwnPostgres, which: string): Promise<OwnPostgres> {
  await backups.refusesForgeries(backup, folder)
  say('a backup with an altered byte, one without its last byte and a wrong key are refused')
  const begun = performance.now()
  const data = join(folder, 'restored')
  backups.programs.makeFolder(data)
  await backups.restore(backup, data, [kind, which])
  say(`base backup decrypted and verified in ${since(begun)}`)
  const replayed = performance.now()
  const postgres = new OwnPostgres(backups.programs, data, lost.port, backups.archiving(ARCHIVED_SECS))
  rehearsal.later(() => postgres.stop())
  await postgres.run()
  await untilTrue('the recovery is done', async () => {
    const [row] = await postgres.query<{ recovers: boolean }>('select pg_is_in_recovery() as recovers')
    return row?.recovers === false
  })
  say(`log replayed up to the ${kind} ${which} in ${since(replayed)}`)
  return postgres
}

/** The program on the restored database: what was, and that it goes on. */
async function goOn(settings: Settings, moment: Moment): Promise<void> {
  const begun = performance.now()
  // Without a process for matches nothing moves yet, so the accounts are those of the moment.
  const processes = await Processes.start(settings)
  rehearsal.later(() => processes.kill())
  const { url } = processes
  const { kept, gone, underWay, underWayKept, events, eventsBefore } = await past.compare(url, moment)
  demand(kept > 0 && gone > 0 && events < eventsBefore, () => 'there was nothing to restore, or nothing to leave out')
  say(
    `${kept} trades acknowledged before the moment: each is there once\n` +
      `${gone} trades begun after it: none is there; ${underWayKept} of ${underWay} under way are\n` +
      `${events} of ${eventsBefore} account events are there, in order, each as it was`,
  )
  const started = performance.now()
  await processes.startRooms()
  await waitForTrading(url, admin)
  say(
    `trades are taken ${since(started)} after the processes for matches were started, ${since(begun)} after the first`,
  )
  await checkConsistency(url, traders, admin)
  tally.checks++
  const before = tally.acknowledged
  const trading = startTrading(url, traders, admin)
  await pause(tradingMs)
  await trading.stop()
  demand(tally.acknowledged > before, () => 'no trade was acknowledged after the restore')
  const { positions } = await audit(url, traders, admin)
  processes.demandAlive()
  say(`${tally.acknowledged - before} trades more; the match is settled and the books balance`)
  say(`${positions} positions compared one by one`)
}

async function run(): Promise<void> {
  const redis = await OwnRedis.start(folder)
  rehearsal.later(() => redis.kill())
  const backups = new Backups(folder)
  const data = join(folder, 'postgres')
  await backups.programs.initialise(data)
  const postgres = new OwnPostgres(backups.programs, data, await freePort(), backups.archiving(ARCHIVED_SECS))
  rehearsal.later(() => postgres.stop())
  await postgres.run()
  const database = await makeDatabase(postgres.url, 'touchline')
  const settings: Settings = {
    DATA_DIR: join(folder, 'keys'),
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    ...rehearsing('Restore', speed),
  }
  const processes = await Processes.start(settings)
  rehearsal.later(() => processes.kill())
  const { url } = processes
  await processes.startRooms()
  await gather(url, admin, traders)
  const { backup, moment } = await tradeAndDie(backups, postgres, processes)
  await processes.kill()
  const begun = performance.now()
  await restore(backups, backup, postgres, moment.which)
  await redis.flush()
  await goOn(settings, moment)
  say(`from the loss of the data to the end of all checks: ${since(begun)}`)
}

say(`${users} users, speed ${speed}, seed ${seed}, restored to a ${kind}`)
await rehearsal.play(
  async () => {
    await run()
    say(`\n${tally.trading()}\n\nNo promise was broken.`)
  },
  { tally, facts: `seed ${seed}` },
)
