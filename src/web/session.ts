/** Who is playing, and the one connection to the API that everything here uses. */
import { computed, signal } from '@preact/signals'
import { createApi } from './client/api.ts'
import type { Me, User } from './client/wire.ts'

/** `undefined` until the server has said; null when nobody is signed in. */
export const user = signal<User | null | undefined>(undefined)

export const isAdmin = computed(() => user.value?.role === 'admin')

export const api = createApi({ onSignedOut: () => (user.value = null) })

/** What the page was told with itself. */
export interface PageFacts {
  readonly devSignIn: boolean
  readonly clientId: string
  readonly authorizeUrl: string
}

export const facts: PageFacts = JSON.parse(document.getElementById('facts')?.getAttribute('content') ?? '{}')

/** Finds out who is signed in, renewing the session when only that has run out. */
export async function recall(): Promise<void> {
  let me: Me = await api.me()
  if (!me.loggedIn && localStorage.getItem(KNOWN) !== null && (await api.renew())) me = await api.me()
  signedIn(me.loggedIn ? me : null)
}

/** This browser has been signed in: its session may be renewable. Says nothing about who it was. */
const KNOWN = 'touchline.known'

export function signedIn(who: User | null): void {
  if (who === null) localStorage.removeItem(KNOWN)
  else localStorage.setItem(KNOWN, '1')
  user.value = who
}

export async function signOut(): Promise<void> {
  await api.signOut()
  signedIn(null)
}
