/** Whether the database and Redis are configured to keep data. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { clusterAt, connected, redisAt } from '../../../db/fast/redis-address.ts'
import { nameOf, type RedisCluster } from '../../../db/fast/redis-cluster.ts'
import { connect } from '../../../db/postgres/connect.ts'
import type { Connection } from '../../../db/postgres/connection.ts'
import { CONNECTIONS_MAX } from '../../../db/postgres/server.ts'
import { schemaState } from '../../../db/postgres/migrate.ts'
import { type Config, databaseOf } from '../../../src/config.ts'
import { failed, type Finding, ok, warned } from './finding.ts'

/** With a larger clock difference, tokens and one-time codes expire at the wrong time. */
const SKEW_WARNED_MS = 1_000
const SKEW_FAILED_MS = 10_000
const REDIS_PATIENCE_MS = 3_000

export async function checkDatabase(config: Config): Promise<readonly Finding[]> {
  const { databaseUrl, dataDir, roles } = config
  if (databaseUrl === null) {
    return [warned('database', `embedded in ${dataDir}: it does not survive the loss of power; set DATABASE_URL`)]
  }
  const connection = await connect(databaseOf(config))
  try {
    return [
      await durability(connection),
      await capacity(connection, CONNECTIONS_MAX[roles.includes('rooms') ? 'rooms' : 'api']),
      await migrations(connection),
      await clock(connection),
    ]
  } finally {
    await connection.close()
  }
}

/** How long the standby may take to be found fresh: it is known from the second look on. */
const REPLICA_LOOKS = 4
const REPLICA_LOOK_MS = 500

/** Whether reads would go to the standby. */
export async function checkReplica(config: Config): Promise<readonly Finding[]> {
  if (config.databaseReplicaUrl === null) return []
  const connection = await connect(databaseOf(config))
  try {
    const { replica } = connection
    if (replica === null) return []
    for (let looks = 0; looks < REPLICA_LOOKS && !replica.state.isInUse; looks++) {
      if (looks > 0) await pause(REPLICA_LOOK_MS)
      await replica.look()
    }
    const { isInUse, lagMs, why } = replica.state
    if (!isInUse) return [failed('replica', `not read from: ${why ?? 'unknown'}; correct DATABASE_REPLICA_URL`)]
    const { rows } = await sql<{ setting: string }>`
      select setting from pg_settings where name = 'hot_standby_feedback'`.execute(connection.reads)
    const says = `a standby at most ${Math.round(lagMs ?? 0)} ms behind`
    return [
      rows[0]?.setting === 'on'
        ? ok('replica', says)
        : warned('replica', `${says}, which may cancel long reads; set hot_standby_feedback = on`),
    ]
  } finally {
    await connection.close()
  }
}

async function durability({ db }: Connection): Promise<Finding> {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'server_version')`.execute(
    db,
  )
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]))
  const off = ['fsync', 'full_page_writes', 'synchronous_commit'].filter((name) => settings.get(name) === 'off')
  const version = `PostgreSQL ${settings.get('server_version') ?? '?'}`
  if (off.length > 0)
    return failed('database', `${version} with ${off.join(', ')} off: acknowledged trades can be lost; switch on`)
  if (settings.get('synchronous_standby_names') === '')
    return warned(
      'database',
      `${version}, durable, but without a synchronous replica: a failover can lose the last trades`,
    )
  return ok('database', `${version}, durable, synchronous_commit ${settings.get('synchronous_commit') ?? '?'}`)
}

async function capacity({ db }: Connection, perProcess: number): Promise<Finding> {
  const { rows } = await sql<{ most: number; used: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
           (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`.execute(db)
  const { most, used } = rows[0] ?? { most: 0, used: 0 }
  const says = `${used} of ${most} connections taken; this process may take ${perProcess}`
  return most - used < perProcess ? warned('connections', `${says}: raise max_connections`) : ok('connections', says)
}

async function migrations({ db }: Connection): Promise<Finding> {
  const { applied, missing, tolerated, refusal } = await schemaState(db)
  if (refusal !== null) return failed('migrations', refusal)
  if (tolerated.length > 0)
    return warned('migrations', `${tolerated.join(', ')} of a newer version have run, beside which this one can work`)
  const names = missing.map(({ name }) => name).join(', ')
  if (missing.length > 0) return warned('migrations', `${names} will run when the first process starts`)
  return ok('migrations', `all ${applied.length} have run`)
}

async function clock({ db }: Connection): Promise<Finding> {
  await sql`select 1`.execute(db) // the connection is made before timing starts
  const before = Date.now()
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const after = Date.now()
  const skewMs = Math.abs((rows[0]?.now.getTime() ?? 0) - (before + after) / 2)
  const says = `${Math.round(skewMs)} ms between the database and this machine`
  if (skewMs > SKEW_FAILED_MS) return failed('clock', `${says}; synchronise them`)
  return skewMs > SKEW_WARNED_MS ? warned('clock', `${says}; synchronise them`) : ok('clock', says)
}

/** Asks the server, or every node of a cluster. */
export async function checkRedis({ redisUrl }: Config): Promise<readonly Finding[]> {
  if (redisUrl === null) return [warned('redis', 'none: there can be one process only; set REDIS_URL for more')]
  const options = { lazyConnect: true, connectTimeout: REDIS_PATIENCE_MS, retryStrategy: () => null }
  const cluster = clusterAt(redisUrl.reveal(), options)
  const redis = cluster ?? redisAt(redisUrl.reveal(), options)
  await connected(redis)
  try {
    if (cluster !== null) return await checkCluster(cluster)
    const info = infoOf(await redis.info())
    return [
      info('cluster_enabled') === '1' ? failed('redis', 'a node of a cluster: write redis+cluster://') : memory(info),
    ]
  } finally {
    redis.disconnect()
  }
}

async function checkCluster(cluster: RedisCluster): Promise<readonly Finding[]> {
  const nodes = await Promise.all(
    cluster.nodes().map((node) =>
      node.info().then(
        (text) => memory(infoOf(text), `${nameOf(node)}: `),
        (error: unknown) => failed('redis', `${nameOf(node)} does not answer (${String(error)})`),
      ),
    ),
  )
  const state = infoOf(String(await cluster.call('CLUSTER', 'INFO')))('cluster_state')
  const [masters, all] = [cluster.nodes('master').length, cluster.nodes().length]
  const says = `${masters} masters, ${all - masters} replicas, state ${state}`
  if (state !== 'ok') return [failed('redis', `${says}: slots are not served`), ...nodes]
  return [
    all < 2 * masters ? warned('redis', `${says}: a master without a replica is a single point`) : ok('redis', says),
    ...nodes,
  ]
}

type Info = (name: string) => string

const infoOf =
  (text: string): Info =>
  (name) =>
    new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]?.trim() ?? ''

/** Whether the server keeps all keys, and has room for more. */
function memory(info: Info, where = ''): Finding {
  const policy = info('maxmemory_policy')
  const [most, used] = [Number(info('maxmemory')), Number(info('used_memory'))]
  const says = `${where}Redis ${info('redis_version')}, ${policy}, ${Math.round(used / 1e6)} MB used`
  if (policy !== 'noeviction')
    return failed('redis', `${says}: it drops keys when it is full; set maxmemory-policy noeviction`)
  return most > 0 && used > 0.8 * most
    ? warned('redis', `${says} of ${most / 1e6}: raise maxmemory`)
    : ok('redis', says)
}
