/** Users, and how they sign in: sessions with their tokens, registration, the identity provider, outgoing mail. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SessionId, UserId } from '../../actors/kernel/ids.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { installationOf } from '../../db/installation.ts'
import { OneTime } from '../../db/one-time.ts'
import type { Reranker } from '../../db/board-changes.ts'
import { Deletions, type Eraser } from '../../db/deletions.ts'
import { Departed } from '../../db/departed.ts'
import { Registrations } from '../../db/registrations.ts'
import { EndedSessions } from '../../db/ended-sessions.ts'
import type { AuditLog } from '../../db/audit-log.ts'
import { PersonalKeys as KeyRows } from '../../db/personal-keys.ts'
import { Sessions } from '../../db/sessions.ts'
import { UserList } from '../../db/user-list.ts'
import { Users } from '../../db/users.ts'
import { createAccountMails, type AccountMails } from '../auth/account-mails.ts'
import { createIdentityProvider } from '../auth/identity.ts'
import { loadOrCreateKeys, loadOrCreateSecret, type SigningKeys } from '../auth/keys.ts'
import { MailQueue } from '../auth/mail-queue.ts'
import { outboxMailer, smtpMailer } from '../auth/mail.ts'
import { createOneTimeCodes } from '../auth/one-time-codes.ts'
import { createPersonalKeys, type PersonalKeys } from '../auth/personal-keys.ts'
import { createSessions, type Sessions as AuthSessions, type SessionsOptions } from '../auth/sessions.ts'
import { SecurityEvents } from '../auth/security-events.ts'
import { createSignIn, type SignIn } from '../auth/sign-in.ts'
import { createTickets } from '../auth/tickets.ts'
import { createTokens } from '../auth/tokens.ts'
import type { Base } from './base.ts'
import type { Market } from './market.ts'
import type { Observation } from './observation.ts'
import type { Stores } from './stores.ts'

export interface Accounts {
  readonly users: Users
  readonly userList: UserList
  readonly registrations: Registrations
  readonly sessions: AuthSessions
  readonly keys: PersonalKeys
  /** Signs tokens; the key of tapes is derived from it. */
  readonly signing: SigningKeys
  /** Signs tickets; the secrets of webhooks are derived from it. */
  readonly ticketSecret: string
  readonly signIn: SignIn
  readonly security: SecurityEvents
  readonly deletions: Deletions
  readonly mails: AccountMails
}

export async function openAccounts(base: Base, parts: AccountParts): Promise<Accounts> {
  const { config, world } = base
  const { stores, market, observation, erasers, rerankers } = parts
  const { settings } = market
  const security = watchDoors(base, market, observation)
  const secret = config.ticket.secret?.reveal() ?? (await loadOrCreateSecret(config.dataDir, () => world.secret(32)))
  const departed = new Departed(secret)
  const graceDays = () => settings.value('privacy.deletion_grace_days')
  const ended = await openEndedSessions(base, stores)
  const deletions = new Deletions({
    db: stores.db,
    world,
    audit: market.audit,
    departed,
    ended,
    graceDays,
    erasers,
    rerankers,
  })
  const users = new Users(stores.db, world, config.adminEmails, { departed, deletions })
  await users.applyAdminEmails()
  const registrations = new Registrations(stores.db, world, config.adminEmails, {
    departed,
    deletions,
    perNetworkDay: () => settings.value('auth.registrations_per_network_day'),
    onCrowd: (network) => security.crowdRegistered(network),
  })
  const mail = openMail(base, observation)
  const isOn = (): boolean => settings.value('auth.new_device_mail')
  const mails = createAccountMails({ mail, users, isOn, world, log: base.log })
  return {
    users,
    userList: new UserList(stores.db, market.audit, world, {
      reads: stores.connection.reads,
      cache: stores.walletCache,
      rerankers,
      adminEmails: config.adminEmails,
    }),
    registrations,
    ticketSecret: secret,
    ...(await openSessions(base, stores, {
      audit: market.audit,
      maxDays: () => settings.value('auth.session_max_days'),
      onReuse: (user) => security.tokenReused(user),
      mails,
      deletions,
      ended,
      rerankers,
    })),
    signIn: await openSignIn(base, stores, { people: registrations, mail, secret }),
    security,
    deletions,
    mails,
  }
}

