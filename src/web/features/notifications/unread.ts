/** Counts unread notifications and shows a toast for each one that arrives. */
import { signal } from '@preact/signals'
import type { Notification } from '../../client/wire.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { noticeWords } from './told.ts'

export const unread = signal(0)
/** Counts arrivals, so that an open list knows when to refresh. */
export const arrived = signal(0)

export async function refreshUnread(): Promise<void> {
  unread.value = (await api.unreadCount()).unreadCount
}

/** Told by the account events themselves. */
const TOLD: ReadonlySet<string> = new Set(['margin_warning', 'position_closed', 'fill_moved'])

/** Handles a message of the account stream that is not an account event. */
export function takeNotice(notice: Readonly<Record<string, unknown>>): void {
  if (notice['type'] !== 'notification') return
  const { type, title, body, data } = notice['notification'] as Notification
  unread.value++
  arrived.value++
  if (TOLD.has(type)) return
  const told = noticeWords({ type, title, body, data })
  const result = type === 'settlement' && typeof data['matchId'] === 'number' ? { to: `match/${data['matchId']}` } : {}
  toast({ tone: 'plain', title: told.title, text: told.body, ...result })
}
