/** Webhooks: the sender, which works in every process, and the desk of operators. */
import type { EventStream } from '../../db/event-stream.ts'
import { Webhooks } from '../../db/webhooks.ts'
import { eventJson } from '../http/event-lines.ts'
import { WebhookDesk } from '../webhooks/desk.ts'
import { Poster } from '../webhooks/post.ts'
import { webhookSecrets } from '../webhooks/secret.ts'
import { WebhookSender } from '../webhooks/sender.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { Market } from './market.ts'
import type { Stores } from './stores.ts'

const TIMEOUT_MS = 10_000

interface WebhookParts {
  readonly stores: Stores
  readonly accounts: Accounts
  readonly market: Market
  readonly stream: EventStream
}

export function addWebhooks({ config, world, report, lifecycle }: Base, parts: WebhookParts): WebhookDesk {
  const { stores, accounts, market, stream } = parts
  const { audit } = market
  const webhooks = new Webhooks({ db: stores.db, audit, world })
  const poster = new Poster({ targets: config.webhookTargets, timeoutMs: TIMEOUT_MS })
  const secretOf = webhookSecrets(accounts.ticketSecret)
  const send: Poster['send'] = (post) => poster.send(post)
  const sender = new WebhookSender({ webhooks, stream, render: eventJson, secretOf, send, world, report })
  lifecycle.add({
    name: 'webhooks',
    kind: 'worker',
    start: () => sender.start(),
    stop: async () => {
      const stopped = sender.stop()
      // What is cut off is sent again under its id, by another process or by this one when it is back.
      poster.close()
      await stopped
    },
  })
  return new WebhookDesk({ webhooks, stream, poster, secretOf, audit, world })
}
