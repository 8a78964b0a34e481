/** Webhooks: addresses of operators that are told what happens. Nothing waits for a receiver. */
import { eventJson } from '../../http/event-lines.ts'
import type { Feature, Host, Opened } from '../feature.ts'
import { WebhookDesk } from './desk.ts'
import { webhookErrors } from './errors.ts'
import { Poster } from './post.ts'
import { adminWebhooks, type WebhookPorts } from './routes.ts'
import { webhookSecrets } from './secret.ts'
import { WebhookSender } from './sender.ts'
import { Webhooks } from './store.ts'

const TIMEOUT_MS = 10_000

export const webhookApi = (ports: WebhookPorts): Opened => ({
  routes: [(_deps, gates) => adminWebhooks(ports, gates)],
})

/** Starts the sender with the process, and returns the desk. */
function openDesk({
  config,
  world,
  report,
  lifecycle,
  stores,
  accounts,
  market: { audit },
  stream,
}: Host): WebhookDesk {
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

export const webhooks: Feature = {
  name: 'webhooks',
  errors: webhookErrors.table,
  things: ['webhook'],
  notExported: { webhooks: 'where operators are told what happens; the audit log has who' },
  open: (host) => webhookApi({ webhooks: openDesk(host) }),
}
