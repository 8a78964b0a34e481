/** Publish/subscribe between processes on Redis. It takes two connections: one that subscribes can do nothing else. */
import type { Redis } from 'ioredis'
import type { PubSubOptions } from './pub-sub-options.ts'
import { redisAt } from './redis-address.ts'
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, reconnectAfter, SILENT_MS } from './redis-timeouts.ts'
import { quit } from './quit.ts'

export class RedisPubSub {
  readonly #publisher: Redis
  readonly #subscriber: Redis
  readonly #prefix: string
  readonly #listeners = new Map<string, (message: Buffer) => void>()
  readonly #onGap: (() => void)[] = []
  #isCut = false
  #isGathering = false

  private constructor({ url, prefix }: PubSubOptions) {
    this.#prefix = `${prefix ?? ''}bus:`
    const options = {
      connectionName: 'touchline-bus',
      lazyConnect: true,
      connectTimeout: CONNECT_TIMEOUT_MS,
      retryStrategy: reconnectAfter,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      // A message in flight when the connection broke may already have been delivered.
      autoResendUnfulfilledCommands: false,
      // ioredis does not report when resubscribing is done.
      autoResubscribe: false,
    }
    // No auto-pipelining: it would send in a later turn.
    this.#publisher = redisAt(url, { ...options, commandTimeout: COMMAND_TIMEOUT_MS, socketTimeout: SILENT_MS })
    this.#subscriber = redisAt(url, options)
    for (const redis of [this.#publisher, this.#subscriber]) redis.on('error', () => {})
    this.#subscriber.on('messageBuffer', (channel: Buffer, message: Buffer) => {
      this.#listeners.get(channel.toString())?.(message)
    })
    this.#subscriber.on('close', () => (this.#isCut = true))
    this.#subscriber.on('ready', () => void this.#resubscribe())
  }

  /**
   * Throws when the server cannot be reached. A connection lost later is restored automatically, with its
   * subscriptions.
   */
  static async connect(options: PubSubOptions): Promise<RedisPubSub> {
    const pubSub = new RedisPubSub(options)
    try {
      await Promise.all([pubSub.#publisher.connect(), pubSub.#subscriber.connect()])
      return pubSub
    } catch (error) {
      await pubSub.close()
      throw error
    }
  }

  async publish(channel: string, message: Buffer): Promise<void> {
    await this.send(channel, message)
  }

  /** Redis counts the receivers. */
  send(channel: string, message: Buffer): Promise<number> {
    this.#gather()
    return this.#publisher.publish(this.#prefix + channel, message)
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    this.#listeners.set(this.#prefix + channel, onMessage)
    await this.#subscriber.subscribe(this.#prefix + channel)
  }

  async unsubscribe(channel: string): Promise<void> {
    const listener = this.#listeners.get(this.#prefix + channel)
    // Messages in flight have been reported as sent, and a caller may wait for their effect.
    await this.#subscriber.unsubscribe(this.#prefix + channel).catch(() => undefined)
    if (this.#listeners.get(this.#prefix + channel) === listener) this.#listeners.delete(this.#prefix + channel)
  }

  onGap(listener: () => void): void {
    this.#onGap.push(listener)
  }

  /** What is published in one turn goes out in one write, at its end. */
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    const { stream } = this.#publisher
    stream.cork()
    process.nextTick(() => {
      this.#isGathering = false
      stream.uncork()
    })
  }

  /**
   * Ends both connections at once: an orderly end would wait for a server that is silent, and so would one that was
   * taken and is not greeted.
   */
  reconnect(): void {
    for (const { status, stream } of [this.#publisher, this.#subscriber]) {
      if (status === 'ready' || status === 'connect') stream.destroy()
    }
  }

  /** The server forgets subscriptions with the connection. If this fails, the connection is lost again. */
  async #resubscribe(): Promise<void> {
    if (!this.#isCut) return
    this.#isCut = false
    try {
      if (this.#listeners.size > 0) await this.#subscriber.subscribe(...this.#listeners.keys())
    } catch {
      return
    }
    for (const listener of this.#onGap) listener()
  }

  async close(): Promise<void> {
    await Promise.all([this.#publisher, this.#subscriber].map((redis) => quit(redis)))
  }
}
