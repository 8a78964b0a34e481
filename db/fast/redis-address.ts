/**
 * Where Redis is: one server, `redis://user:password@host:6379/0`, or the master that a group of Sentinels names,
 * `redis+sentinel://user:password@host:26379,host:26379/master/0`. With `rediss` everything is encrypted. The password
 * is that of Redis; `?sentinelPassword=…` is that of the Sentinels.
 */
import { Redis, type RedisOptions } from 'ioredis'

const SENTINEL_PORT = 26_379
const SENTINELS =
  /^redis(?<tls>s?)\+sentinel:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^/?]+)\/(?<name>[^/?]+)(?:\/(?<db>\d+))?(?:\?sentinelPassword=(?<sentinelPassword>[^&]+))?$/
const HOST = /^\[?(?<host>.+?)\]?(?::(?<port>\d+))?$/

/** The hosts of an address, for messages: no password. */
export function redisHosts(address: string): string {
  const sentinels = sentinelOptions(address)?.sentinels
  if (sentinels === undefined) return new URL(address).host
  return `${sentinels.map(({ host, port }) => `${host}:${port}`).join(',')} (Sentinel)`
}

/** A client, which is not connected yet if the options say so. */
export function redisAt(address: string, options: Options): Redis {
  const sentinels = sentinelOptions(address)
  if (sentinels === null) return new Redis(address, options)
  const { retryStrategy, connectTimeout } = options
  return new Redis({
    ...options,
    ...sentinels,
    // It hears of a failover from the Sentinels: a master that is cut off would go on taking its writes.
    failoverDetector: true,
    sentinelRetryStrategy: (attempt) => retryStrategy?.(attempt) ?? null,
    ...(connectTimeout === undefined ? {} : { sentinelCommandTimeout: connectTimeout }),
  })
}

/** What its constructor takes: how answers are mapped is a parameter of its type. */
type Options = Omit<RedisOptions, 'replyMapping'>
type SentinelOptions = Options & { readonly sentinels: { readonly host: string; readonly port: number }[] }

/** Null for anything else than Sentinels. */
function sentinelOptions(address: string): SentinelOptions | null {
  const parts = SENTINELS.exec(address)?.groups
  if (parts === undefined) return null
  const sentinels = (parts['hosts'] ?? '').split(',').map((one) => {
    const { host = one, port = SENTINEL_PORT } = HOST.exec(one)?.groups ?? {}
    return { host, port: Number(port) }
  })
  const text = (name: string): string => decodeURIComponent(parts[name] ?? '')
  return {
    sentinels,
    name: text('name'),
    db: Number(parts['db'] ?? 0),
    ...(text('user') === '' ? {} : { username: text('user') }),
    ...(text('password') === '' ? {} : { password: text('password') }),
    ...(text('sentinelPassword') === '' ? {} : { sentinelPassword: text('sentinelPassword') }),
    ...(parts['tls'] === 's' ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
  }
}
