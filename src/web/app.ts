/** The page: signed out, the sign-in; signed in, the game. */
import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import { html } from './html.ts'
import { SignIn } from './pages/sign-in.ts'
import { lazy } from './parts/loaded.ts'
import { Toasts } from './parts/toast-list.ts'
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

const game = lazy(async () => (await import('./game.ts')).Game)

export function App() {
  useEffect(() => {
    const again = (): void => {
      if (user.peek() === undefined) void loadUser()
    }
    window.addEventListener('online', again)
    void loadUser()
    // It arrives while a name is typed.
    void game.load()
    return () => window.removeEventListener('online', again)
  }, [])
  if (user.value === undefined) return html`<${Splash} />`
  if (user.value === null) return html`<${SignIn} facts=${facts} /><${Toasts} />`
  return html`<${game.Part} />`
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
