/** The fast store on Redis, shared by all processes. */
import type { ClusterOptions, Result } from 'ioredis'
import { assert } from '../../actors/kernel/assert.ts'
import { clusterAt, connected, redisAt, type RedisClient } from './redis-address.ts'
import { nameOf, RedisCluster } from './redis-cluster.ts'
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, reconnectAfter, SILENT_MS } from './redis-timeouts.ts'
import { type Allowance, type FastStore, type Fields, type Hits, keys, type Put, type Spent } from './fast-store.ts'
import { quit } from './quit.ts'

export interface FastRedisOptions {
  readonly url: string
  /** Prefix of every key, so that several installations can share a server. */
  readonly prefix?: string
}

/**
 * ARGV: time to live; then for each key the version, the number of field texts and the texts. Answers the number of
 * keys put.
 */
const PUT_IF_NEWER = `
  local put, at = 0, 2
  for _, key in ipairs(KEYS) do
    local newer, last = tonumber(ARGV[at]), at + 1 + tonumber(ARGV[at + 1])
    if redis.call('type', key).ok ~= 'hash' then redis.call('del', key) end
    local version = redis.call('hget', key, 'version')
    if not (version and tonumber(version) and tonumber(version) >= newer) then
      redis.call('hset', key, 'version', ARGV[at], unpack(ARGV, at + 2, last))
      redis.call('pexpire', key, ARGV[1])
      put = put + 1
    end
    at = last + 1
  end
  return put`

/** Answers fields and values of each key, in turn; none for a key that is not a hash. */
const HASHES = `
  local hashes = {}
  for n, key in ipairs(KEYS) do
    local fields = redis.pcall('hgetall', key)
    hashes[n] = fields.err and {} or fields
  end
  return hashes`

/** A script blocks all other clients: this many keys take half a millisecond. */
const KEYS_A_SCRIPT = 100

const PROBE_TTL_MS = 1_000
/** A master with one slot in a hundred is still found. */
const PROBES_TRIED = 1_000

/** A window that would last longer than it can was begun before the server's clock was put back: it begins again. */
const HIT = `
  local count, left = redis.call('incr', KEYS[1]), redis.call('pttl', KEYS[1])
  if left < 0 or left > tonumber(ARGV[1]) then
    redis.call('set', KEYS[1], 1, 'px', ARGV[1])
    return { 1, tonumber(ARGV[1]) }
  end
  return { count, left }`

/**
 * A list of the instants of the calls that count, the oldest last. ARGV: the calls allowed, and the window. Calls of
 * the future were counted before the server's clock was put back.
 */
const SPEND = `
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if tonumber(redis.call('lindex', KEYS[1], 0) or now) > now then redis.call('del', KEYS[1]) end
  local oldest = tonumber(redis.call('lindex', KEYS[1], -1) or now)
  while oldest <= now - ARGV[2] do
    redis.call('rpop', KEYS[1])
    oldest = tonumber(redis.call('lindex', KEYS[1], -1) or now)
  end
  local counted, allowed = redis.call('llen', KEYS[1]), 0
  if counted < tonumber(ARGV[1]) then
    counted, allowed = redis.call('lpush', KEYS[1], string.format('%.0f', now)), 1
    redis.call('pexpire', KEYS[1], ARGV[2])
  end
  return { allowed, ARGV[1] - counted, oldest + ARGV[2] - now }`

/**
 * A sorted set of marks by the instant at which each may be dropped. ARGV: time to live, a mark that must be there or
 * nothing, then the marks.
 */
const MARK = `
  if ARGV[2] ~= '' and not redis.call('zscore', KEYS[1], ARGV[2]) then return 0 end
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('zremrangebyscore', KEYS[1], '-inf', now)
  local score = string.format('%.0f', now + ARGV[1])
  for at = 3, #ARGV do redis.call('zadd', KEYS[1], 'gt', score, ARGV[at]) end
  if redis.call('pttl', KEYS[1]) < tonumber(ARGV[1]) then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return 1`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    putIfNewer(keys: number, ...keysAndArguments: string[]): Result<number, Context>
    hashes(keys: number, ...wanted: string[]): Result<string[][], Context>
    hitWindow(key: string, windowMs: number): Result<[count: number, endsInMs: number], Context>
    markUntil(key: string, ttlMs: number, ifMarked: string, ...marks: string[]): Result<number, Context>
    spendAllowance(key: string, calls: number, windowMs: number): Result<[number, number, number], Context>
  }
}

/**
 * Connects. Throws when the server cannot be reached. A connection lost later is restored automatically; until then
 * every call throws at once instead of waiting in a queue.
 */
export async function connectRedis(options: FastRedisOptions): Promise<FastStore> {
  const scripts = {
    putIfNewer: { lua: PUT_IF_NEWER },
    hashes: { lua: HASHES, readOnly: true },
    hitWindow: { lua: HIT, numberOfKeys: 1 },
    spendAllowance: { lua: SPEND, numberOfKeys: 1 },
    markUntil: { lua: MARK, numberOfKeys: 1 },
  }
  return new FastRedis(await openRedis(options, scripts))
}

/**
 * A connection with these scripts as commands, and the same timeouts. On a cluster all keys of a script must have one
 * hash tag.
 */
