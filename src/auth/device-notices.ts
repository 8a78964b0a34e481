/** Tells users by mail of a sign-in from a device that none of their other sessions came from. */
import type { UserId } from '../../actors/kernel/ids.ts'
import { HOUR_MS, type World } from '../../actors/kernel/world.ts'
import type { Device } from '../../db/sessions.ts'
import type { User } from '../../db/users.ts'
import type { Log } from '../observe/log.ts'
import type { Mail, MailQueue } from './mail-queue.ts'

export interface DeviceNoticesOptions {
  readonly mail: Pick<MailQueue, 'post'>
  readonly users: { find(id: UserId): Promise<User | null> }
  /** Read each time, so that a changed setting takes effect at once. */
  readonly isOn: () => boolean
  readonly world: Pick<World, 'now'>
  readonly log: Log
}

/** Later than this the news is of no use. */
const SENT_WITHIN_MS = HOUR_MS
/** Synthetic users have addresses that cannot exist. */
const NO_MAILBOX = /@synthetic\.invalid$/

/** A function that returns at once: the sign-in does not wait for it, and does not fail with it. */
export function createDeviceNotices(options: DeviceNoticesOptions): (user: UserId, device: Device) => void {
  const { mail, users, isOn, world, log } = options
  const send = async (id: UserId, device: Device): Promise<void> => {
    const user = await users.find(id)
    if (user === null || NO_MAILBOX.test(user.email)) return
    mail.post({ to: user.email, ...noticeOf(device, new Date(world.now())), before: world.now() + SENT_WITHIN_MS })
  }
  return (user, device) => {
    if (isOn()) send(user, device).catch((error: unknown) => log.warn('device_notice_failed', { userId: user, error }))
  }
}

const noticeOf = ({ userAgent, addressPrefix }: Device, at: Date): Pick<Mail, 'subject' | 'text'> => ({
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
