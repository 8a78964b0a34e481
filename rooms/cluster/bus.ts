/**
 * Requests and messages between the processes of one installation, over publish/subscribe. A request ends in one of
 * three ways, and no layer may turn one into another: it was answered; it is gone, so nothing has happened; or it is
 * silent, so it may have happened. Published messages have no answer and may be lost.
 */
import type { Report } from '../report.ts'
import type { RequestEnds } from '../stats.ts'
import {
  type Envelope,
  overlap,
  type Published,
  type Read,
  readEnvelope,
  readPublished,
  type RequestEnvelope,
  type Versions,
} from './envelope.ts'

/** The publish/subscribe that the bus needs. */
export interface PubSub {
  /** The message may be lost. Rejects when it certainly is. */
  publish(channel: string, message: Buffer): Promise<void>
  /**
   * The number of subscribers it reached. Rejects when it is unknown whether there was one; then the message may have
   * arrived.
   */
  send(channel: string, message: Buffer): Promise<number>
  /** Resolves when all messages published from then on will arrive, those of one publisher on one channel in order. */
  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void>
  /** Messages delivered before it resolves still arrive. */
  unsubscribe(channel: string): Promise<void>
  /** Calls the listener whenever messages may have been missed. */
  onGap(listener: () => void): void
  /** Ends the silent connection and reconnects. */
  reconnect(): void
  close(): Promise<void>
}

/** One incarnation of a process. */
export type ProcessId = string

/**
 * `gone`: no process took the request, or those that got it declined it because they cannot read it. Nothing has
 * happened, so it may be sent again. `silent`: it may have happened.
 */
export type Reply<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'gone' | 'silent' }

/** What a process can read: requests of kinds R, and messages on topics T. */
export interface Protocol<R extends Exchanges<R>, T> {
  readonly versions: Versions
  readonly requests: {
    readonly [K in keyof R]: { readonly request: Read<R[K]['request']>; readonly answer: Read<R[K]['answer']> }
  }
  readonly topics: { readonly [K in keyof T]: Read<T[K]> }
}

type Exchanges<R> = { readonly [K in keyof R]: { readonly request: unknown; readonly answer: unknown } }

export interface BusOptions<R extends Exchanges<R>, T> {
  readonly pubSub: PubSub
  readonly processId: ProcessId
  readonly protocol: Protocol<R, T>
  readonly report: Report
}

type Serve<Request, Answer> = (request: Request, from: ProcessId) => Promise<Answer | undefined>

/** Serves a request whose body has been read, or returns null if it cannot be read. */
type Server = (body: unknown, from: ProcessId) => Promise<unknown> | null

/** A request of this process that has not ended. */
interface Waiting {
  readonly answered: (envelope: Extract<Envelope, { is: 'answer' }>) => void
  readonly failed: (error: string) => void
  readonly declined: (reason: string) => void
  readonly stop: () => void
}

/** The process that served the request met a fault, such as an unavailable database. */
export class RemoteFault extends Error {
  override name = 'RemoteFault'
}

/** The prices of a match may be large, all other messages are small. A larger one is a mistake, and refused. */
const MESSAGE_BYTES_MAX = 1 << 20
/**
 * Unanswered requests of one process. At this number the others are too slow, and more requests would make it worse.
 */
const WAITING_MAX = 10_000
/** How long closing waits for answers that this process is still making. */
const LAST_ANSWERS_MS = 500

const CHANNEL = {
  process: (id: ProcessId) => `to:${id}`,
  group: (name: string) => `group:${name}`,
  topic: (name: string) => `topic:${name}`,
} as const

export class Bus<R extends Exchanges<R>, T> {
  /** Counts how the requests of this process have ended. */
  readonly ends: RequestEnds = { answered: 0, gone: 0, silent: 0, failed: 0 }
  readonly #options: BusOptions<R, T>
  readonly #servers = new Map<string, Server>()
  readonly #waiting = new Map<number, Waiting>()
  /** Channels on which requests to this process arrive. */
  readonly #channels = new Set<string>()
  readonly #answering = new Set<Promise<void>>()
  readonly #reported = new Set<string>()
  #lastId = 0

