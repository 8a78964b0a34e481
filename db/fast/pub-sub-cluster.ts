/**
 * Publish/subscribe between processes on a Redis Cluster. Channels are sharded: each belongs to the master of its slot,
 * which alone carries its messages. So a process has a connection for subscriptions to each master that has some.
 */
import { type Redis, type Result } from 'ioredis'
import { clusterAt } from './redis-address.ts'
import { nameOf, type RedisCluster } from './redis-cluster.ts'
import type { PubSubOptions } from './pub-sub-options.ts'
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, reconnectAfter, SILENT_MS } from './redis-timeouts.ts'
import { Shard } from './shard.ts'
import { quit } from './quit.ts'

/** How often a process looks whether its subscriptions are where they belong, and whether their connections answer. */
const LOOK_EVERY_MS = 1_000
/** Looks until the subscribers of a new master have returned. Before that, zero receivers proves nothing. */
const SETTLED_AFTER = 6

/** A replica would take SPUBLISH and count its own subscribers. It refers a script to its master. */
const SEND = `return redis.call('spublish', KEYS[1], ARGV[1])`

declare module 'ioredis' {
  interface RedisCommander<Context> {
    sendCounted(channel: string, message: Buffer): Result<number, Context>
  }
}

interface Subscription {
  readonly onMessage: (message: Buffer) => void
  /** Where it is, or is being made. */
  shard: Shard | null
}

export class ClusterPubSub {
  readonly #cluster: RedisCluster
  readonly #prefix: string
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #shards = new Map<string, Shard>()
  readonly #onGap: (() => void)[] = []
  /** The masters, and after how many looks each was found to be one. */
  #masters = new Map<Redis, number>()
  #looks = 0
  #timers: readonly NodeJS.Timeout[] = []
  #isCut = false
  #settling: Promise<void> | null = null
  #failures = 0
  #isClosed = false

  private constructor(cluster: RedisCluster, prefix: string) {
    this.#cluster = cluster
    this.#prefix = prefix
  }

