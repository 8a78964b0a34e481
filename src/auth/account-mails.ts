/**
 * What users are told by mail about their account: a sign-in from a device that none of their other sessions came from,
 * a new key, and a deletion that was asked for.
 */
import type { UserId } from '../../actors/kernel/ids.ts'
import { HOUR_MS, type Instant, type World } from '../../actors/kernel/world.ts'
import type { Device } from '../../db/sessions.ts'
import type { User } from '../../db/users.ts'
import type { Log } from '../observe/log.ts'
import type { PersonalKey } from './personal-keys.ts'
import type { Mail, MailQueue } from './mail-queue.ts'

export interface AccountMailsOptions {
  readonly mail: Pick<MailQueue, 'post'>
  readonly users: { find(id: UserId): Promise<User | null> }
  /** Read each time, so that a changed setting takes effect at once. */
  readonly isOn: () => boolean
  readonly world: Pick<World, 'now' | 'steady'>
  readonly log: Log
}

/** Later than this the news is of no use. */
const SENT_WITHIN_MS = HOUR_MS
/** Synthetic users have addresses that cannot exist. */
const NO_MAILBOX = /@synthetic\.invalid$/

/** Functions that return at once: no request waits for a mail, or fails with it. */
export interface AccountMails {
  readonly newDevice: (user: UserId, device: Device) => void
  readonly newKey: (user: UserId, key: PersonalKey, addressPrefix: string) => void
  /** The account will be erased at this time, unless its user signs in before. */
  readonly leaving: (user: UserId, due: Instant) => void
}

export function createAccountMails(options: AccountMailsOptions): AccountMails {
  const { mail, users, isOn, world, log } = options
  const send = async (id: UserId, notice: Notice): Promise<void> => {
    const user = await users.find(id)
    if (user === null || NO_MAILBOX.test(user.email)) return
    mail.post({ to: user.email, ...notice, before: world.steady.now() + SENT_WITHIN_MS, isNotice: true })
  }
  const tell = (user: UserId, notice: Notice): void => {
    send(user, notice).catch((error: unknown) => log.warn('account_mail_failed', { userId: user, error }))
  }
  return {
    newDevice: (user, device) => {
      if (isOn()) tell(user, noticeOf(device, new Date(world.now())))
    },
    newKey: (user, key, addressPrefix) => tell(user, keyNotice(key, addressPrefix)),
    leaving: (user, due) => tell(user, leavingNotice(due)),
  }
}

type Notice = Pick<Mail, 'subject' | 'text'>

const keyNotice = ({ name, scopes, createdAt, expiresAt }: PersonalKey, addressPrefix: string): Notice => ({
  subject: 'New key on your Touchline account',
  text: [
    'A key for programs was created for your account.',
    '',
    `Name: ${name}`,
    `Allows: ${scopes.join(', ')}`,
    `Time: ${new Date(createdAt).toISOString()}`,
    `Expires: ${new Date(expiresAt).toISOString()}`,
    `Network: ${addressPrefix}`,
    '',
    'If this was you, ignore this mail. If not, secure the account that you sign in with, then open Touchline and sign',
    'out everywhere: that ends every key too.',
  ].join('\n'),
})

const noticeOf = ({ userAgent, addressPrefix }: Device, at: Date): Notice => ({
  subject: 'New sign-in to Touchline',
  text: [
    'There was a sign-in to your account from a new device.',
    '',
    `Time: ${at.toISOString()}`,
    `Device: ${userAgent ?? 'unknown'}`,
    `Network: ${addressPrefix}`,
    '',
    'If this was you, ignore this mail. If not, secure the account that you sign in with, then open Touchline and sign',
    'out everywhere.',
  ].join('\n'),
})

const leavingNotice = (due: Instant): Notice => ({
  subject: 'Your Touchline account will be deleted',
  text: [
    'You have asked us to delete your account. You are signed out everywhere.',
    '',
    `Erased: ${new Date(due).toISOString()}`,
    '',
    'To keep the account, sign in before then. If it was not you who asked, secure the account that you sign in with,',
    'then sign in to Touchline and sign out everywhere.',
  ].join('\n'),
})