  constructor(options: BusOptions<R, T>) {
    this.#options = options
  }

  get processId(): ProcessId {
    return this.#options.processId
  }

  /** From now on requests reach this process. */
  async open(): Promise<void> {
    await this.#receiveOn(CHANNEL.process(this.processId))
  }

  /** Answers requests of one kind. Undefined sends no answer, so that another process of the group can answer. */
  serve<K extends keyof R & string>(kind: K, serve: Serve<R[K]['request'], R[K]['answer']>): void {
    const read = this.#options.protocol.requests[kind].request
    this.#servers.set(kind, (body, from) => {
      const request = read(body)
      return request === undefined ? null : serve(request, from)
    })
  }

  /** From now on requests to this group reach this process. */
  async join(group: string): Promise<void> {
    await this.#receiveOn(CHANNEL.group(group))
  }

  /** Asks one process. Rejects with RemoteFault when that process met a fault. */
  ask<K extends keyof R & string>(
    process: ProcessId,
    kind: K,
    request: R[K]['request'],
    withinMs: number,
  ): Promise<Reply<R[K]['answer']>> {
    return this.#ask(CHANNEL.process(process), kind, request, withinMs)
  }

  /** Asks all processes of a group; the first answer counts. */
  askAny<K extends keyof R & string>(
    group: string,
    kind: K,
    request: R[K]['request'],
    withinMs: number,
  ): Promise<Reply<R[K]['answer']>> {
    return this.#ask(CHANNEL.group(group), kind, request, withinMs)
  }

  /** Sends a message to all subscribers of the topic, this process included. */
  publish<K extends keyof T & string>(topic: K, message: T[K]): void {
    const published: Published = { versions: this.#options.protocol.versions, message }
    this.publishBytes(topic, Buffer.from(JSON.stringify(published)))
  }

  /** Messages that cannot be read are reported and dropped. */
  async subscribe<K extends keyof T & string>(topic: K, onMessage: (message: T[K]) => void): Promise<void> {
    const read = this.#options.protocol.topics[topic]
    await this.subscribeBytes(topic, (bytes) => {
      const published = readPublished(bytes)
      const isReadable = published !== undefined && overlap(published.versions, this.#options.protocol.versions)
      const message = isReadable ? read(published.message) : undefined
      if (message === undefined) this.#reportOnce('bus_message_unreadable', { topic })
      else onMessage(message)
    })
  }

  /** The same without an envelope, for bytes that have a version of their own. */
  publishBytes(topic: string, bytes: Buffer): void {
    this.#options.pubSub
      .publish(CHANNEL.topic(topic), bytes)
      .catch((error: unknown) => this.#options.report('bus_publish_failed', error, { topic }))
  }

  async subscribeBytes(topic: string, onBytes: (bytes: Buffer) => void): Promise<void> {
    await this.#options.pubSub.subscribe(CHANNEL.topic(topic), onBytes)
  }

  async unsubscribe(topic: string): Promise<void> {
    await this.#options.pubSub.unsubscribe(CHANNEL.topic(topic))
  }

  /** Calls the listener whenever published messages may have been missed. */
  onGap(listener: () => void): void {
    this.#options.pubSub.onGap(listener)
  }

  /**
   * Requests sent to this process from now on are gone; those it has taken are answered. Its own unanswered requests
   * end as silent.
   */
  async close(): Promise<void> {
    const { pubSub } = this.#options
    await Promise.allSettled([...this.#channels].map((channel) => pubSub.unsubscribe(channel)))
    await Promise.race([Promise.allSettled(this.#answering), pause(LAST_ANSWERS_MS)])
    for (const { stop } of this.#waiting.values()) stop()
    await pubSub.close()
  }

  async #receiveOn(channel: string): Promise<void> {
    this.#channels.add(channel)
    await this.#options.pubSub.subscribe(channel, (bytes) => this.#receive(bytes))
  }

  #ask<K extends keyof R & string>(
    channel: string,
    kind: K,
    request: R[K]['request'],
    withinMs: number,
  ): Promise<Reply<R[K]['answer']>> {
    if (this.#waiting.size >= WAITING_MAX) {
      this.ends.gone++
      return Promise.resolve({ kind: 'gone' })
    }
    const { protocol, report } = this.#options
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      let declined = 0
      let receivers = Infinity
      const forget = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(id)
      }
      const end = (reply: Reply<R[K]['answer']>): void => {
        if (!this.#waiting.has(id)) return
        forget()
        this.ends[reply.kind]++
        resolve(reply)
      }
      // All who got it cannot read it: the same as if none had got it.
      const endIfAllDeclined = (): void => {
        if (declined >= receivers) end({ kind: 'gone' })
      }
      const timer = setTimeout(() => end({ kind: 'silent' }), withinMs)
      this.#waiting.set(id, {
        answered: ({ versions, body }) => {
          const answer = overlap(versions, protocol.versions) ? protocol.requests[kind].answer(body) : undefined
          if (answer !== undefined) return end({ kind: 'answered', answer })
          // It was served, but what came of it cannot be read.
          this.#reportOnce('bus_answer_unreadable', { kind })
          end({ kind: 'silent' })
        },
        failed: (error) => {
          forget()
          this.ends.failed++
          reject(new RemoteFault(error))
        },
        declined: (reason) => {
          this.#reportOnce('bus_request_declined', { kind, reason })
          declined++
          endIfAllDeclined()
        },
        stop: () => end({ kind: 'silent' }),
      })
      this.#send(channel, {
        is: 'request',
        versions: protocol.versions,
        id,
        from: this.processId,
        kind,
        body: request,
      })
        .then((reached) => {
          receivers = reached
          endIfAllDeclined()
        })
        .catch((error: unknown) => {
          report('bus_request_failed', error, { kind })
          end({ kind: 'silent' })
        })
    })
  }

  async #send(channel: string, request: Envelope): Promise<number> {
    return this.#options.pubSub.send(channel, bytesOf(request))
  }

  #receive(bytes: Buffer): void {
    const envelope = readEnvelope(bytes)
    switch (envelope?.is) {
      case undefined:
        return this.#reportOnce('bus_message_unreadable', {})
      case 'request': {
        const answering = this.#serve(envelope).finally(() => this.#answering.delete(answering))
        return void this.#answering.add(answering)
      }
      case 'answer':
        return this.#waiting.get(envelope.id)?.answered(envelope)
      case 'failure':
        return this.#waiting.get(envelope.id)?.failed(envelope.error)
      case 'declined':
        return this.#waiting.get(envelope.id)?.declined(envelope.reason)
    }
  }

  async #serve(request: RequestEnvelope): Promise<void> {
    const { from, kind } = request
    const reply = await this.#replyTo(request)
    if (reply === null) return
    try {
      // Whether the asker is still there changes nothing.
      await this.#options.pubSub.publish(CHANNEL.process(from), bytesOf(reply))
    } catch (error) {
      this.#options.report('bus_answer_failed', error, { kind })
    }
  }

  async #replyTo({ versions, id, from, kind, body }: RequestEnvelope): Promise<Envelope | null> {
    const { protocol, report } = this.#options
    const decline = (reason: string): Envelope => ({ is: 'declined', id, reason })
    if (!overlap(versions, protocol.versions)) return decline('version')
    const server = this.#servers.get(kind)
    if (server === undefined) return decline('kind')
    try {
      const answering = server(body, from)
      if (answering === null) return decline('body')
      const answer = await answering
      return answer === undefined ? null : { is: 'answer', versions: protocol.versions, id, body: answer }
    } catch (error) {
      report('bus_serve_failed', error, { kind })
      return { is: 'failure', id, error: error instanceof Error ? error.message : String(error) }
    }
  }

  /** During a release a peer of another version can send thousands of such messages: each case is reported once. */
  #reportOnce(event: string, facts: Readonly<Record<string, string>>): void {
    const name = [event, ...Object.values(facts)].join(' ')
    if (this.#reported.has(name)) return
    this.#reported.add(name)
    this.#options.report(event, new Error('a message from another process cannot be read'), facts)
  }
}

function bytesOf(envelope: Envelope): Buffer {
  const message = Buffer.from(JSON.stringify(envelope))
  if (message.length > MESSAGE_BYTES_MAX) throw new Error(`a message of ${message.length} bytes`)
  return message
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
