/** The account: own limits and data, keys for programs, and signing out, for which a phone has no room at the top. */
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { LanguageSwitch } from '../parts/language.ts'
import { OwnData } from '../parts/own-data.ts'
import { OwnLimitsCard } from '../parts/own-limits.ts'
import { Keys } from '../parts/keys.ts'
import { Statement } from '../parts/statement.ts'
import { user } from '../session.ts'
import { signOut } from '../sign-out.ts'
import { rich, words } from '../words.ts'

const CARDS = PAGE_FEATURES.flatMap(({ cards }) => cards?.account ?? [])

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
      <div>${CARDS.map((Card) => html`<${Card} />`)}<${Keys} /></div>
    </div>
  </div>
`