interface AccountParts {
  /** What features hold of a person. */
  readonly erasers: readonly Eraser[]
  /** What features rank. */
  readonly rerankers: readonly Reranker[]
  readonly stores: Stores
  readonly market: Market
  readonly observation: Observation
}

function watchDoors({ world, lifecycle }: Base, { audit }: Market, { measuring }: Observation): SecurityEvents {
  const security = new SecurityEvents({ audit, clock: world.steady, onSignIn: measuring.signIn })
  lifecycle.add({ name: 'security-events', kind: 'store', stop: () => security.flush() })
  return security
}

interface SessionPolicy {
  readonly audit: AuditLog
  readonly maxDays: () => number
  readonly mails: AccountMails
  readonly onReuse: SessionsOptions['onReuse']
  readonly deletions: Deletions
  readonly ended: EndedSessions
  readonly rerankers: readonly Reranker[]
}

async function openEndedSessions({ config: { jwt }, world }: Base, { db, askFast }: Stores): Promise<EndedSessions> {
  // By a clock that was put back a token counts for up to twice its life; a key that was looked up, for a minute.
  const tokenLifeMs = Math.max(2 * jwt.accessSecs, 2 * jwt.wsSecs, 60) * SECOND_MS
  const ended = new EndedSessions({ db, ask: askFast, installation: await installationOf(db), world, tokenLifeMs })
  await ended.look()
  return ended
}

/** Tokens and keys, and the sessions behind them. */
async function openSessions(
  { config, world, log }: Base,
  { db }: Stores,
  { audit, maxDays, mails, onReuse, deletions, ended, rerankers }: SessionPolicy,
): Promise<Pick<Accounts, 'sessions' | 'keys' | 'signing'>> {
  const { jwt, dataDir } = config
  const keep = (user: UserId, session: SessionId) => deletions.cancel(user, session)
  const sessionLifeMs = jwt.refreshSecs * SECOND_MS
  const rows = new Sessions({ db, ended, world, sessionLifeMs, maxDays, keep })
  const privateKeyPem = jwt.privateKeyPem?.reveal() ?? null
  const signing = await loadOrCreateKeys({ ...jwt, dataDir, privateKeyPem })
  const tokens = createTokens({ keys: signing, lifetimes: jwt, world })
  const onNewDevice = mails.newDevice
  const keyRows = new KeyRows({ db, ended, audit, world, rerankers })
  return {
    signing,
    sessions: createSessions({ tokens, rows, ended, onNewDevice, onReuse, log }),
    keys: createPersonalKeys({ rows: keyRows, ended, world, onCreated: mails.newKey }),
  }
}

async function openSignIn(
  base: Base,
  { db }: Stores,
  { people, mail, secret }: { readonly people: Registrations; readonly mail: MailQueue; readonly secret: string },
): Promise<SignIn> {
  const { config, world, log } = base
  const { ticket, identity } = config
  const store = new OneTime(db, world, ticket.ttlSecs * SECOND_MS)
  return createSignIn({
    identities: createIdentityProvider({ ...identity, world, log }),
    once: store,
    tickets: createTickets({ secret, ttlSecs: ticket.ttlSecs, world }),
    codes: createOneTimeCodes({ store, secret, world, post: (each) => mail.post(each) }),
    people,
  })
}

/** Sends mail to the configured server, or appends it to a file. */
function openMail({ config, world, log, lifecycle }: Base, { measuring }: Observation): MailQueue {
  const { mail, dataDir, production: demandsTls } = config
  const smtp = mail.smtpUrl === null ? null : smtpMailer({ url: mail.smtpUrl.reveal(), from: mail.from, demandsTls })
  if (smtp !== null) lifecycle.add({ name: 'mail-server', kind: 'store', stop: () => smtp.close() })
  const send = smtp?.send ?? outboxMailer({ dataDir, world, log })
  const queue = new MailQueue({
    send,
    clock: world.steady,
    log,
    onDropped: measuring.mailDropped,
    pause: (ms, signal) => pause(ms, undefined, { signal }),
  })
  lifecycle.add({ name: 'mail-queue', kind: 'store', stop: () => queue.stop() })
  return queue
}
