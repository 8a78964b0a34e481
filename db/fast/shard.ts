/** The subscriptions of a process to the channels of one master of a Redis Cluster, on a connection of their own. */
import { Redis } from 'ioredis'
import { nameOf } from './redis-cluster.ts'
import { COMMAND_TIMEOUT_MS, CONNECT_TIMEOUT_MS, SILENT_MS } from './redis-timeouts.ts'

export interface ShardOptions {
  readonly onMessage: (channel: string, message: Buffer) => void
  /** Called once, when the connection has ended, or the node has given up a channel. */
  readonly onEnd: () => void
}

export class Shard {
  /** Host and port, as the cluster names them. */
  readonly name: string
  readonly #redis: Redis
  readonly #opened: Promise<void>
  readonly #onEnd: () => void
  #isOver = false

  /** Connects at once, as the client of that master does. */
  constructor(master: Redis, { onMessage, onEnd }: ShardOptions) {
    this.name = nameOf(master)
    this.#onEnd = onEnd
    const { host, port, username, password, tls } = master.options
    this.#redis = new Redis({
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls === undefined ? {} : { tls }),
      connectionName: 'touchline-bus',
      lazyConnect: true,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENT_MS,
      maxRetriesPerRequest: 0,
      autoResubscribe: false,
      autoResendUnfulfilledCommands: false,
      // What comes after it may be another node.
      retryStrategy: () => null,
    })
    this.#redis.on('error', () => {})
    this.#redis.on('smessageBuffer', (channel: Buffer, message: Buffer) => onMessage(channel.toString(), message))
    this.#redis.on('end', () => this.end())
    // A slot has left the node, or the node is no longer a master: it unsubscribes its clients.
    this.#redis.on('moved', () => this.end())
    this.#opened = this.#open()
    this.#opened.catch(() => this.end())
  }

  /** Resolves when all messages from then on will arrive. */
  async join(channel: string): Promise<void> {
    await this.#opened
    await this.#redis.ssubscribe(channel)
    if (this.#isOver) throw new Error('Connection is closed.')
  }

  /** Messages delivered before it resolves still arrive. Never rejects. */
  async leave(channel: string): Promise<void> {
    if (!this.#isOver) await this.#redis.sunsubscribe(channel).catch(() => undefined)
  }

  /** A connection that does not answer ends itself. */
  ping(): void {
    this.#redis.ping().catch(() => undefined)
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#redis.disconnect()
    this.#onEnd()
  }

  /** A replica takes subscriptions too, but its master does not count them. */
  async #open(): Promise<void> {
    await this.#redis.connect()
    const [role] = await this.#redis.role()
    if (role !== 'master') throw new Error(`${this.name} is not a master`)
  }
}
