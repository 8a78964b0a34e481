/** The bars at the top and the bottom: navigation, wallet and connection. */
import { accountValue, locked, marginUsed, positions, unrealized, wallet } from '../account.ts'
import { isLeague, purse, purseName } from '../leagues.ts'
import { arrow, signed, units, way } from '../format.ts'
import { PAGE_FEATURES } from '../features/index.ts'
import { html } from '../html.ts'
import { connection } from '../live.ts'
import { go, isTrading, view } from '../route.ts'
import { isAdmin, user } from '../session.ts'
import { signOut } from '../sign-out.ts'
import { theme, toggleTheme } from '../theme.ts'
import { Drawing, Icon, ICONS } from './icons.ts'
import { say, words } from '../words.ts'

const Brand = () => html`
  <a class="brand" href="#/trade" aria-label=${words.nav.home}>
    <svg viewBox="0 0 64 64" aria-hidden="true">
      <path class="line" d="M8 53h48" />
      <path class="step" d="M10 41h12V29h12v8h10V15h10" />
    </svg>
    <span>Touchline</span>
  </a>
`

interface Place {
  readonly to: string
  readonly icon: string
  readonly label: string
}

const BAR = PAGE_FEATURES.flatMap(({ bar = [] }) => bar)

const isHere = (to: string): boolean => (to === 'trade' ? isTrading.value : view.value === to)

const places = (): readonly Place[] => [
  { to: 'match', icon: ICONS.match, label: words.nav.match },
  { to: 'trade', icon: ICONS.trade, label: words.nav.trade },
  { to: 'league', icon: ICONS.league, label: words.nav.league },
  { to: 'club', icon: ICONS.club, label: words.nav.club },
  ...PAGE_FEATURES.flatMap(({ view: own }) => (own?.place === undefined ? [] : [{ ...own.place, to: own.name }])),
  ...(isAdmin.value ? [{ to: 'control', icon: ICONS.control, label: words.nav.control }] : []),
]

export function TopBar() {
  return html`
    <header class="top">
      <${Brand} />
      <nav class="places" aria-label=${words.nav.main}>
        ${places().map(
          ({ to, label }) => html`<a href="#/${to}" aria-current=${isHere(to) ? 'page' : undefined}>${label}</a>`,
        )}
      </nav>
      <${Money} />
      <${Connection} />
      <div class="person">
        ${BAR.map((Part) => html`<${Part} />`)}
        <button
          class="bare"
          onClick=${toggleTheme}
          aria-label=${theme.value === 'dark' ? words.nav.light : words.nav.dark}
        >
          <${Icon} name=${theme.value === 'dark' ? 'sun' : 'moon'} />
        </button>
        <a
          class="bare account"
          href="#/account"
          aria-label=${say(words.nav.accountOf, { name: user.value?.firstName ?? '' })}
          aria-current=${isHere('account') ? 'page' : undefined}
        >
          <${Icon} name="person" /><span class="name">${user.value?.firstName}</span>
        </a>
        <button class="bare out" onClick=${() => void signOut()} aria-label=${words.nav.signOut}>
          <${Icon} name="out" />
        </button>
      </div>
    </header>
  `
}

const Money = () => html`
  <dl
    class="money ${isLeague(purse.value) ? 'league' : purse.value}"
    aria-label=${purse.value === 'main' ? words.nav.wallet : say(words.nav.walletOf, { purse: purseName(purse.value) })}
  >
    <div>
      <dt>${say(words.nav.valueOf, { purse: purseName(purse.value) })}</dt>
      <dd class="num">${wallet.value === null ? '–' : units(accountValue.value)}</dd>
    </div>
    <div class="wide">
      <dt>${words.nav.free}</dt>
      <dd class="num">${wallet.value === null ? '–' : units(wallet.value.freeMargin)}</dd>
    </div>
    ${
      locked.value > 0
        ? html`<div class="wide" title=${words.nav.lockedHint}>
            <dt>${words.nav.locked}</dt>
            <dd class="num">${units(locked.value)}</dd>
          </div>`
        : null
    }
    <div class="wide">
      <dt>${words.nav.stakes}</dt>
      <dd class="num">${wallet.value === null ? '–' : units(marginUsed.value)}</dd>
    </div>
    <div>
      <dt>${words.nav.openPnl}</dt>
      <dd class="num ${way(unrealized.value)}">
        ${wallet.value === null ? '–' : html`<span aria-hidden="true">${arrow(unrealized.value)}</span> ${signed(unrealized.value)}`}
      </dd>
    </div>
  </dl>
`

const CONNECTION_WORDS = {
  live: words.nav.live,
  connecting: words.nav.connecting,
  waiting: words.nav.offline,
  stopped: words.nav.offline,
}

const Connection = () => html`
  <p class="connection ${connection.value}" role="status"><i></i><span>${CONNECTION_WORDS[connection.value]}</span></p>
`

export function BottomNav() {
  const items: readonly Place[] = [
    { to: 'match', icon: ICONS.match, label: words.nav.match },
    { to: 'market', icon: ICONS.market, label: words.nav.players },
    { to: 'trade', icon: ICONS.trade, label: words.nav.trade },
    { to: 'positions', icon: ICONS.positions, label: words.nav.positions },
    ...places().filter(({ to }) => to !== 'trade' && to !== 'match'),
  ]
  return html`
    <nav class="bottom" aria-label=${words.nav.views}>
      ${items.map(
        ({ to, icon, label }) => html`
          <button aria-current=${view.value === to ? 'page' : undefined} onClick=${() => go(to)}>
            <${Drawing} path=${icon} /><span>${label}</span>
            ${to === 'positions' && positions.value.size > 0 ? html`<b class="count num">${positions.value.size}</b>` : null}
          </button>
        `,
      )}
    </nav>
  `
}
