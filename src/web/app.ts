/** The frame around everything: who is here, what is shown, and how the connection is. */
import { useEffect, useState } from 'preact/hooks'
import { signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { html } from './html.ts'
import { Club } from './pages/club.ts'
import { Inbox } from './pages/inbox.ts'
import { League } from './pages/league.ts'
import { SignIn } from './pages/sign-in.ts'
import { Trade } from './pages/trade.ts'
import { Toasts } from './parts/toast-list.ts'
import { BottomNav, TopBar } from './parts/bars.ts'
import { isTrading, view } from './route.ts'
import { facts, recall, user } from './session.ts'

/** The server could not be asked who is here; another attempt follows. */
const isUnreachable = signal(false)

async function findOut(): Promise<void> {
  try {
    await recall()
    isUnreachable.value = false
  } catch {
    isUnreachable.value = true
    setTimeout(() => void findOut(), 3_000)
  }
}

export function App() {
  useEffect(() => void findOut(), [])
  if (user.value === undefined) return html`<${Splash} />`
  if (user.value === null) return html`<${SignIn} facts=${facts} /><${Toasts} />`
  return html`
    <a class="skip" href="#main">Skip to the content</a>
    <${TopBar} />
    <main id="main" tabindex="-1">${isTrading.value ? html`<${Trade} />` : html`<${Elsewhere} />`}</main>
    <${BottomNav} />
    <${Toasts} />
  `
}

const Splash = () => html`
  <main class="splash" aria-busy="true">
    <p>${isUnreachable.value ? 'The server cannot be reached. Trying again.' : 'Touchline'}</p>
  </main>
`

/** Fetched when an admin goes there: nobody else needs it. */
function Control() {
  const [Room, setRoom] = useState<ComponentType | null>(null)
  useEffect(() => {
    import('./control/room.ts').then(({ ControlRoom }) => setRoom(() => ControlRoom)).catch(() => undefined)
  }, [])
  return Room === null ? html`<p class="loading" aria-busy="true">Fetching…</p>` : html`<${Room} />`
}

const PAGES: Readonly<Record<string, ComponentType>> = { league: League, club: Club, inbox: Inbox, control: Control }

function Elsewhere() {
  const Page = PAGES[view.value]
  return Page === undefined ? html`<${Trade} />` : html`<${Page} />`
}
