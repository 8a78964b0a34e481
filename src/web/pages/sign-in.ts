/** The door: by a name in development. */
import { useState } from 'preact/hooks'
import { html } from '../html.ts'
import { api, type PageFacts, signedIn } from '../session.ts'
import { wordsFor } from '../words.ts'

export function SignIn({ facts }: { facts: PageFacts }) {
  return html`
    <main class="door">
      <section class="pitch" aria-hidden="true">
        <svg viewBox="0 0 400 260" preserveAspectRatio="xMidYMid slice">
          <g class="chalk">
            <path d="M-10 214h420" />
            <circle cx="200" cy="214" r="84" />
            <path d="M200 214v60" />
          </g>
          <path class="step" d="M-10 170h60v-26h46v34h40v-62h52v20h40v-58h56v30h40V44h86" />
        </svg>
      </section>
      <section class="welcome">
        <p class="brand">
          <svg viewBox="0 0 64 64" aria-hidden="true">
            <path class="line" d="M8 53h48" />
            <path class="step" d="M10 41h12V29h12v8h10V15h10" />
          </svg>
          Touchline
        </p>
        <h1>Back your eye<br />for the game.</h1>
        <p>Go long or short on the players while they play. Prices follow the match, and the crowd.</p>
        ${facts.devSignIn ? html`<${ByName} />` : null}
      </section>
    </main>
  `
}

function ByName() {
  const [name, setName] = useState('')
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const enter = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    try {
      signedIn((await api.signInByName(name.trim())).user)
    } catch (error) {
      setTrouble(wordsFor(error))
      setBusy(false)
    }
  }
  return html`
    <form onSubmit=${(event: Event) => void enter(event)}>
      <label for="name">Your name</label>
      <div class="row">
        <input
          id="name"
          autofocus
          autocomplete="nickname"
          maxlength="64"
          required
          placeholder="Ada"
          value=${name}
          onInput=${(event: InputEvent) => setName((event.target as HTMLInputElement).value)}
        />
        <button class="primary" disabled=${isBusy || name.trim() === ''}>Kick off</button>
      </div>
      <p class="hint">${trouble ?? 'You start with 10,000 units. No money is involved.'}</p>
    </form>
  `
}
