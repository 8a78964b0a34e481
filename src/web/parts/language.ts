/** The language of the page, for visitors and users. */
import { html } from '../html.ts'
import { chooseLanguage, language, LANGUAGES, words } from '../words.ts'

export const LanguageSwitch = () => html`
  <label class="language">
    ${words.account.language}${' '}
    <select value=${language} onChange=${(event: Event) => chooseLanguage((event.target as HTMLSelectElement).value)}>
      ${Object.entries(LANGUAGES).map(([tag, { name }]) => html`<option key=${tag} value=${tag} lang=${tag}>${name}</option>`)}
    </select>
  </label>
`
