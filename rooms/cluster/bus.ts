/**
 * Requests and messages between the processes of one installation, over a publish/subscribe it is given. A request has one
 * of three ends, and nothing on the way may turn one into another: it was answered, nobody was there to get it, or no word
 * came, which leaves open what happened. Messages without an answer may be lost, and nobody may count on them.
 */
import type { RequestEnds } from '../stats.ts'
import type { Report } from '../report.ts'

/** Publish/subscribe, as far as the bus needs it. */
export interface PubSub {
  /** Says how many subscribers it was handed to. Rejects when that cannot be known; then it may have arrived. */
  publish(channel: string, message: Buffer): Promise<number>
  /** Resolves when every message published from then on will arrive, in the order of one publisher. */
  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void>
  /** Messages that were handed over before it resolves still arrive. */
  unsubscribe(channel: string): Promise<void>
  /** Calls back whenever messages may have been missed. */
  onGap(listener: () => void): void
  close(): Promise<void>
}

/** One incarnation of a process. */
export type ProcessId = string

/** `gone`: nobody got it, so nothing has happened. `silent`: it may have happened. */
export type Reply = { readonly kind: 'answered'; readonly body: unknown } | { readonly kind: 'gone' | 'silent' }

export interface BusOptions {
  readonly pubSub: PubSub
  readonly processId: ProcessId
  readonly report: Report
}

/** Takes a request; what it resolves with is the answer. Undefined: it has nothing to say, another may answer. */
export type Serve = (body: unknown, from: ProcessId) => Promise<unknown>

type Envelope =
  | { readonly is: 'request'; readonly id: number; readonly from: ProcessId; readonly kind: string; body: unknown }
  | { readonly is: 'answer'; readonly id: number; readonly body: unknown }
  | { readonly is: 'failure'; readonly id: number; readonly error: string }

interface Waiting {
  readonly answer: (reply: Reply) => void
  readonly fail: (error: Error) => void
}

/** The owner of a match met a fault while it served a request: the database is away there, say. */
export class RemoteFault extends Error {
  override name = 'RemoteFault'
}

/** A message about prices may be large; everything else is small. More than this is a mistake, and refused. */
const MESSAGE_MAX = 1 << 20
/** Requests of one process that wait for an answer. Beyond it the others are too slow, and more would make it worse. */
const WAITING_MAX = 10_000

/** How long closing waits for answers that are being made. */
const LAST_ANSWERS_MS = 500

const CHANNEL = { process: (id: ProcessId) => `to:${id}`, group: (name: string) => `group:${name}` } as const

export class Bus {
  /** How the requests of this process have ended so far. */
  readonly ends: RequestEnds = { answered: 0, gone: 0, silent: 0, failed: 0 }
  readonly #options: BusOptions
  readonly #serving = new Map<string, Serve>()
  readonly #waiting = new Map<number, Waiting>()
  /** Where requests to this process come in. */
  readonly #channels = new Set<string>()
  /** Answers that are being made. */
  readonly #answering = new Set<Promise<void>>()
  #lastId = 0

  constructor(options: BusOptions) {
    this.#options = options
  }

  get processId(): ProcessId {
    return this.#options.processId
  }

  /** From now on requests reach this process. */
  async open(): Promise<void> {
    await this.#listen(CHANNEL.process(this.processId))
  }

  /** Answers requests of this kind, to this process or to a group that it has joined. */
  serve(kind: string, serve: Serve): void {
    this.#serving.set(kind, serve)
  }

  /** From now on requests to this group reach this process, too. */
  async join(group: string): Promise<void> {
    await this.#listen(CHANNEL.group(group))
  }

  /** Asks one process. Rejects with RemoteFault when it met a fault. */
  ask(process: ProcessId, kind: string, body: unknown, withinMs: number): Promise<Reply> {
    return this.#request(CHANNEL.process(process), { kind, body, withinMs })
  }

  /** Asks all of a group; the first to answer has answered. */
  askAny(group: string, kind: string, body: unknown, withinMs: number): Promise<Reply> {
    return this.#request(CHANNEL.group(group), { kind, body, withinMs })
  }

