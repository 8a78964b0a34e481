/** Notifications: how many are unread, and a toast for each that arrives. */
import { signal } from '@preact/signals'
import type { Notification } from './client/wire.ts'
import { api } from './session.ts'
import { toast } from './toasts.ts'

export const unread = signal(0)
/** Counts arrivals, so that an open list knows when to look again. */
export const arrived = signal(0)

export async function refreshUnread(): Promise<void> {
  unread.value = (await api.unreadCount()).unreadCount
}

/** Takes over a message of the account stream that is no account event. */
export function takeNotice(notice: Readonly<Record<string, unknown>>): void {
  if (notice['type'] !== 'notification') return
  const { title, body } = notice['notification'] as Notification
  unread.value++
  arrived.value++
  toast({ tone: 'plain', title, text: body })
}
