/** Achievements, referrals and the activity of others. */
import { useState } from 'preact/hooks'
import { dayTime, units } from '../format.ts'
import { html } from '../html.ts'
import { useRequest, Waiting } from '../parts/use-request.ts'
import { api } from '../session.ts'
import { toast } from '../toasts.ts'
import { messageFor } from '../error-messages.ts'

export const Club = () => html`
  <div class="page">
    <h1>Club</h1>
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
        <h2 id="badges-title">Achievements</h2>
        ${answer === null ? null : html`<span class="level">Level <b>${answer.level}</b> · ${answer.xp} XP</span>`}
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
                      <b>${name}</b>
                      <p>${description}</p>
                      <small>Earned ${dayTime(earnedAt)}</small>
                    </div>
                  </li>
                `,
              )}
              ${answer.locked.map(
                ({ id, name, description, progress: { current, target } }) => html`
                  <li key=${id}>
                    <i aria-hidden="true">☆</i>
                    <div>
                      <b>${name}</b>
                      <p>${description}</p>
                      <progress max=${target} value=${current} aria-label="${name}: ${current} of ${target}"></progress>
                      <small class="num"
                        >${units(current).replace('.00', '')} of ${units(target).replace('.00', '')}</small
                      >
                    </div>
                  </li>
                `,
              )}
            </ul>`
      }
    </section>
  `
}

const STATUS_WORDS = { unclaimed: 'Invited', pending: 'Signed up', credited: 'Traded' } as const

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
      toast({ tone: 'bad', title: 'Invitation not created', text: messageFor(error) })
    }
  }
  return html`
    <section class="card" aria-labelledby="friends-title">
      <header><h2 id="friends-title">Bring friends</h2></header>
      <div class="inside">
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : html`
                <p>
                  Your code <code>${answer.code}</code>
                  <button class="small" onClick=${() => void copy(answer.url)}>Copy link</button>
                </p>
                <p class="hint">
                  ${answer.summary.invited} invited · ${answer.summary.registered} signed up · ${answer.summary.earned}
                  traded ·
                  <span class="num"> ${units(answer.summary.total_credited)}</span> earned
                </p>
                <form class="line" onSubmit=${(event: Event) => void invite(event)}>
                  <input
                    aria-label="Name of a friend"
                    placeholder="A friend's name"
                    maxlength="64"
                    required
                    value=${name}
                    onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
                  />
                  <button class="small" disabled=${name.trim() === ''}>Invite</button>
                </form>
                <ul class="rows">
                  ${answer.referrals.map(
                    ({ id, name: friend, status, url, reward }) => html`
                      <li key=${id}>
                        <b>${friend ?? 'With your code'}</b>
                        <small>${STATUS_WORDS[status]}${status === 'credited' ? ` · +${units(reward)}` : ''}</small>
                        ${status === 'unclaimed' ? html`<button class="small" onClick=${() => void copy(url)}>Copy link</button>` : null}
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
    toast({ tone: 'good', title: 'Link copied', text: url })
  } catch {
    toast({ tone: 'plain', title: 'Share this link', text: url })
  }
}

function Activity() {
  const { answer, trouble } = useRequest(() => api.activity())
  return html`
    <section class="card" aria-labelledby="activity-title">
      <header><h2 id="activity-title">Around the ground</h2></header>
      ${
        answer === null
          ? html`<${Waiting} trouble=${trouble} />`
          : answer.events.length === 0
            ? html`<p class="empty">No activity yet.</p>`
            : html`<ul class="rows inside">
                ${answer.events.map(
                  ({ id, username, text, at }) =>
                    html`<li key=${id}>
                      <span><b>${username}</b> ${text}</span><small>${dayTime(at)}</small>
                    </li>`,
                )}
              </ul>`
      }
    </section>
  `
}
