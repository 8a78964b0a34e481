/**
 * Sends push messages off the way of every trade, one at a time to each browser, and in turns between users. A browser
 * that fails is left alone for a while, and so is a push service: neither keeps messages of others waiting.
 */
import { Breaker, type BreakerOptions } from './breaker.ts'
import type { Push, Pushes } from './store.ts'
import type { VapidKeys } from './vapid.ts'

/** Sends a request, and returns the status of the answer. Throws when there is none. */
export type SendPush = (post: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}) => Promise<number>

/**
 * `gone`: the browser has unsubscribed. `refused`: it will never take this message. `unauthorized`: the push service
 * does not accept this server, which is no fault of the browser. `held`: not tried, because the last attempts failed.
 * `late`: not sent in time.
 */
export type PushOutcome = 'sent' | 'gone' | 'refused' | 'unauthorized' | 'failed' | 'held' | 'late'

export interface PushSenderOptions {
  readonly pushes: Pick<Pushes, 'claim' | 'forget' | 'forgetBrowsers' | 'forgetEnded' | 'forgetLate' | 'putOff'>
  readonly keys: VapidKeys
  /** Where push services reach the operator: `mailto:` or `https:`. */
  readonly contact: string
  readonly send: SendPush
  readonly count: (outcome: PushOutcome, messages: number) => void
  readonly report: (event: string, error: unknown, facts: Readonly<Record<string, unknown>>) => void
  readonly world: BreakerOptions['world']
}

/** Messages under way: all browsers of ten users, as many as may hang before their push service is left alone. */
export const TOGETHER = 100
/** How long push services keep a message for a browser that is offline. */
const TTL_SECS = 15 * 60
const GONE: ReadonlySet<number> = new Set([404, 410])
const UNAUTHORIZED: ReadonlySet<number> = new Set([401, 403])
/** Failures in a row of users of one push service; of one browser, the first counts. */
const OF_HOST = 10

export class PushSender {
  readonly #options: PushSenderOptions
  readonly #browsers: Breaker
  readonly #hosts: Breaker
  /** Messages under way, by browser. */
  readonly #underWay = new Map<string, Promise<void>>()
  #isStopped = false

  constructor(options: PushSenderOptions) {
    this.#options = options
    this.#browsers = new Breaker({ ...options, failures: 1 })
    this.#hosts = new Breaker({ ...options, failures: OF_HOST })
  }

  /**
   * Sends what waits, as places for it become free, and returns when all of it is under way. Rejects with a fault of
   * the database. A message whose sender dies is sent by another process half a minute later.
   */
  async run(): Promise<void> {
    const { pushes, count } = this.#options
    await pushes.forgetEnded()
    count('late', await pushes.forgetLate())
    while (!this.#isStopped) {
      const free = TOGETHER - this.#underWay.size
      const claimed = free === 0 ? [] : await pushes.claim(free, [...this.#underWay.keys()])
      // Behind these are more, and fresh ones after them.
      if (claimed.length > 0 && claimed.every(({ isLate }) => isLate)) {
        count('late', await pushes.forgetLate())
        continue
      }
      for (const push of claimed) this.#begin(push)
      if (free > 0 && claimed.length === 0) return
      await Promise.race(this.#underWay.values())
    }
  }

  /** Claims no more. What is cut off meanwhile is sent by another process, half a minute later. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.settled()
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay.values())
  }

  #begin(push: Push): void {
    const { report } = this.#options
    const work = this.#deliver(push)
      .catch((error: unknown) => report('push_not_noted', error, { notification: push.notification }))
      .finally(() => this.#underWay.delete(push.subscription))
    this.#underWay.set(push.subscription, work)
  }

  async #deliver(push: Push): Promise<void> {
    const { pushes, count } = this.#options
    const { endpoint } = push.target
    const host = new URL(endpoint).host
    const outcome = await this.#outcomeOf(push, host)
    if (outcome === 'failed' && this.#isStopped) return // no fault of the browser, or of its push service
    count(outcome, 1)
    if (outcome === 'sent' || outcome === 'refused' || outcome === 'late') return pushes.forget([push])
    if (outcome === 'gone') return pushes.forgetBrowsers([push.subscription])
    await pushes.putOff(push.subscription, this.#heldMs(endpoint, host))
  }

  async #outcomeOf(push: Push, host: string): Promise<PushOutcome> {
    if (push.isLate) return 'late'
    return this.#heldMs(push.target.endpoint, host) === 0 ? this.#send(push, host) : 'held'
  }

  #heldMs(endpoint: string, host: string): number {
    return Math.max(this.#browsers.heldMs(endpoint), this.#hosts.heldMs(host))
  }

  async #send(push: Push, host: string): Promise<PushOutcome> {
    const { endpoint } = push.target
    const request = await this.#requestFor(push)
    if (request === null) return 'refused'
    const status = await this.#options.send(request).catch(() => null)
    const outcome = outcomeOf(status)
    if (outcome === 'failed' || outcome === 'unauthorized') {
      this.#browsers.failed(endpoint, push.userId)
      // A browser that subscribed at another server is refused for ever, and says nothing of its push service.
      if (outcome === 'failed') this.#hosts.failed(host, push.userId)
    } else {
      this.#browsers.succeeded(endpoint)
      this.#hosts.succeeded(host)
    }
    if (outcome === 'unauthorized') {
      this.#options.report('push_unauthorized', new Error(`${host} answered ${status}`), { host })
    }
    return outcome
  }

  /** Null for a browser whose keys nothing can be encrypted for. */
  async #requestFor({ notification, target, title, body, data }: Push) {
    const { keys, contact } = this.#options
    const { endpoint, p256dh, auth } = target
    const open = 'positionId' in data ? '/#/positions' : '/#/inbox'
    const text = JSON.stringify({ id: String(notification), title, body, open })
    const { default: webpush } = await import('web-push')
    try {
      const request = webpush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
        vapidDetails: { subject: contact, ...keys },
        TTL: TTL_SECS,
        urgency: 'high',
      })
      const { 'Content-Length': _, ...headers } = request.headers
      return { url: endpoint, headers, body: new Uint8Array(request.body) }
    } catch {
      return null
    }
  }
}

function outcomeOf(status: number | null): PushOutcome {
  if (status === null || status === 429 || status >= 500) return 'failed'
  if (status >= 200 && status < 300) return 'sent'
  if (GONE.has(status)) return 'gone'
  return UNAUTHORIZED.has(status) ? 'unauthorized' : 'refused'
}
