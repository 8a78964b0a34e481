/** The user's own data: hiding from others, a download of everything, and deleting the account. */
import { useState } from 'preact/hooks'
import { messageFor } from '../error-messages.ts'
import { dayTime } from '../format.ts'
import { html } from '../html.ts'
import { api, signedIn, user } from '../session.ts'
import { toast } from '../toasts.ts'

export const OwnData = () => html`
  <section class="card" aria-labelledby="data-title">
    <header><h2 id="data-title">Your data</h2></header>
    <div class="inside own">
      <${Hiding} />
      <h3>Download</h3>
      <p>
        Everything that is stored about you, in one file: profile, trades, ledger, sessions, notifications and more.
      </p>
      <p><a class="small" href="/api/me/export" download>Download my data</a></p>
      <${Deleting} />
    </div>
  </section>
`

function Hiding() {
  const isHidden = user.value?.hiddenFromBoards === true
  const turn = async (): Promise<void> => {
    try {
      const { hiddenFromBoards } = await api.hide(!isHidden)
      if (user.value) user.value = { ...user.value, hiddenFromBoards }
    } catch (error) {
      toast({ tone: 'bad', title: 'Not changed', text: messageFor(error) })
    }
  }
  return html`
    <h3>Boards</h3>
    <label class="choice">
      <input type="checkbox" checked=${isHidden} onChange=${() => void turn()} />
      Hide me from the boards, the activity and the weekly draw
    </label>
    <p class="hint">
      Then you have no rank, and count for no district. Your results go on, and are there when you come back.
    </p>
  `
}

function Deleting() {
  const [isAsked, setAsked] = useState(false)
  const [name, setName] = useState('')
  const [trouble, setTrouble] = useState<string | null>(null)
  const username = user.value?.username ?? ''
  const remove = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      const { deletionDue } = await api.deleteAccount(name)
      signedIn(null)
      toast({
        tone: 'plain',
        title: 'You are signed out',
        text: `Your account will be deleted on ${dayTime(deletionDue)}. Sign in before then to keep it.`,
      })
    } catch (error) {
      setTrouble(messageFor(error))
    }
  }
  if (!isAsked) {
    return html`
      <h3>Delete</h3>
      <p>You are signed out everywhere at once. Some days later your data is erased; you are told the day.</p>
      <p><button class="small" onClick=${() => setAsked(true)}>Delete my account…</button></p>
    `
  }
  return html`
    <h3>Delete</h3>
    <ul class="facts">
      <li>You are signed out everywhere now, and gone from the boards.</li>
      <li>Your open positions stay open until that day. Then they are closed, or settle at full time.</li>
      <li>
        Once they are, your name, e-mail address and messages are erased for good. Your trades stay, under no name.
      </li>
      <li>To take it back, sign in before that day. You are told it, here and by mail.</li>
      <li>If you come back later you start with what you left with, at most 10,000. Limits and breaks still hold.</li>
    </ul>
    <form onSubmit=${(event: Event) => void remove(event)}>
      <label>
        <span>Type your username, <b>${username}</b>, to confirm</span>
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
        <button class="small danger" disabled=${name !== username}>Delete my account</button>
        <button type="button" class="small" onClick=${() => setAsked(false)}>Keep it</button>
      </p>
    </form>
  `
}
