/** Notifications, newest first; opening the page marks them as read. */
import { useEffect, useState } from 'preact/hooks'
import type { Notifications } from '../../client/wire.ts'
import { messageFor } from '../../error-messages.ts'
import { dayTime } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { wordsOf } from '../../words.ts'
import type { ViewProps } from '../feature.ts'
import { noticeWords } from './told.ts'
import { arrived, unread } from './unread.ts'
import { said } from './words.ts'

const own = wordsOf(said)

/** The newest page, and with the earlier ones all that was shown before, so that what arrives leaves no gap. */
function joined(newest: Notifications | null, before: Notifications | null): Notifications['notifications'] {
  const first = newest?.notifications ?? []
  const ids = new Set(first.map(({ id }) => id))
  return [...first, ...(before?.notifications ?? []).filter(({ id }) => !ids.has(id))]
}

export function Inbox({ features }: ViewProps) {
  const added = features.flatMap(({ notices = [] }) => notices)
  const { answer, trouble } = useRequest(() => api.notifications(), [], [arrived.value])
  const [earlier, setEarlier] = useState<Notifications | null>(null)
  useEffect(() => {
    if (answer === null || answer.unreadCount === 0) return
    api
      .readAll()
      .then(() => (unread.value = 0))
      .catch(() => undefined) // they are still there the next time
  }, [answer])
  const listed = joined(answer, earlier)
  const next = (earlier ?? answer)?.nextCursor ?? null
  const more = async (cursor: string): Promise<void> => {
    try {
      const found = await api.notifications(cursor)
      setEarlier({ ...found, notifications: [...listed, ...found.notifications] })
    } catch (error) {
      toast({ tone: 'bad', title: own.earlier, text: messageFor(error) })
    }
  }
  return html`
    <div class="page narrow">
      <h1>${own.title}</h1>
      <section class="card" aria-label=${own.notifications}>
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : listed.length === 0
              ? html`<p class="empty">${own.none}</p>`
              : html`<ul class="notices">
                  ${listed.map(({ id, type, title, body, data, read, createdAt }) => {
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
        ${next === null ? null : html`<p class="inside"><button class="small" onClick=${() => void more(next)}>${own.earlier}</button></p>`}
      </section>
    </div>
  `
}
