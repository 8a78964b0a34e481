/** The account: own limits and data, keys for programs, and signing out, for which a phone has no room at the top. */
import { html } from '../html.ts'
import { OwnData } from '../parts/own-data.ts'
import { OwnLimitsCard } from '../parts/own-limits.ts'
import { Keys } from '../parts/keys.ts'
import { PushCard } from '../parts/push.ts'
import { signOut, user } from '../session.ts'

export const Account = () => html`
  <div class="page">
    <h1>Account</h1>
    <p class="line">
      <span>Signed in as <b>${user.value?.username}</b></span>
      <button class="small" onClick=${() => void signOut()}>Sign out</button>
    </p>
    <div class="columns">
      <div><${OwnLimitsCard} /><${OwnData} /></div>
      <div><${PushCard} /><${Keys} /></div>
    </div>
  </div>
`
