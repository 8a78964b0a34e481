/** Web push: the browsers of users, and the sender, which works in every process with the API. */
import { Pushes } from '../../db/pushes.ts'
import { vapidKeys } from '../push/vapid.ts'
import { PushSender } from '../push/sender.ts'
import { Poster } from '../webhooks/post.ts'
import type { HttpDeps } from '../http/ports.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { Observation } from './observation.ts'
import type { Stores } from './stores.ts'

const TIMEOUT_MS = 5_000
/** Named to push services where the operator has no address for reports. */
const NOBODY = 'mailto:operator@touchline.invalid'

interface PushParts {
  readonly stores: Stores
  readonly accounts: Accounts
  readonly observation: Observation
}

export interface PushSide {
  readonly port: HttpDeps['push']
  readonly sender: PushSender
}

export function buildPush({ config, world }: Base, { stores, accounts, observation }: PushParts): PushSide {
  const pushes = new Pushes(stores.db, world)
  const keys = vapidKeys(accounts.ticketSecret)
  // A browser names the address, so it is as unsafe as that of a webhook.
  const poster = new Poster({ targets: config.webhookTargets, timeoutMs: TIMEOUT_MS })
  const sender = new PushSender({
    pushes,
    keys,
    contact: config.securityContact ?? NOBODY,
    send: (post) => poster.send(post),
    count: (outcome) => observation.measuring.pushed(outcome),
  })
  const port = {
    publicKey: keys.publicKey,
    problemOf: (url: URL) => poster.problemOf(url),
    list: (user) => pushes.list(user),
    subscribe: (user, target, kinds) => pushes.subscribe(user, target, kinds),
    unsubscribe: (user, id) => pushes.unsubscribe(user, id),
  } satisfies HttpDeps['push']
  return { port, sender }
}
