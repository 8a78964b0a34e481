/** Notifications: what a user has been told, read page by page. Others write them. */
import type { Feature, Opened } from '../feature.ts'
import { listNotifications, type NotificationPorts } from './list-routes.ts'
import { markRead } from './read-routes.ts'
import { Inbox } from './store.ts'

export const notificationApi = (ports: NotificationPorts): Opened => ({
  routes: [listNotifications, markRead].map((routes) => (deps, gates) => routes({ ...deps, ...ports }, gates)),
})

export const notifications: Feature = {
  name: 'notifications',
  topics: [{ name: 'Notifications', description: "The caller's notifications." }],
  things: ['notification'],
  open: ({ stores }) => notificationApi({ inbox: new Inbox(stores.db) }),
}
