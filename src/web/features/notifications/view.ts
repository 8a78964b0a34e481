/** Notifications, newest first; opening the page marks them as read. */
import { useEffect } from 'preact/hooks'
import { dayTime } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { wordsOf } from '../../words.ts'
import type { ViewProps } from '../feature.ts'
import { noticeWords } from './told.ts'
import { arrived, unread } from './unread.ts'
import { said } from './words.ts'

const own = wordsOf(said)

export function Inbox({ features }: ViewProps) {
  const added = features.flatMap(({ notices = [] }) => notices)
  const { answer, trouble } = useRequest(() => api.notifications(), [], [arrived.value])
  useEffect(() => {
    if (answer === null || answer.unreadCount === 0) return
    api
      .readAll()
      .then(() => (unread.value = 0))
      .catch(() => undefined) // they are still there the next time
  }, [answer])
  return html`
    <div class="page narrow">
      <h1>${own.title}</h1>
      <section class="card" aria-label=${own.notifications}>
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : answer.notifications.length === 0
              ? html`<p class="empty">${own.none}</p>`
              : html`<ul class="notices">
                  ${answer.notifications.map(({ id, type, title, body, data, read, createdAt }) => {
                    const told = noticeWords({ type, title, body, data })
                    return html`
                      <li key=${id} class=${read ? '' : 'unread'}>
                        <div>
                          <b>${told.title}</b>${read ? null : html` <em>${own.new}</em>`}
                          <p>${told.body}</p>
                          ${added.map((Added) => html`<${Added} type=${type} data=${data} />`)}
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
