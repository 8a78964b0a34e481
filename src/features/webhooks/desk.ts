/** What operators do with webhooks: create, try, pause, resume and delete them. Every change is audited. */
import type { UserId } from '../../../actors/kernel/ids.ts'
import type { World } from '../../../actors/kernel/world.ts'
import type { AuditLog } from '../../../db/audit-log.ts'
import type { EventStream, StreamPlace } from '../../../db/event-stream.ts'
import { BEYOND_END } from '../../http/event-lines.ts'
import type { Webhook, Webhooks } from './store.ts'
import type { Poster } from './post.ts'
import { secretDigest, shownSecret } from './secret.ts'
import { signedHeaders } from './sign.ts'

interface WebhookOrder {
  readonly by: UserId
  readonly url: string
  /** None: all. */
  readonly types: readonly string[]
  /** Null: from now on. */
  readonly after: StreamPlace | null
}

export type WebhookCreation =
  | { readonly kind: 'created'; readonly webhook: Webhook; readonly secret: string }
  | { readonly kind: 'refused'; readonly field: 'url' | 'after'; readonly problem: string }
  | { readonly kind: 'full' }

/** What came of a test: the status of the answer, or why there was none. */
export interface WebhookTest {
  readonly status: number | null
  readonly error: string | null
}

export interface WebhookDeskOptions {
  readonly webhooks: Pick<Webhooks, 'create' | 'list' | 'find' | 'setState' | 'delete'>
  readonly stream: Pick<EventStream, 'sweep' | 'end' | 'isAhead'>
  readonly poster: Pick<Poster, 'send' | 'problemOf'>
  readonly secretOf: (webhook: string) => Buffer
  readonly audit: Pick<AuditLog, 'record'>
  readonly world: Pick<World, 'now' | 'newId'>
}

export class WebhookDesk {
  readonly #options: WebhookDeskOptions

  constructor(options: WebhookDeskOptions) {
    this.#options = options
  }

  list(): Promise<readonly Webhook[]> {
    return this.#options.webhooks.list()
  }

  async create({ by, url, types, after }: WebhookOrder): Promise<WebhookCreation> {
    const { webhooks, stream, poster, secretOf, world } = this.#options
    const problem = URL.canParse(url) ? poster.problemOf(new URL(url)) : 'must be an address'
    if (problem !== null) return { kind: 'refused', field: 'url', problem }
    await stream.sweep()
    if (after !== null && (await stream.isAhead(after))) {
      return { kind: 'refused', field: 'after', problem: BEYOND_END }
    }
    const id = world.newId()
    const secret = secretOf(id)
    const place = after ?? (await stream.end())
    const webhook = await webhooks.create({ id, by, url, types, place, secretDigest: secretDigest(secret) })
    return webhook === null ? { kind: 'full' } : { kind: 'created', webhook, secret: shownSecret(secret) }
  }

  setState(id: string, state: 'active' | 'paused', by: UserId): Promise<Webhook | null> {
    return this.#options.webhooks.setState(id, state, by)
  }

  delete(id: string, by: UserId, reason?: string): Promise<boolean> {
    return this.#options.webhooks.delete(id, by, reason)
  }

  /** Sends a message of the type `webhook.test`, once and beside all others. Null if there is no such webhook. */
  async test(id: string, by: UserId): Promise<WebhookTest | null> {
    const { webhooks, poster, secretOf, audit, world } = this.#options
    const webhook = await webhooks.find(id)
    if (webhook === null) return null
    const at = world.now()
    const body = JSON.stringify({ type: 'webhook.test', timestamp: new Date(at).toISOString(), data: {} })
    const headers = signedHeaders(secretOf(id), { id: `msg_${world.newId()}`, body, at })
    const result = await poster.send({ url: webhook.url, headers, body }).then(
      (status): WebhookTest => ({ status, error: null }),
      (error: unknown): WebhookTest => ({
        status: null,
        error: error instanceof Error ? error.message : String(error),
      }),
    )
    await audit.record({ actor: by, action: 'webhook.test', subject: id, before: null, after: { ...result } })
    return result
  }
}
