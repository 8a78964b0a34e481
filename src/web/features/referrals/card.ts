/** Friends that the user has invited, and inviting another. */
import { useState } from 'preact/hooks'
import { messageFor } from '../../error-messages.ts'
import { units } from '../../format.ts'
import { html } from '../../html.ts'
import { useRequest, Waiting } from '../../parts/use-request.ts'
import { api } from '../../session.ts'
import { toast } from '../../toasts.ts'
import { rich, wordsOf } from '../../words.ts'
import { said } from './words.ts'

const own = wordsOf(said)

const STATUS_WORDS = { unclaimed: own.unclaimed, pending: own.pending, credited: own.credited }

export function Friends() {
  const { answer, trouble, again } = useRequest(() => api.referrals())
  const [name, setName] = useState('')
  const invite = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      await copy((await api.invite(name.trim())).url)
      setName('')
      again()
    } catch (error) {
      toast({ tone: 'bad', title: own.notInvited, text: messageFor(error) })
    }
  }
  return html`
    <section class="card" aria-labelledby="friends-title">
      <header><h2 id="friends-title">${own.bring}</h2></header>
      <div class="inside">
        ${
          answer === null
            ? html`<${Waiting} trouble=${trouble} />`
            : html`
                <p>
                  ${rich(own.yourCode, { code: html`<code>${answer.code}</code>` })}
                  <button class="small" onClick=${() => void copy(answer.url)}>${own.copyLink}</button>
                </p>
                <p class="hint">
                  ${rich(own.summary, { invited: answer.summary.invited, registered: answer.summary.registered, earned: answer.summary.earned, total: html`<span class="num">${units(answer.summary.total_credited)}</span>` })}
                </p>
                <form class="line" onSubmit=${(event: Event) => void invite(event)}>
                  <input
                    aria-label=${own.friendName}
                    placeholder=${own.aFriend}
                    maxlength="64"
                    required
                    value=${name}
                    onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
                  />
                  <button class="small" disabled=${name.trim() === ''}>${own.invite}</button>
                </form>
                <ul class="rows">
                  ${answer.referrals.map(
                    ({ id, name: friend, status, url, reward }) => html`
                      <li key=${id}>
                        <b>${friend ?? own.withCode}</b>
                        <small>${STATUS_WORDS[status]}${status === 'credited' ? ` · +${units(reward)}` : ''}</small>
                        ${status === 'unclaimed' ? html`<button class="small" onClick=${() => void copy(url)}>${own.copyLink}</button>` : null}
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
    toast({ tone: 'good', title: own.linkCopied, text: url })
  } catch {
    toast({ tone: 'plain', title: own.shareThis, text: url })
  }
}