  /** Tells whoever listens to this topic. */
  tell(topic: string, message: Buffer): void {
    this.#options.pubSub
      .publish(`tell:${topic}`, message)
      .catch((error: unknown) => this.#options.report('bus_publish_failed', error, { topic }))
  }

  /** Hears what any process tells of this topic, this one included. */
  async hear(topic: string, onMessage: (message: Buffer) => void): Promise<void> {
    await this.#options.pubSub.subscribe(`tell:${topic}`, onMessage)
  }

  async unhear(topic: string): Promise<void> {
    await this.#options.pubSub.unsubscribe(`tell:${topic}`)
  }

  /** Calls back whenever something that was told may have been missed. */
  onGap(listener: () => void): void {
    this.#options.pubSub.onGap(listener)
  }

  /**
   * Whoever asks from now on learns that nobody is here, and whoever has asked gets his answer. Those in this process who
   * still wait hear nothing.
   */
  async close(): Promise<void> {
    const { pubSub } = this.#options
    await Promise.allSettled([...this.#channels].map((channel) => pubSub.unsubscribe(channel)))
    await Promise.race([Promise.allSettled(this.#answering), pause(LAST_ANSWERS_MS)])
    for (const { answer } of this.#waiting.values()) answer({ kind: 'silent' })
    this.#waiting.clear()
    await pubSub.close()
  }

  async #listen(channel: string): Promise<void> {
    this.#channels.add(channel)
    await this.#options.pubSub.subscribe(channel, (message) => this.#receive(message))
  }

  #request(
    channel: string,
    { kind, body, withinMs }: { readonly kind: string; readonly body: unknown; readonly withinMs: number },
  ): Promise<Reply> {
    if (this.#waiting.size >= WAITING_MAX) {
      this.ends.gone++
      return Promise.resolve({ kind: 'gone' })
    }
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(id)
      }
      const answer = (reply: Reply): void => {
        end()
        this.ends[reply.kind]++
        resolve(reply)
      }
      const fail = (error: Error): void => {
        end()
        this.ends.failed++
        reject(error)
      }
      const timer = setTimeout(() => answer({ kind: 'silent' }), withinMs)
      this.#waiting.set(id, { answer, fail })
      this.#send(channel, { is: 'request', id, from: this.processId, kind, body }).then(
        (receivers) => {
          if (receivers === 0) answer({ kind: 'gone' })
        },
        (error: unknown) => {
          this.#options.report('bus_request_failed', error, { kind })
          answer({ kind: 'silent' })
        },
      )
    })
  }

  #send(channel: string, envelope: Envelope): Promise<number> {
    const message = Buffer.from(JSON.stringify(envelope))
    if (message.length > MESSAGE_MAX) return Promise.reject(new Error(`a message of ${message.length} bytes`))
    return this.#options.pubSub.publish(channel, message)
  }

  #receive(message: Buffer): void {
    const envelope = JSON.parse(message.toString()) as Envelope
    switch (envelope.is) {
      case 'request': {
        const answering = this.#answer(envelope).finally(() => this.#answering.delete(answering))
        return void this.#answering.add(answering)
      }
      case 'answer':
        return this.#waiting.get(envelope.id)?.answer({ kind: 'answered', body: envelope.body })
      case 'failure':
        return this.#waiting.get(envelope.id)?.fail(new RemoteFault(envelope.error))
    }
  }

  /** A kind that nobody serves here (a newer release asks an older one) is left for the asker to give up on. */
  async #answer({ id, from, kind, body }: Extract<Envelope, { is: 'request' }>): Promise<void> {
    const serve = this.#serving.get(kind)
    if (serve === undefined) return
    const reply = await serve(body, from).then(
      (answer): Envelope | null => (answer === undefined ? null : { is: 'answer', id, body: answer }),
      (error: unknown): Envelope => {
        this.#options.report('bus_serve_failed', error, { kind })
        return { is: 'failure', id, error: error instanceof Error ? error.message : String(error) }
      },
    )
    if (reply === null) return
    await this.#send(CHANNEL.process(from), reply).catch((error: unknown) => {
      this.#options.report('bus_answer_failed', error, { kind })
    })
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
