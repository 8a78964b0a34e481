/** Notifications: the inbox, the way to it, and a toast for each that arrives. */
import type { PageFeature } from '../feature.ts'
import { Bell } from './bell.ts'
import { refreshUnread, takeNotice } from './unread.ts'
import { Inbox } from './view.ts'

export const notifications: PageFeature = {
  view: { name: 'inbox', Page: Inbox },
  bar: [Bell],
  live: { begin: refreshUnread, take: takeNotice },
}
