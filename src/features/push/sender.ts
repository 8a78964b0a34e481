/**
 * Sends push messages: some at a time, off the way of every trade. What a push service does not take is tried again.
 */
import webpush from 'web-push'
import type { Push, Pushes } from './store.ts'
import type { VapidKeys } from './vapid.ts'

/** Sends a request, and returns the status of the answer. Throws when there is none. */
export type SendPush = (post: {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}) => Promise<number>

export interface PushSenderOptions {
  readonly pushes: Pick<Pushes, 'claim' | 'forget' | 'forgetBrowsers'>
  readonly keys: VapidKeys
  /** Where push services reach the operator: `mailto:` or `https:`. */
  readonly contact: string
  readonly send: SendPush
  readonly count: (outcome: 'sent' | 'gone' | 'refused' | 'failed') => void
}

const TOGETHER = 50
/** Push services keep a message for a browser that is offline for so long. */
const TTL_SECS = 15 * 60
/** The browser has unsubscribed, or registered with other keys. */
const GONE: ReadonlySet<number> = new Set([401, 403, 404, 410])

export class PushSender {
  readonly #options: PushSenderOptions

  constructor(options: PushSenderOptions) {
    this.#options = options
  }

  /** Sends what waits. Rejects with a fault of the database. */
  async run(): Promise<void> {
    const { pushes, count } = this.#options
    for (;;) {
      const claimed = await pushes.claim(TOGETHER)
      if (claimed.length === 0) return
      const outcomes = await Promise.all(claimed.map(async (push) => ({ push, outcome: await this.#send(push) })))
      for (const { outcome } of outcomes) count(outcome)
      const of = (wanted: string): Push[] => outcomes.flatMap(({ push, outcome }) => (outcome === wanted ? [push] : []))
      await pushes.forgetBrowsers(of('gone').map(({ subscription }) => subscription))
      await pushes.forget([...of('sent'), ...of('refused')])
      if (claimed.length < TOGETHER) return
    }
  }

  async #send(push: Push): Promise<'sent' | 'gone' | 'refused' | 'failed'> {
    try {
      const status = await this.#options.send(this.#requestFor(push))
      if (status >= 200 && status < 300) return 'sent'
      if (GONE.has(status)) return 'gone'
      return status === 429 || status >= 500 ? 'failed' : 'refused'
    } catch {
      return 'failed'
    }
  }

  #requestFor({ target, title, body, data }: Push) {
    const { keys, contact } = this.#options
    const { endpoint, p256dh, auth } = target
    const text = JSON.stringify({ title, body, open: 'positionId' in data ? '/#/positions' : '/#/inbox' })
    const request = webpush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
      vapidDetails: { subject: contact, ...keys },
      TTL: TTL_SECS,
      urgency: 'high',
    })
    const { 'Content-Length': _, ...headers } = request.headers
    return { url: endpoint, headers, body: new Uint8Array(request.body) }
  }
}
