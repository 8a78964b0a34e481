/** Achievements, referrals and the activity of others. */
import { useState } from 'preact/hooks'
import { dayTime, units } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { messageFor } from '../error-messages.ts'
import { badgeWords, headlineWords } from '../served.ts'
import { rich, say, words } from '../words.ts'

export const Club = () => html`
  <div class="page">
    <h1>${words.club.title}</h1>
    <div class="columns">
      <div><${Badges} /></div>
      <div><${Friends} /><${Activity} /></div>
    </div>
  </div>
`

function Badges() {
  const { answer, trouble } = useRequest(() => api.achievements())
  return html`
    <section class="card" aria-labelledby="badges-title">
      <header>
        <h2 id="badges-title">${words.club.achievements}</h2>
        ${answer === null ? null : html`<span class="level">${rich(words.club.level, { n: html`<b>${answer.level}</b>`, xp: answer.xp })}</span>`}
      </header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : html`<ul class="badges">
              ${answer.earned.map(
                ({ id, name, description, earnedAt }) => html`
                  <li key=${id} class="earned">
                    <i aria-hidden="true">★</i>
                    <div>
                      <b>${badgeWords(id, { name, description }).name}</b>
                      <p>${badgeWords(id, { name, description }).description}</p>
                      <small>${say(words.club.earned, { when: dayTime(earnedAt) })}</small>
                    </div>
                  </li>
                `,
              )}
              ${answer.locked.map(
                ({ id, name, description, progress: { current, target } }) => html`
                  <li key=${id}>
                    <i aria-hidden="true">☆</i>
                    <div>
                      <b>${badgeWords(id, { name, description }).name}</b>
                      <p>${badgeWords(id, { name, description }).description}</p>
                      <progress
                        max=${target}
                        value=${current}
                        aria-label=${say(words.club.progress, { name: badgeWords(id, { name, description }).name, current, target })}
                      ></progress>
                      <small class="num">${say(words.club.of, { current, target })}</small>
                    </div>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `
}

const STATUS_WORDS = { unclaimed: words.club.unclaimed, pending: words.club.pending, credited: words.club.credited }

function Friends() {
  const { answer, trouble, again } = useRequest(() => api.referrals())
  const [name, setName] = useState('')
  const invite = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      await copy((await api.invite(name.trim())).url)
      setName('')
      again()
    } catch (error) {
      toast({ tone: 'bad', title: words.club.notInvited, text: messageFor(error) })
    }
  }
  return html`
    <section class="card" aria-labelledby="friends-title">
      <header><h2 id="friends-title">${words.club.bring}</h2></header>
      <div class="inside">
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : html`
                <p>
                  ${rich(words.club.yourCode, { code: html`<code>${answer.code}</code>` })}
                  <button class="small" onClick=${() => void copy(answer.url)}>${words.club.copyLink}</button>
                </p>
                <p class="hint">
                  ${rich(words.club.summary, { invited: answer.summary.invited, registered: answer.summary.registered, earned: answer.summary.earned, total: html`<span class="num">${units(answer.summary.total_credited)}</span>` })}
                </p>
                <form class="line" onSubmit=${(event: Event) => void invite(event)}>
                  <input
                    aria-label=${words.club.friendName}
                    placeholder=${words.club.aFriend}
                    maxlength="64"
                    required
                    value=${name}
                    onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
                  />
                  <button class="small" disabled=${name.trim() === ''}>${words.club.invite}</button>
                </form>
                <ul class="rows">
                  ${answer.referrals.map(
                    ({ id, name: friend, status, url, reward }) => html`
                      <li key=${id}>
                        <b>${friend ?? words.club.withCode}</b>
                        <small>${STATUS_WORDS[status]}${status === 'credited' ? ` · +${units(reward)}` : ''}</small>
                        ${status === 'unclaimed' ? html`<button class="small" onClick=${() => void copy(url)}>${words.club.copyLink}</button>` : null}
                      </li>
                    `,
                  )}
                </ul>
              `
        }
      </div>
    </section>
  `
}

async function copy(link: string): Promise<void> {
  const url = new URL(link, location.origin).href
  try {
    await navigator.clipboard.writeText(url)
    toast({ tone: 'good', title: words.club.linkCopied, text: url })
  } catch {
    toast({ tone: 'plain', title: words.club.shareThis, text: url })
  }
}

function Activity() {
  const { answer, trouble } = useRequest(() => api.activity())
  return html`
    <section class="card" aria-labelledby="activity-title">
      <header><h2 id="activity-title">${words.club.around}</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : answer.events.length === 0
            ? html`<p class="empty">${words.club.noActivity}</p>`
            : html`<ul class="rows inside">
                ${answer.events.map(
                  (event) =>
                    html`<li key=${event.id}>
                      <span><b>${event.username}</b> ${headlineWords(event)}</span><small>${dayTime(event.at)}</small>
                    </li>`,
                )}
              </ul>`
      }
    </section>
  `
}
