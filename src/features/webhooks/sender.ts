/**
 * Tells webhooks what happens, apart from everything else: it reads what is committed, and nothing waits for it. A
 * webhook is told in order, one batch after the other, and a failing one holds up no other.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS, type World } from '../../../actors/kernel/world.ts'
import { type EventStream, isBeyond, type StreamEvent } from '../../../db/event-stream.ts'
import type { Claimed, Planned, Webhooks } from './store.ts'
import type { Report } from '../../../rooms/report.ts'
import type { Post } from './post.ts'
import { secretDigest } from './secret.ts'
import { signedHeaders } from './sign.ts'

/** Events in one request. May grow and never shrink: what was noted to be sent must fit. */
const BATCH_MAX = 100
/** Webhooks that a process works at a time: as many as there may be, so that none waits for a stalled one. */
const TOGETHER_MAX = 10
/** Pause while nothing is due. A prime, so that processes do not fall into step. */
const IDLE_MS = 503
const AWAY_MS = 997
const RETRY_MS = 2 * SECOND_MS
const RETRY_MAX_MS = 15 * MINUTE_MS
const DISABLE_MS = 72 * HOUR_MS

export interface SenderOptions {
  readonly webhooks: Pick<Webhooks, 'areActive' | 'claim' | 'plan' | 'passed' | 'failed'>
  readonly stream: Pick<EventStream, 'sweep' | 'after' | 'beyondGap'>
  /** An event as it is sent: the same every time. */
  readonly render: (event: StreamEvent) => { readonly type: string; readonly at: string }
  readonly secretOf: (webhook: string) => Buffer
  readonly send: (post: Post) => Promise<number>
  readonly world: Pick<World, 'now' | 'newId' | 'randomInt'>
  readonly report: Report
  /** The first wait after a failure; it doubles with each. */
  readonly retryMs?: number
}

export class WebhookSender {
  readonly #options: SenderOptions
  readonly #working = new Set<Promise<void>>()
  #running: Promise<void> | null = null
  #stopped = false
  #wake: () => void = () => undefined

  constructor(options: SenderOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Begins nothing more, and waits for what is under way. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#running
    await Promise.all(this.#working)
  }

  /** Takes what is due and tells it, until nothing is. */
  async drain(): Promise<void> {
    for (;;) {
      await this.#options.stream.sweep()
      const claimed = await this.#options.webhooks.claim()
      if (claimed === null) return
      await this.#tell(claimed)
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        await this.#look()
        await this.#pause(IDLE_MS)
      } catch (error) {
        this.#options.report('webhooks_read_failed', error)
        await this.#pause(AWAY_MS)
      }
    }
  }

  async #look(): Promise<void> {
    const { webhooks, stream, report } = this.#options
    if (!(await webhooks.areActive())) return
    await stream.sweep()
    while (!this.#stopped && this.#working.size < TOGETHER_MAX) {
      const claimed = await webhooks.claim()
      if (claimed === null) return
      const work = this.#tell(claimed)
        .catch((error: unknown) => report('webhook_not_worked', error, { webhook: claimed.id }))
        .finally(() => {
          this.#working.delete(work)
          this.#wake()
        })
      this.#working.add(work)
    }
  }

  /** One batch: noted, sent, and passed only when the receiver has said that it has it. */
  async #tell(claimed: Claimed): Promise<void> {
    const { webhooks, stream, render, world } = this.#options
    const { place, types } = claimed
    const read = await stream.after(place, BATCH_MAX)
    const last = read.at(-1)
    const until = claimed.planned?.until ?? last?.after
    if (until === undefined) {
      await webhooks.passed(claimed, await stream.beyondGap(place), false)
      return
    }
    // The stream before a place never changes, so a repetition has what was noted.
    const told = read
      .filter(({ after }) => !isBeyond(after, until))
      .map(render)
      .filter(({ type }) => types.length === 0 || types.includes(type))
    const newest = told.at(-1)
    if (newest === undefined) {
      await webhooks.passed(claimed, until, false)
      return
    }
    const planned = claimed.planned ?? { id: world.newId(), until }
    if (claimed.planned === null && !(await webhooks.plan(claimed, planned))) return
    const body = JSON.stringify({ type: 'touchline.events', timestamp: newest.at, data: { events: told } })
    await this.#deliver(claimed, planned, body)
  }

  async #deliver(claimed: Claimed, planned: Planned, body: string): Promise<void> {
    const { webhooks, world, report, retryMs = RETRY_MS } = this.#options
    const problem = await this.#attempt(claimed, planned.id, body)
    if (problem === null) {
      await webhooks.passed(claimed, planned.until, true)
      return
    }
    const wait = Math.min(RETRY_MAX_MS, retryMs * 2 ** Math.min(claimed.attempts, 20))
    // Between half of it and all of it, so that receivers that failed together are not asked together.
    const jittered = wait / 2 + world.randomInt(Math.ceil(wait / 2) + 1)
    const isDisabled = await webhooks.failed(claimed, { error: problem, retryMs: jittered, disableMs: DISABLE_MS })
    if (isDisabled) report('webhook_disabled', new Error(problem), { webhook: claimed.id })
  }

  /** Why it has not arrived; null if it has. */
  async #attempt({ id, url, secretDigest: known }: Claimed, messageId: string, body: string): Promise<string | null> {
    const secret = this.#options.secretOf(id)
    if (secretDigest(secret) !== known) return 'REG_TICKET_SECRET has changed, and with it the secret: create it anew'
    try {
      const headers = signedHeaders(secret, { id: `msg_${messageId}`, body, at: this.#options.world.now() })
      const status = await this.#options.send({ url, headers, body })
      return status >= 200 && status < 300 ? null : `answered ${status}`
    } catch (error) {
      return error instanceof Error ? error.message || error.name : String(error)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
      if (this.#stopped) this.#wake()
    })
  }
}