export async function openRedis(
  { url, prefix }: FastRedisOptions,
  scripts: NonNullable<ClusterOptions['scripts']>,
): Promise<RedisClient> {
  const options = {
    keyPrefix: prefix ?? '',
    connectionName: 'touchline',
    lazyConnect: true,
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    // A command in flight when the connection broke may have been carried out: only the caller may repeat it.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENT_MS,
    retryStrategy: reconnectAfter,
    scripts,
  }
  const redis = clusterAt(url, options) ?? redisAt(url, options)
  await connected(redis)
  return redis
}

class FastRedis implements FastStore {
  readonly #redis: RedisClient
  #closed = false

  constructor(redis: RedisClient) {
    this.#redis = redis
  }

  get connected(): boolean {
    return !this.#closed && this.#redis.status === 'ready'
  }

  get(key: string): Promise<string | null> {
    return this.#redis.get(key)
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#redis.set(key, value, 'PX', ttlMs)
  }

  async del(key: string): Promise<void> {
    await this.#redis.del(key)
  }

  take(key: string): Promise<string | null> {
    return this.#redis.getdel(key)
  }

  async claim(key: string, ttlMs: number): Promise<boolean> {
    return (await this.#redis.set(key, '1', 'PX', ttlMs, 'NX')) === 'OK'
  }

  async mark(key: string, marks: readonly string[], ttlMs: number, ifMarked = ''): Promise<boolean> {
    return (await this.#redis.markUntil(key, ttlMs, ifMarked, ...marks)) === 1
  }

  async marked(key: string, marks: readonly string[]): Promise<readonly boolean[]> {
    return (await this.#redis.zmscore(key, ...marks)).map((score) => score !== null)
  }

  async hashGet(key: string): Promise<Fields | null> {
    const fields = await this.#redis.hgetall(key).catch(nothingIfOtherKind)
    return Object.keys(fields).length === 0 ? null : fields // Redis has no empty hashes
  }

  async hashGetMany(wanted: readonly string[]): Promise<readonly (Fields | null)[]> {
    // A script takes the keys of one slot only.
    if (this.#redis instanceof RedisCluster) return Promise.all(wanted.map((key) => this.hashGet(key)))
    const found = await Promise.all(inParts(wanted).map((part) => this.#redis.hashes(part.length, ...part)))
    return found.flat().map((fields) => (fields.length === 0 ? null : fieldsFrom(fields)))
  }

  async putIfNewer(key: string, fields: Fields, version: number, ttlMs: number): Promise<boolean> {
    return (await this.#put([{ key, fields, version }], ttlMs)) === 1
  }

  async putManyIfNewer(puts: readonly Put[], ttlMs: number): Promise<void> {
    const most = this.#redis instanceof RedisCluster ? 1 : KEYS_A_SCRIPT
    await Promise.all(inParts(puts, most).map((part) => this.#put(part, ttlMs)))
  }

  #put(puts: readonly Put[], ttlMs: number): Promise<number> {
    const values = puts.flatMap(({ fields, version }) => {
      const texts = Object.entries(fields).flat()
      assert(texts.length > 0, 'there must be something to put')
      return [String(version), String(texts.length), ...texts]
    })
    return this.#redis.putIfNewer(puts.length, ...puts.map((put) => put.key), String(ttlMs), ...values)
  }

  async probe(): Promise<void> {
    await Promise.all(this.#probes().map((key) => this.hit(key, PROBE_TTL_MS)))
  }

  /** One key on each master. */
  #probes(): readonly string[] {
    const redis = this.#redis
    if (!(redis instanceof RedisCluster)) return [keys.probe(0)]
    const masters = redis.nodes('master').length
    const found = new Map<string, string>()
    for (let n = 0; n < PROBES_TRIED && found.size < masters; n++) {
      const master = redis.masterOf(`${redis.options.keyPrefix ?? ''}${keys.probe(n)}`)
      found.set(master === undefined ? '' : nameOf(master), keys.probe(n))
    }
    return [...found.values()]
  }

  async hit(key: string, windowMs: number): Promise<Hits> {
    const [count, endsInMs] = await this.#redis.hitWindow(key, windowMs)
    return { count, endsInMs }
  }

  async spend(key: string, allowance: Allowance): Promise<Spent> {
    const [allowed, left, inMs] = await this.#redis.spendAllowance(key, allowance.calls, allowance.windowMs)
    return { allowed: allowed === 1, left, inMs }
  }

  async close(): Promise<void> {
    this.#closed = true
    await quit(this.#redis)
  }
}

/** Still one round trip: commands sent in one turn of the event loop go out together. */
function inParts<T>(items: readonly T[], most = KEYS_A_SCRIPT): T[][] {
  const count = Math.ceil(items.length / most)
  return Array.from({ length: count }, (_, n) => items.slice(n * most, (n + 1) * most))
}

function fieldsFrom(inTurn: readonly string[]): Fields {
  const fields: Record<string, string> = {}
  for (let at = 0; at < inTurn.length; at += 2) fields[inTurn[at] ?? ''] = inTurn[at + 1] ?? ''
  return fields
}

/** The key holds another type, put there from outside. The next write replaces it. */
function nothingIfOtherKind(error: unknown): Record<string, string> {
  if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return {}
  throw error
}
