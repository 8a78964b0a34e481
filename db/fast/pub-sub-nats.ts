/** Publish/subscribe between processes on NATS. */
import {
  connect,
  createInbox,
  deadline,
  type MsgHdrs,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node'
import { present } from '../../actors/kernel/assert.ts'

export interface NatsPubSubOptions {
  /** Addresses of one NATS cluster, `nats://[user:password@]host:port` or `tls://…`; the first names the account. */
  readonly urls: readonly string[]
  /** Prefix of every subject, so that several installations can share a server. */
  readonly prefix?: string
}

const CONNECT_TIMEOUT_MS = 2_000
const RECONNECT_EVERY_MS = 250
/** A server that answers no ping in this time three times is gone: the client connects anew. */
const PING_EVERY_MS = 1_000
/** For the server to say that it has a message. */
const SENT_WITHIN_MS = 1_000
/** The status of the message that answers a request without a receiver. */
const NO_RESPONDERS = 503

export class NatsPubSub {
  readonly #connection: NatsConnection
  readonly #prefix: string
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #onGap: (() => void)[] = []
  /** Where the server says that a request has no receiver: a subject of this client, and the request's number. */
  readonly #notices: string
  readonly #withoutReceiver = new Set<number>()
  #sent = 0
  /** Resolves when the server has what this turn sends; null while it sends nothing. */
  #flushed: Promise<void> | null = null
  #isConnected = true

  private constructor(connection: NatsConnection, prefix: string) {
    const notices = createInbox()
    this.#connection = connection
    this.#prefix = prefix
    this.#notices = notices
    connection.subscribe(`${notices}.*`, {
      callback: (_, { subject, headers }) => {
        if (isNoResponders(headers)) this.#withoutReceiver.add(Number(subject.slice(notices.length + 1)))
      },
    })
    void this.#watch()
  }

  /**
   * Throws when no server can be reached. A connection lost later is restored automatically, with its subscriptions.
   */
  static async connect({ urls, prefix }: NatsPubSubOptions): Promise<NatsPubSub> {
    const addresses = urls.map((url) => new URL(url))
    const { username, password, protocol } = present(addresses[0], 'address of NATS')
    const connection = await connect({
      servers: addresses.map(({ host }) => host),
      name: 'touchline-bus',
      timeout: CONNECT_TIMEOUT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_EVERY_MS,
      reconnectJitter: RECONNECT_EVERY_MS,
      ignoreAuthErrorAbort: true,
      pingInterval: PING_EVERY_MS,
      ...(username === '' ? {} : { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
      ...(protocol === 'tls:' ? { tls: {} } : {}),
    })
    return new NatsPubSub(connection, prefix ?? '')
  }

  async publish(channel: string, message: Buffer): Promise<void> {
    this.#assertConnected()
    this.#connection.publish(this.#subject(channel), message)
  }

  /** The server counts no receivers: it says only whether there are any. */
  async send(channel: string, message: Buffer): Promise<0 | 'some'> {
    this.#assertConnected()
    const number = ++this.#sent
    this.#connection.publish(this.#subject(channel), message, { reply: `${this.#notices}.${number}` })
    await (this.#flushed ??= this.#flush())
    return this.#withoutReceiver.delete(number) ? 0 : 'some'
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    const subscription = this.#connection.subscribe(this.#subject(channel), {
      callback: (error, { data }) => {
        if (error === null) onMessage(Buffer.from(data.buffer, data.byteOffset, data.byteLength))
      },
    })
    this.#subscriptions.get(channel)?.unsubscribe()
    this.#subscriptions.set(channel, subscription)
    await this.#connection.flush()
  }

  async unsubscribe(channel: string): Promise<void> {
    const subscription = this.#subscriptions.get(channel)
    this.#subscriptions.delete(channel)
    // Waits for the messages that the server has already sent.
    await subscription?.drain().catch(() => undefined)
  }

  onGap(listener: () => void): void {
    this.#onGap.push(listener)
  }

  reconnect(): void {
    void this.#connection.reconnect()
  }

  async close(): Promise<void> {
    if (this.#isConnected) await deadline(this.#connection.flush(), SENT_WITHIN_MS).catch(() => undefined)
    await this.#connection.close()
  }

  /**
   * The messages of one turn go out together, with one question to the server. It answers in order: before this answer
   * it has said which of them have no receiver.
   */
  async #flush(): Promise<void> {
    await Promise.resolve()
    this.#flushed = null
    await deadline(this.#connection.flush(), SENT_WITHIN_MS)
  }

  /** The client has subscribed again before it reports that it has connected again. */
  async #watch(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === 'disconnect') this.#isConnected = false
      if (type !== 'reconnect') continue
      this.#isConnected = true
      for (const listener of this.#onGap) listener()
    }
  }

  /** The client would keep messages until it is connected again. A request must not arrive after its deadline. */
  #assertConnected(): void {
    if (!this.#isConnected || this.#connection.isClosed()) throw new Error('NATS is not connected')
  }

  #subject(channel: string): string {
    return `${subjectToken(this.#prefix)}.bus.${subjectToken(channel)}`
  }
}

const isNoResponders = (headers: MsgHdrs | undefined): boolean => headers?.code === NO_RESPONDERS

/** Spaces, dots and wildcards mean something in a subject. */
const subjectToken = (text: string): string =>
  encodeURIComponent(text).replace(/[.*]/g, (sign) => (sign === '.' ? '%2E' : '%2A'))
