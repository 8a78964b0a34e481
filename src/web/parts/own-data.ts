/** The user's own data: hiding from others, a download of everything, and deleting the account. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageFor } from '../error-messages.ts'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { api, signedIn, user } from '../session.ts'
import { toast } from '../toasts.ts'
import { rich, say, words } from '../words.ts'
import { Switch } from './switch.ts'

export const OwnData = () => html`
  <section class="card" aria-labelledby="data-title">
    <header><h2 id="data-title">${words.data.title}</h2></header>
    <div class="inside own">
      <${Hiding} />
      <h3>${words.data.download}</h3>
      <p>${words.data.downloadHint}</p>
      <p><a class="small" href="/api/me/export" download>${words.data.downloadMine}</a></p>
      <${Deleting} />
    </div>
  </section>
`

function Hiding() {
  const isHidden = user.value?.hiddenFromBoards === true
  const turn = async (to: boolean): Promise<void> => {
    try {
      const { hiddenFromBoards } = await api.hide(to)
      if (user.value) user.value = { ...user.value, hiddenFromBoards }
    } catch (error) {
      toast({ tone: 'bad', title: words.common.notChanged, text: messageFor(error) })
    }
  }
  return html`
    <h3>${words.data.boards}</h3>
    <label class="choice">
      <${Switch} isOn=${isHidden} onSet=${(to: boolean) => void turn(to)} />
      ${words.data.hide}
    </label>
    <p class="hint">${words.data.hideHint}</p>
  `
}

function Deleting() {
  const [isAsked, setAsked] = useState(false)
  const [name, setName] = useState('')
  const [trouble, setTrouble] = useState<string | null>(null)
  const [ask, facts] = [useRef<HTMLButtonElement>(null), useRef<HTMLUListElement>(null)]
  useEffect(() => {
    if (!isAsked) return
    facts.current?.focus()
    return () => ask.current?.focus()
  }, [isAsked])
  const username = user.value?.username ?? ''
  const remove = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      const { deletionDue } = await api.deleteAccount(name)
      signedIn(null)
      toast({
        tone: 'plain',
        title: words.data.signedOut,
        text: say(words.data.due, { when: dayTime(deletionDue) }),
      })
    } catch (error) {
      setTrouble(messageFor(error))
    }
  }
  if (!isAsked) {
    return html`
      <h3>${words.data.delete}</h3>
      <p>${words.data.deleteHint}</p>
      <p><button class="small" ref=${ask} onClick=${() => setAsked(true)}>${words.data.deleteAsk}</button></p>
    `
  }
  return html`
    <h3>${words.data.delete}</h3>
    <ul class="facts" tabindex="-1" ref=${facts}>
      <li>${words.data.fact1}</li>
      <li>${words.data.fact2}</li>
      <li>${words.data.fact3}</li>
      <li>${words.data.fact4}</li>
      <li>${words.data.fact5}</li>
    </ul>
    <form onSubmit=${(event: Event) => void remove(event)}>
      <label>
        <span>${rich(words.data.confirm, { username: html`<b>${username}</b>` })}</span>
        <input
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
          maxlength="64"
          value=${name}
          onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
        />
      </label>
      <p class="trouble" role="alert">${trouble}</p>
      <p class="line">
        <button class="small danger" disabled=${name !== username}>${words.data.deleteMine}</button>
        <button type="button" class="small" onClick=${() => setAsked(false)}>${words.data.keep}</button>
      </p>
    </form>
  `
}