  /**
   * Throws when the cluster cannot be reached. A connection lost later is restored automatically, with its
   * subscriptions, on whichever node then has their slots.
   */
  static async connect({ url, prefix }: PubSubOptions): Promise<ClusterPubSub> {
    const cluster = clusterAt(url, {
      connectionName: 'touchline-bus',
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENT_MS,
      retryStrategy: reconnectAfter,
      scripts: { sendCounted: { lua: SEND, numberOfKeys: 1 } },
    })
    if (cluster === null) throw new Error('the address is not that of a cluster')
    cluster.on('error', () => {})
    const pubSub = new ClusterPubSub(cluster, `${prefix ?? ''}bus:`)
    try {
      await cluster.connect()
    } catch (error) {
      await pubSub.close()
      throw error
    }
    pubSub.#noteMasters(-Infinity)
    cluster.on('refresh', () => pubSub.#noteMasters())
    pubSub.#timers = [setInterval(() => pubSub.#look(), LOOK_EVERY_MS)]
    return pubSub
  }

  /** By the same script as `send`: a plain message would overtake one whose script the server does not know yet. */
  async publish(channel: string, message: Buffer): Promise<void> {
    await this.#cluster.sendCounted(this.#prefix + channel, message)
  }

  /** Counts the receivers. Rejects where there seems to be none because a master has just taken over. */
  async send(channel: string, message: Buffer): Promise<number> {
    const name = this.#prefix + channel
    const reached = await this.#cluster.sendCounted(name, message)
    if (reached === 0 && !this.#isSettled(name)) throw new Error('its subscribers may not be back yet')
    return reached
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    const name = this.#prefix + channel
    const subscription: Subscription = { onMessage, shard: null }
    this.#subscriptions.set(name, subscription)
    try {
      await this.#join(name, subscription)
    } catch {
      // Its slot may have moved, or its connection just ended.
      await this.#refreshed()
      await this.#join(name, subscription)
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    const name = this.#prefix + channel
    const subscription = this.#subscriptions.get(name)
    if (subscription === undefined) return
    // Messages in flight have been reported as sent, and a caller may wait for their effect.
    await subscription.shard?.leave(name)
    if (this.#subscriptions.get(name) === subscription) this.#subscriptions.delete(name)
    this.#endUnused()
  }

  onGap(listener: () => void): void {
    this.#onGap.push(listener)
  }

  /** Ends all connections at once: an orderly end would wait for a node that is silent. */
  reconnect(): void {
    for (const shard of this.#shards.values()) shard.end()
    for (const node of this.#cluster.nodes()) if (node.status === 'ready') node.stream.destroy()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const shard of this.#shards.values()) shard.end()
    await quit(this.#cluster)
  }

  /** Subscribes on the master that has the channel. Resolves when all messages from then on will arrive. */
  async #join(name: string, subscription: Subscription): Promise<void> {
    const master = this.#cluster.masterOf(name)
    if (master === undefined || this.#isClosed) throw new Error('Connection is closed.')
    const shard = this.#shards.get(nameOf(master)) ?? this.#open(master)
    subscription.shard = shard
    try {
      await shard.join(name)
    } catch (error) {
      if (subscription.shard === shard) subscription.shard = null
      throw error
    }
  }

  #open(master: Redis): Shard {
    const name = nameOf(master)
    const shard = new Shard(master, {
      onMessage: (channel, message) => {
        const subscription = this.#subscriptions.get(channel)
        if (subscription?.shard === shard) subscription.onMessage(message)
      },
      onEnd: () => {
        if (this.#shards.get(name) === shard) this.#shards.delete(name)
        for (const subscription of this.#subscriptions.values()) {
          if (subscription.shard !== shard) continue
          subscription.shard = null
          this.#isCut = true
        }
        this.#settleSoon()
      },
    })
    this.#shards.set(name, shard)
    return shard
  }

  #look(): void {
    this.#looks++
    for (const shard of this.#shards.values()) shard.ping()
    if (this.#misplaced().length > 0) this.#settleSoon()
  }

  /** The subscriptions that are nowhere, or not where their slot is. */
  #misplaced(): readonly (readonly [string, Subscription])[] {
    return [...this.#subscriptions].filter(([name, { shard }]) => {
      const master = this.#cluster.masterOf(name)
      return shard === null || (master !== undefined && shard.name !== nameOf(master))
    })
  }

  /** At most one attempt at a time, and a longer pause after each that failed. */
  #settleSoon(): void {
    if (this.#settling !== null || this.#isClosed || !this.#isAnythingLost()) return
    const pause = this.#failures === 0 ? 0 : reconnectAfter(this.#failures)
    this.#settling = new Promise((resolve) => setTimeout(resolve, pause))
      .then(() => this.#settle())
      .then(
        () => (this.#failures = 0),
        () => void this.#failures++,
      )
      .then(() => {
        this.#settling = null
        this.#settleSoon()
      })
  }

  #isAnythingLost(): boolean {
    return this.#isCut || this.#misplaced().length > 0
  }

  async #settle(): Promise<void> {
    await this.#refreshed()
    const misplaced = this.#misplaced()
    if (misplaced.length > 0) this.#isCut = true
    await Promise.all(
      misplaced.map(async ([name, subscription]) => {
        const former = subscription.shard
        if (this.#subscriptions.get(name) !== subscription) return
        await this.#join(name, subscription)
        await former?.leave(name)
      }),
    )
    this.#endUnused()
    if (this.#isClosed || this.#misplaced().length > 0) return
    this.#isCut = false
    for (const listener of this.#onGap) listener()
  }

  #endUnused(): void {
    const used = new Set([...this.#subscriptions.values()].map(({ shard }) => shard))
    for (const shard of this.#shards.values()) if (!used.has(shard)) shard.end()
  }

  /** Resolves when the cluster has said where its slots are, or cannot. */
  #refreshed(): Promise<void> {
    return new Promise((resolve) => this.#cluster.refreshSlotsCache(() => resolve()))
  }

  #noteMasters(since = this.#looks): void {
    const former = this.#masters
    this.#masters = new Map(this.#cluster.nodes('master').map((node) => [node, former.get(node) ?? since]))
  }

  /** Whether the master of this channel has been one, on the same connection, for long enough. */
  #isSettled(name: string): boolean {
    const master = this.#cluster.masterOf(name)
    if (master === undefined) return false
    const since = this.#masters.get(master)
    if (since === undefined) this.#noteMasters()
    return since !== undefined && this.#looks - since >= SETTLED_AFTER
  }
}
