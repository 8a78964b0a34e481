/** The account: keys for programs, and signing out, for which a phone has no room in the top bar. */
import { html } from '../html.ts'
import { Keys } from '../parts/keys.ts'
import { signOut, user } from '../session.ts'

export const Account = () => html`
  <div class="page">
    <h1>Account</h1>
    <p class="line">
      <span>Signed in as <b>${user.value?.username}</b></span>
      <button class="small" onClick=${() => void signOut()}>Sign out</button>
    </p>
    <${Keys} />
  </div>
`
