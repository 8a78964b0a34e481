/** The page: signed out, the sign-in; signed in, the current view between the bars. */
import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { PAGE_FEATURES } from './features/index.ts'
import { html } from './html.ts'
import { leagueCode } from './leagues.ts'
import { Account } from './pages/account.ts'
import { Club } from './pages/club.ts'
import { League } from './pages/league.ts'
import { MatchPage } from './pages/match.ts'
import { SignIn } from './pages/sign-in.ts'
import { Trade } from './pages/trade.ts'
import { Loaded } from './parts/loaded.ts'
import { Toasts } from './parts/toast-list.ts'
import { backFromProvider } from './provider.ts'
import { BottomNav, TopBar } from './parts/navigation.ts'
import { watchedId } from './parts/watch.ts'
import { go, isTrading, view } from './route.ts'
import { facts, recall, user } from './session.ts'
import { words } from './words.ts'

/** The signed-in user could not be loaded; another attempt follows. */
const isUnreachable = signal(false)

let retry: ReturnType<typeof setTimeout> | undefined

async function loadUser(): Promise<void> {
  clearTimeout(retry)
  try {
    await recall()
    isUnreachable.value = false
  } catch {
    isUnreachable.value = true
    retry = setTimeout(() => void loadUser(), 3_000)
  }
}

export function App() {
  useEffect(() => {
    const again = (): void => {
      if (user.peek() === undefined) void loadUser()
    }
    window.addEventListener('online', again)
    void loadUser()
    return () => window.removeEventListener('online', again)
  }, [])
  const isSignedIn = typeof user.value === 'object' && user.value !== null
  useEffect(() => {
    const id = watchedId()
    if (!isSignedIn) return
    void backFromProvider()
    if (leagueCode() !== null) {
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
  }, [isSignedIn])
  if (user.value === undefined) return html`<${Splash} />`
  if (user.value === null) return html`<${SignIn} facts=${facts} /><${Toasts} />`
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

const unreachableWords = (): string => (navigator.onLine ? words.app.unreachable : words.app.offline)

const Splash = () => html`
  <main class="splash" aria-busy="true">
    <div>
      <p class="name">Touchline</p>
      ${
        isUnreachable.value
          ? html`<p role="status">${unreachableWords()}</p>
              <button class="small" onClick=${() => void loadUser()}>${words.app.again}</button>`
          : null
      }
    </div>
  </main>
`

/** Only admins need it. */
const Control = () => html`<${Loaded} load=${async () => (await import('./control/control-room.ts')).ControlRoom} />`

const PAGES: Readonly<Record<string, ComponentType>> = {
  match: MatchPage,
  league: League,
  club: Club,
  account: Account,
  control: Control,
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
