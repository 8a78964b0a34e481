/** The way to the inbox, in the bar at the top. */
import { html } from '../../html.ts'
import { Icon } from '../../parts/icons.ts'
import { say, wordsOf } from '../../words.ts'
import { unread } from './unread.ts'
import { said } from './words.ts'

const own = wordsOf(said)

export const Bell = () => html`
  <a
    class="bare bell"
    href="#/inbox"
    aria-label=${unread.value === 0 ? own.title : say(own.unread, { n: unread.value })}
  >
    <${Icon} name="inbox" />${unread.value === 0 ? null : html`<b class="count num">${Math.min(99, unread.value)}</b>`}
  </a>
`
