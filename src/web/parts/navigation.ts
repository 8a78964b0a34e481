/** The bars at the top and the bottom: navigation, wallet and connection. */
import { accountValue, locked, marginUsed, unrealized, wallet } from '../account.ts'
import { isLeague, purse, purseName } from '../leagues.ts'
import { arrow, signed, units, way } from '../format.ts'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { unread } from '../notifications.ts'
import { go, isTrading, type View, view } from '../route.ts'
import { isAdmin, signOut, user } from '../session.ts'
import { theme, toggleTheme } from '../theme.ts'
import { Icon, type IconName } from './icons.ts'

const Brand = () => html`
  <a class="brand" href="#/trade" aria-label="Touchline, home">
    <svg viewBox="0 0 64 64" aria-hidden="true">
      <path class="line" d="M8 53h48" />
      <path class="step" d="M10 41h12V29h12v8h10V15h10" />
    </svg>
    <span>Touchline</span>
  </a>
`

interface Place {
  readonly to: View
  readonly icon: IconName
  readonly label: string
}

const isHere = (to: View): boolean => (to === 'trade' ? isTrading.value : view.value === to)

const places = (): readonly Place[] => [
  { to: 'match', icon: 'match', label: 'Match' },
  { to: 'trade', icon: 'trade', label: 'Trade' },
  { to: 'league', icon: 'league', label: 'League' },
  { to: 'club', icon: 'club', label: 'Club' },
  ...(isAdmin.value ? [{ to: 'control', icon: 'control', label: 'Control' } as const] : []),
]

export function TopBar() {
  return html`
    <header class="top">
      <${Brand} />
      <nav class="places" aria-label="Main">
        ${places().map(
          ({ to, label }) => html`<a href="#/${to}" aria-current=${isHere(to) ? 'page' : undefined}>${label}</a>`,
        )}
      </nav>
      <${Money} />
      <${Connection} />
      <div class="person">
        <a
          class="bare bell"
          href="#/inbox"
          aria-label=${unread.value === 0 ? 'Inbox' : `Inbox, ${unread.value} unread`}
        >
          <${Icon} name="inbox" />${unread.value === 0 ? null : html`<b class="num">${Math.min(99, unread.value)}</b>`}
        </a>
        <button
          class="bare"
          onClick=${toggleTheme}
          aria-label="Use ${theme.value === 'dark' ? 'light' : 'dark'} colours"
        >
          <${Icon} name=${theme.value === 'dark' ? 'sun' : 'moon'} />
        </button>
        <a
          class="bare account"
          href="#/account"
          aria-label="Account of ${user.value?.firstName}"
          aria-current=${isHere('account') ? 'page' : undefined}
        >
          <${Icon} name="person" /><span class="name">${user.value?.firstName}</span>
        </a>
        <button class="bare out" onClick=${() => void signOut()} aria-label="Sign out"><${Icon} name="out" /></button>
      </div>
    </header>
  `
}

const Money = () => html`
  <dl
    class="money ${isLeague(purse.value) ? 'league' : purse.value}"
    aria-label=${purse.value === 'main' ? 'Wallet' : `${purseName(purse.value)} wallet`}
  >
    <div>
      <dt>${purseName(purse.value)} value</dt>
      <dd class="num">${wallet.value === null ? '–' : units(accountValue.value)}</dd>
    </div>
    <div class="wide">
      <dt>Free</dt>
      <dd class="num">${wallet.value === null ? '–' : units(wallet.value.freeMargin)}</dd>
    </div>
    ${
      locked.value > 0
        ? html`<div class="wide" title="News may still correct what you have just closed. It is free in a few minutes.">
            <dt>Locked</dt>
            <dd class="num">${units(locked.value)}</dd>
          </div>`
        : null
    }
    <div class="wide">
      <dt>Margin</dt>
      <dd class="num">${units(marginUsed.value)}</dd>
    </div>
    <div>
      <dt>Open P&L</dt>
      <dd class="num ${way(unrealized.value)}">
        <span aria-hidden="true">${arrow(unrealized.value)}</span> ${signed(unrealized.value)}
      </dd>
    </div>
  </dl>
`

const CONNECTION_WORDS = { live: 'Live', connecting: 'Connecting', waiting: 'Offline', stopped: 'Offline' } as const

const Connection = () => html`
  <p class="connection ${connection.value}" role="status"><i></i><span>${CONNECTION_WORDS[connection.value]}</span></p>
`

export function BottomNav() {
  const items: readonly Place[] = [
    { to: 'match', icon: 'match', label: 'Match' },
    { to: 'market', icon: 'market', label: 'Players' },
    { to: 'trade', icon: 'trade', label: 'Trade' },
    { to: 'positions', icon: 'positions', label: 'Positions' },
    ...places().filter(({ to }) => to !== 'trade' && to !== 'match'),
  ]
  return html`
    <nav class="bottom" aria-label="Views">
      ${items.map(
        ({ to, icon, label }) => html`
          <button aria-current=${view.value === to ? 'page' : undefined} onClick=${() => go(to)}>
            <${Icon} name=${icon} /><span>${label}</span>
          </button>
        `,
      )}
    </nav>
  `
}
