/** The page: signed out, the sign-in; signed in, the current view between the bars. */
import { useEffect, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { html } from './html.ts'
import { Account } from './pages/account.ts'
import { Club } from './pages/club.ts'
import { Inbox } from './pages/inbox.ts'
import { League } from './pages/league.ts'
import { MatchPage } from './pages/match.ts'
import { SignIn } from './pages/sign-in.ts'
import { Trade } from './pages/trade.ts'
import { Toasts } from './parts/toast-list.ts'
import { BottomNav, TopBar } from './parts/navigation.ts'
import { isTrading, view } from './route.ts'
import { facts, recall, user } from './session.ts'

/** The signed-in user could not be loaded; another attempt follows. */
const isUnreachable = signal(false)

async function loadUser(): Promise<void> {
  try {
    await recall()
    isUnreachable.value = false
  } catch {
    isUnreachable.value = true
    setTimeout(() => void loadUser(), 3_000)
  }
}

export function App() {
  useEffect(() => void loadUser(), [])
  if (user.value === undefined) return html`<${Splash} />`
  if (user.value === null) return html`<${SignIn} facts=${facts} /><${Toasts} />`
  return html`
    <a class="skip" href="#main">Skip to content</a>
    <${TopBar} />
    <main id="main" tabindex="-1">${isTrading.value ? html`<${Trade} />` : html`<${Elsewhere} />`}</main>
    <${BottomNav} />
    <${Toasts} />
  `
}

const Splash = () => html`
  <main class="splash" aria-busy="true">
    <p>${isUnreachable.value ? 'The server cannot be reached. Retrying.' : 'Touchline'}</p>
  </main>
`

/** Loaded on demand, since only admins need it. */
function Control() {
  const [Room, setRoom] = useState<ComponentType | null>(null)
  useEffect(() => {
    import('./control/control-room.ts').then(({ ControlRoom }) => setRoom(() => ControlRoom)).catch(() => undefined)
  }, [])
  return Room === null ? html`<p class="loading" aria-busy="true">Loading…</p>` : html`<${Room} />`
}

const PAGES: Readonly<Record<string, ComponentType>> = {
  match: MatchPage,
  league: League,
  club: Club,
  inbox: Inbox,
  account: Account,
  control: Control,
}

function Elsewhere() {
  const Page = PAGES[view.value]
  return Page === undefined ? html`<${Trade} />` : html`<${Page} />`
}
