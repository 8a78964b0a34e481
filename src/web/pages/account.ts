/** The account: own limits and data, keys for programs, and signing out, for which a phone has no room at the top. */
import { html } from '../html.ts'
import { LanguageSwitch } from '../parts/language.ts'
import { OwnData } from '../parts/own-data.ts'
import { OwnLimitsCard } from '../parts/own-limits.ts'
import { Keys } from '../parts/keys.ts'
import { PushCard } from '../parts/push.ts'
import { Statement } from '../parts/statement.ts'
import { signOut, user } from '../session.ts'
import { rich, words } from '../words.ts'

export const Account = () => html`
  <div class="page">
    <h1>${words.account.title}</h1>
    <p class="line">
      <span>${rich(words.account.signedInAs, { name: html`<b>${user.value?.username}</b>` })}</span>
      <button class="small" onClick=${() => void signOut()}>${words.nav.signOut}</button>
    </p>
    <p class="line"><${LanguageSwitch} /></p>
    <div class="columns">
      <div><${Statement} /><${OwnLimitsCard} /><${OwnData} /></div>
      <div><${PushCard} /><${Keys} /></div>
    </div>
  </div>
`
