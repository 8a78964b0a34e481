/** Users, and how they sign in: sessions with their tokens, registration, the identity provider, outgoing mail. */
import { setTimeout as pause } from 'node:timers/promises'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { OneTime } from '../../db/one-time.ts'
import { Registrations } from '../../db/registrations.ts'
import { Sessions } from '../../db/sessions.ts'
import { Users } from '../../db/users.ts'
import { createIdentityProvider } from '../auth/identity.ts'
import { loadOrCreateKeys, loadOrCreateSecret } from '../auth/keys.ts'
import { MailQueue } from '../auth/mail-queue.ts'
import { outboxMailer, smtpMailer } from '../auth/mail.ts'
import { createOneTimeCodes } from '../auth/one-time-codes.ts'
import { createSessions, type Sessions as AuthSessions } from '../auth/sessions.ts'
import { createSignIn, type SignIn } from '../auth/sign-in.ts'
import { createTickets } from '../auth/tickets.ts'
import { createTokens } from '../auth/tokens.ts'
import type { Base } from './base.ts'
import type { Stores } from './stores.ts'

export interface Accounts {
  readonly users: Users
  readonly registrations: Registrations
  readonly sessions: AuthSessions
  readonly signIn: SignIn
}

export async function openAccounts(base: Base, stores: Stores): Promise<Accounts> {
  const { config, world } = base
  const users = new Users(stores.db, world, config.adminEmails)
  await users.promoteAdmins()
  const registrations = new Registrations(stores.db, world, config.adminEmails)
  return {
    users,
    registrations,
    sessions: await openSessions(base, stores),
    signIn: await openSignIn(base, stores, registrations),
  }
}

/**
 * Tokens and the sessions behind them. A fast store that may have forgotten recently ended sessions is sent them again.
 */
async function openSessions({ config, world, log }: Base, { db, askFast }: Stores): Promise<AuthSessions> {
  const { jwt, dataDir } = config
  const rows = new Sessions({
    db,
    ask: askFast,
    world,
    tokenLifeMs: Math.max(jwt.accessSecs, jwt.wsSecs) * SECOND_MS,
    sessionLifeMs: jwt.refreshSecs * SECOND_MS,
  })
  await rows.recall()
  const tokens = createTokens({ keys: await loadOrCreateKeys({ dataDir, ...jwt }), lifetimes: jwt, world })
  return createSessions({ tokens, rows, log })
}

async function openSignIn(base: Base, { fast }: Stores, people: Registrations): Promise<SignIn> {
  const { config, world, log } = base
  const { ticket, dataDir, identity } = config
  const mail = openMail(base)
  const secret = ticket.secret ?? (await loadOrCreateSecret(dataDir, () => world.secret(32)))
  const store = new OneTime(fast, ticket.ttlSecs * SECOND_MS)
  return createSignIn({
    identities: createIdentityProvider({ ...identity, world, log }),
    nonces: store,
    tickets: createTickets({ secret, ttlSecs: ticket.ttlSecs, world }),
    codes: createOneTimeCodes({ store, secret, world, post: (each) => mail.post(each) }),
    people,
  })
}

/** Sends mail to the configured server, or appends it to a file. */
function openMail({ config, world, log, lifecycle }: Base): MailQueue {
  const { mail, dataDir } = config
  const smtp = mail.smtpUrl === null ? null : smtpMailer({ url: mail.smtpUrl, from: mail.from })
  if (smtp !== null) lifecycle.add({ name: 'mail-server', kind: 'store', stop: () => smtp.close() })
  const send = smtp?.send ?? outboxMailer({ dataDir, world, log })
  const queue = new MailQueue({ send, world, log, pause: (ms, signal) => pause(ms, undefined, { signal }) })
  lifecycle.add({ name: 'mail-queue', kind: 'store', stop: () => queue.stop() })
  return queue
}
