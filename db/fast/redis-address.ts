/**
 * Where Redis is: one server, `redis://user:password@host:6379/0`, the master that a group of Sentinels names,
 * `redis+sentinel://user:password@host:26379,host:26379/master/0`, or a cluster of which some nodes are named,
 * `redis+cluster://user:password@host:6379,host:6379`. With `rediss` everything is encrypted. The password is that of
 * Redis; `?sentinelPassword=…` is that of the Sentinels.
 */
import { Redis, type RedisOptions } from 'ioredis'
import { type ClientOptions, RedisCluster } from './redis-cluster.ts'

const SENTINEL_PORT = 26_379
const PORT = 6_379
const SENTINELS =
  /^redis(?<tls>s?)\+sentinel:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/?]+)\/(?<name>[^/?]+)(?:\/(?<db>\d+))?(?:\?sentinelPassword=(?<sentinelPassword>[^&]+))?$/
const CLUSTER = /^redis(?<tls>s?)\+cluster:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?#]+)$/
const HOST = /^\[?(?<host>.+?)\]?(?::(?<port>\d+))?$/

/** The client of one server, or of a cluster. Both take the same commands. */
export type RedisClient = Redis | RedisCluster

/** The hosts of an address, for messages: no password. */
export function redisHosts(address: string): string {
  const nodes = clusterOptions(address)?.nodes
  if (nodes !== undefined) return `${listed(nodes)} (Cluster)`
  const sentinels = sentinelOptions(address)?.sentinels
  return sentinels === undefined ? new URL(address).host : `${listed(sentinels)} (Sentinel)`
}

/** A client of one server, which is not connected yet if the options say so. */
export function redisAt(address: string, options: ClientOptions): Redis {
  const sentinels = sentinelOptions(address)
  if (sentinels === null) return new Redis(address, options)
  const { retryStrategy, connectTimeout } = options
  return persistent(
    new Redis({
      ...options,
      ...sentinels,
      // It hears of a failover from the Sentinels: a master that is cut off would go on taking its writes.
      failoverDetector: true,
      sentinelRetryStrategy: (attempt) => retryStrategy?.(attempt) ?? null,
      ...(connectTimeout === undefined ? {} : { sentinelCommandTimeout: connectTimeout }),
    }),
  )
}

/**
 * The client, which connects again unless it is closed by us. One that hears of a failover while it connects ends for
 * good: ioredis (6.0.0) asks no retry strategy then.
 */
function persistent(redis: Redis): Redis {
  const [disconnect, quit] = [redis.disconnect.bind(redis), redis.quit.bind(redis)]
  let isClosing = false
  redis.disconnect = (reconnects = false) => {
    isClosing ||= !reconnects
    disconnect(reconnects)
  }
  redis.quit = () => {
    isClosing = true
    return quit()
  }
  redis.on('end', () => {
    if (!isClosing) redis.connect().catch(() => undefined)
  })
  return redis
}

export const isClusterAddress = (address: string): boolean => clusterOptions(address) !== null

/** A client of a cluster, which is not connected yet; null if the address names something else. */
export function clusterAt(address: string, options: ClientOptions): RedisCluster | null {
  const cluster = clusterOptions(address)
  return cluster === null ? null : new RedisCluster(cluster.nodes, { ...options, ...cluster.credentials })
}

/** Connects. Rejects with what has closed the connection, of which ioredis itself says only that it is closed. */
export async function connected(redis: RedisClient): Promise<void> {
  let cause: unknown
  const note = (error: unknown): void => void (cause = error)
  // Without a listener ioredis would also print every failing reconnect.
  redis.on('error', note)
  try {
    await redis.connect()
  } catch (error) {
    redis.disconnect()
    throw cause ?? error
  } finally {
    redis.on('error', () => undefined)
    redis.off('error', note)
  }
}

type Credentials = Pick<RedisOptions, 'username' | 'password' | 'tls'>
type SentinelOptions = Pick<
  RedisOptions,
  'name' | 'db' | 'sentinelPassword' | 'sentinelTLS' | 'enableTLSForSentinelMode'
> &
  Credentials & { readonly sentinels: Host[] }

interface Host {
  readonly host: string
  readonly port: number
}

const listed = (hosts: readonly Host[]): string => hosts.map(({ host, port }) => `${host}:${port}`).join(',')

/** Null for anything else than Sentinels. */
function sentinelOptions(address: string): SentinelOptions | null {
  const parts = SENTINELS.exec(address)?.groups
  if (parts === undefined) return null
  const sentinelPassword = decoded(parts, 'sentinelPassword')
  return {
    sentinels: hostsOf(parts, SENTINEL_PORT),
    name: decoded(parts, 'name'),
    db: Number(parts['db'] ?? 0),
    ...credentialsOf(parts),
    ...(sentinelPassword === '' ? {} : { sentinelPassword }),
    ...(parts['tls'] === 's' ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  }
}

/** Null for anything else than a cluster. */
function clusterOptions(address: string): { readonly nodes: Host[]; readonly credentials: Credentials } | null {
  const parts = CLUSTER.exec(address)?.groups
  if (parts === undefined) return null
  return {
    nodes: hostsOf(parts, PORT),
    credentials: { ...credentialsOf(parts), ...(parts['tls'] === 's' ? { tls: {} } : {}) },
  }
}

type Parts = Readonly<Record<string, string | undefined>>

const decoded = (parts: Parts, name: string): string => decodeURIComponent(parts[name] ?? '')

function hostsOf(parts: Parts, usual: number): Host[] {
  return (parts['hosts'] ?? '').split(',').map((one) => {
    const { host = one, port = usual } = HOST.exec(one)?.groups ?? {}
    return { host, port: Number(port) }
  })
}

function credentialsOf(parts: Parts): Credentials {
  const [username, password] = [decoded(parts, 'user'), decoded(parts, 'password')]
  return { ...(username === '' ? {} : { username }), ...(password === '' ? {} : { password }) }
}
