/** The signed-in user and the API client that the whole page shares. */
import { computed, signal } from '@preact/signals'
import { createApi } from './client/api.ts'
import type { Me, User } from './client/wire.ts'
import { forgetThisDevice } from './this-device.ts'

/** Set once this browser has signed in, since its session may then be renewable. Does not record which user. */
const KNOWN = 'touchline.known'

/**
 * `undefined` until the server has answered; null when no user is signed in. Where no user has ever signed in the door
 * does not wait for the answer.
 */
export const user = signal<User | null | undefined>(localStorage.getItem(KNOWN) === null ? null : undefined)

export const isAdmin = computed(() => user.value?.role === 'admin')

/** Counts requests that could not reach the server. */
export const unreached = signal(0)

/** Whether the server, and not the user, has ended the session. */
export const wasCutOff = signal(false)

export function cutOff(): void {
  if (user.peek()) wasCutOff.value = true
  user.value = null
}

export const api = createApi({ onSignedOut: cutOff, onUnreachable: () => unreached.value++ })

/** Facts the server puts into the page. */
export interface PageFacts {
  readonly devSignIn: boolean
  readonly clientId: string
  readonly authorizeUrl: string
}

export const facts: PageFacts = JSON.parse(document.getElementById('facts')?.getAttribute('content') ?? '{}')

/** Loads the signed-in user, renewing the session if it has expired. */
export async function recall(): Promise<void> {
  let me: Me = await api.me()
  if (!me.loggedIn && localStorage.getItem(KNOWN) !== null && (await api.renew())) me = await api.me()
  // The user may have signed in while the answer was on its way.
  if (!user.peek()) signedIn(me.loggedIn ? me : null)
}

export function signedIn(who: User | null): void {
  wasCutOff.value = false
  if (who === null) localStorage.removeItem(KNOWN)
  else localStorage.setItem(KNOWN, '1')
  user.value = who
}

export async function signOut(): Promise<void> {
  await forgetThisDevice(api).catch(() => undefined) // the push service tells the server sooner or later
  await api.signOut()
  signedIn(null)
}
