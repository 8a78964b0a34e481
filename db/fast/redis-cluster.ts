/** A client of a Redis Cluster. A command goes to the master of its key's slot, and follows a slot that has moved. */
import { Cluster, type ClusterOptions, Command, type Redis, type RedisOptions } from 'ioredis'

/** How often the client asks where the slots are. What it finds moved in between it asks at once. */
const LOOK_EVERY_MS = 2_000
const LOOK_TIMEOUT_MS = 1_000
/** A slot that moves may take two redirections; more are a cluster that does not agree. */
const REDIRECTIONS_MAX = 6

type Scripts = NonNullable<ClusterOptions['scripts']>
/** The options of a client of one server. How answers are mapped is a parameter of its type. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping' | 'scripts'> & { readonly scripts?: Scripts }

export class RedisCluster extends Cluster {
  /** What the last node said that could not tell the slots. */
  #refusal: unknown = null

  /** Takes the options of a client of one server. It connects when told to. */
  constructor(nodes: { host: string; port: number }[], options: ClientOptions) {
    const { keyPrefix = '', scripts = {}, retryStrategy, lazyConnect: _, enableOfflineQueue: __, ...each } = options
    super(nodes, {
      keyPrefix,
      scripts,
      lazyConnect: true,
      // Names are resolved when connecting, so that a certificate can be checked against them.
      dnsLookup: (name, found) => found(null, name),
      // A cluster that is down refuses commands by itself.
      enableReadyCheck: false,
      slotsRefreshInterval: LOOK_EVERY_MS,
      slotsRefreshTimeout: LOOK_TIMEOUT_MS,
      clusterRetryStrategy: (attempt) => retryStrategy?.(attempt) ?? null,
      maxRedirections: REDIRECTIONS_MAX,
      // A command in flight when its connection broke may have been carried out: only the caller may repeat it.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      // Of commands that went out together and were redirected, ioredis repeats all or none: so each goes out alone.
      redisOptions: { ...each, enableAutoPipelining: false },
    })
    this.on('node error', (error: unknown) => (this.#refusal = error))
  }

  /** Rejects with what the last node that was asked said. */
  override async connect(): Promise<void> {
    this.#refusal = null
    await super.connect().catch((error: unknown) => {
      throw this.#refusal ?? error
    })
  }

  /** Commands wait for the connection of a node, at most their timeout, but not for a cluster without any. */
  override sendCommand(command: Command, ...rest: Forwarded): unknown {
    const isLost = this.status !== 'ready' || this.nodes().length === 0
    // This is how the client asks for the slots.
    if (!isLost || command.name === 'cluster') return super.sendCommand(command, ...rest)
    command.reject(new Error('Connection is closed.'))
    return command.promise
  }

  /** The master of a key, as far as this client knows; undefined where it knows none. */
  masterOf(key: string): Redis | undefined {
    const at = this.slots[slotOf(key)]?.[0]
    return this.nodes('master').find((node) => nameOf(node) === at)
  }
}

type Forwarded = Parameters<Cluster['sendCommand']> extends [unknown, ...infer Rest] ? Rest : never

/** Host and port of a node, as the cluster names it. */
export const nameOf = ({ options: { host, port } }: Redis): string => `${host}:${port}`

const slotOf = (key: string): number => new Command('get', [key]).getSlot() ?? 0
