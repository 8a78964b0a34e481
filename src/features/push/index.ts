/** Web push: the browsers of users, and the sender, which works in every process with the API. */
import { ownRows } from '../../../db/data-export.ts'
import type { Feature, Opened } from '../feature.ts'
import { Poster } from '../webhooks/post.ts'
import { type PushPorts, pushSubscriptions } from './routes.ts'
import { PushSender, TOGETHER } from './sender.ts'
import { Pushes } from './store.ts'
import { vapidKeys } from './vapid.ts'

const TIMEOUT_MS = 5_000
/** Named to push services where the operator has no address for reports. */
const NOBODY = 'mailto:operator@touchline.invalid'

export const pushApi = (ports: PushPorts): Opened => ({
  routes: [(_deps, gates) => pushSubscriptions(ports, gates)],
})

export const push: Feature = {
  name: 'push',
  things: ['subscription'],
  exported: [
    {
      name: 'browsers',
      table: 'push_subscriptions',
      from: ownRows('push_subscriptions'),
      by: [['t.id', 'uuid']],
      without: ['p256dh', 'auth'],
    },
  ],
  erase: async (tx, user) => void (await tx.deleteFrom('push_subscriptions').where('user_id', '=', user).execute()),
  notExported: { push_outbox: 'work of the server: notifications that are on their way to browsers' },
  open: ({ config, world, report, lifecycle, stores, accounts, observation }) => {
    const pushes = new Pushes(stores.db, world)
    const keys = vapidKeys(accounts.ticketSecret)
    // A browser names the address, so it is as unsafe as that of a webhook.
    const poster = new Poster({ targets: config.webhookTargets, timeoutMs: TIMEOUT_MS, sockets: TOGETHER })
    const sender = new PushSender({
      pushes,
      keys,
      contact: config.securityContact ?? NOBODY,
      send: (post) => poster.send(post),
      count: observation.measuring.pushed,
      report,
      world,
    })
    lifecycle.add({
      name: 'push-sender',
      kind: 'worker',
      stop: async () => {
        const stopped = sender.stop()
        poster.close()
        await stopped
      },
    })
    const port: PushPorts['push'] = {
      publicKey: keys.publicKey,
      problemOf: (url) => poster.problemOf(url),
      list: (user) => pushes.list(user),
      subscribe: (...browser) => pushes.subscribe(...browser),
      unsubscribe: (user, id) => pushes.unsubscribe(user, id),
    }
    const task = { name: 'push', everyMs: 1_021, roles: ['api'], run: () => sender.run() } as const
    return { ...pushApi({ push: port }), tasks: [task] }
  },
}
