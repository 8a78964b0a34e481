/** Notifications, newest first; opening the page marks them as read. */
import { useEffect } from 'preact/hooks'
import { PAGE_FEATURES } from '../features/index.ts'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { arrived, unread } from '../notifications.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { api } from '../session.ts'
import { noticeWords } from '../served.ts'
import { words } from '../words.ts'

const ADDED = PAGE_FEATURES.flatMap(({ notices = [] }) => notices)

export function Inbox() {
  const { answer, trouble } = useRequest(() => api.notifications(), [arrived.value])
  useEffect(() => {
    if (answer === null || answer.unreadCount === 0) return
    api
      .readAll()
      .then(() => (unread.value = 0))
      .catch(() => undefined) // they are still there the next time
  }, [answer])
  return html`
    <div class="page narrow">
      <h1>${words.inbox.title}</h1>
      <section class="card" aria-label=${words.inbox.notifications}>
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : answer.notifications.length === 0
              ? html`<p class="empty">${words.inbox.none}</p>`
              : html`<ul class="notices">
                  ${answer.notifications.map(({ id, type, title, body, data, read, createdAt }) => {
                    const told = noticeWords({ type, title, body, data })
                    return html`
                      <li key=${id} class=${read ? '' : 'unread'}>
                        <div>
                          <b>${told.title}</b>${read ? null : html` <em>${words.inbox.new}</em>`}
                          <p>${told.body}</p>
                          ${ADDED.map((Added) => html`<${Added} type=${type} data=${data} />`)}
                        </div>
                        <small>${dayTime(createdAt)}</small>
                      </li>
                    `
                  })}
                </ul>`
        }
      </section>
    </div>
  `
}
