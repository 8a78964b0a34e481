/** What a signed-in user sees: the current view between the bars. Loaded once, beside the door. */
import { useEffect } from 'preact/hooks'
import type { ComponentType } from 'preact'
import { keepAddress } from './address.ts'
import { PAGE_FEATURES } from './features/index.ts'
import { html } from './html.ts'
import { takeLeagueCode } from './leagues.ts'
import { startLive } from './live.ts'
import { MatchPage } from './pages/match.ts'
import { Trade } from './pages/trade.ts'
import { lazy } from './parts/loaded.ts'
import { BottomNav, TopBar } from './parts/navigation.ts'
import { Toasts } from './parts/toast-list.ts'
import { watchedId } from './parts/watch.ts'
import { backFromProvider } from './provider.ts'
import { followAddress, go, isTrading, view } from './route.ts'
import { startShortcuts } from './shortcuts.ts'
import { words } from './words.ts'

followAddress(PAGE_FEATURES.flatMap(({ view: own }) => own?.name ?? []))
startLive(PAGE_FEATURES.flatMap(({ live }) => live ?? []))
keepAddress()
startShortcuts()

export function Game() {
  useEffect(() => {
    const id = watchedId()
    void backFromProvider()
    if (takeLeagueCode() !== null) {
      history.replaceState(null, '', '/')
      return go('league')
    }
    for (const { view: own } of PAGE_FEATURES) {
      const of = own?.shared?.exec(location.pathname)?.[1]
      if (own === undefined || of === undefined) continue
      history.replaceState(null, '', '/')
      return go(`${own.name}/${of}`)
    }
    if (id === null) return
    history.replaceState(null, '', '/')
    go(`match/${id}`)
  }, [])
  return html`
    <a class="skip" href="#main" onClick=${skipTo('#main')}>${words.app.skipToContent}</a>
    ${isTrading.value ? html`<a class="skip" href="#main" onClick=${skipTo('.ways button')}>${words.app.skipToOrder}</a>` : null}
    <${TopBar} />
    <main id="main" tabindex="-1">${isTrading.value ? html`<${Trade} />` : html`<${Elsewhere} />`}</main>
    <${BottomNav} />
    <${Toasts} />
  `
}

/** The address stays: it names the view. */
const skipTo = (selector: string) => (event: Event) => {
  event.preventDefault()
  document.querySelector<HTMLElement>(selector)?.focus()
}

const PAGES: Readonly<Record<string, ComponentType>> = {
  match: MatchPage,
  league: lazy(async () => (await import('./pages/league.ts')).League).Part,
  club: lazy(async () => (await import('./pages/club.ts')).Club).Part,
  account: lazy(async () => (await import('./pages/account.ts')).Account).Part,
  // Only admins need it.
  control: lazy(async () => (await import('./control/control-room.ts')).ControlRoom).Part,
  ...Object.fromEntries(
    PAGE_FEATURES.flatMap(({ view: own }) =>
      own === undefined ? [] : [[own.name, () => html`<${own.Page} features=${PAGE_FEATURES} />`]],
    ),
  ),
}

function Elsewhere() {
  const Page = PAGES[view.value]
  return Page === undefined ? html`<${Trade} />` : html`<${Page} />`
}
