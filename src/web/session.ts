/** The signed-in user and the API client that the whole page shares. */
import { computed, signal } from '@preact/signals'
import { createApi } from './client/api.ts'
import { SESSION_CHANGED } from './client/ask.ts'
import type { Me, User } from './client/wire.ts'
import { device } from './storage.ts'

/** Set once this browser has signed in, since its session may then be renewable. Does not record which user. */
const KNOWN = 'touchline.known'

/**
 * `undefined` until the server has answered; null when no user is signed in. Where no user has ever signed in the door
 * does not wait for the answer.
 */
export const user = signal<User | null | undefined>(device.get(KNOWN) === null ? null : undefined)

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
  if (!me.loggedIn && device.get(KNOWN) !== null && (await api.renew())) me = await api.me()
  // The user may have signed in while the answer was on its way.
  if (!user.peek()) signedIn(me.loggedIn ? me : null)
}

export function signedIn(who: User | null): void {
  wasCutOff.value = false
  if (who === null) device.remove(KNOWN)
  else device.set(KNOWN, '1')
  user.value = who
}

/** The cookies are of all tabs: where another has signed in another user, what is on the screen is not theirs. */
async function isStillTheirs(): Promise<boolean> {
  const me: Me = await api.me()
  // Who is signed out is told by the next answer, unless the session can be renewed.
  return !me.loggedIn || me.userId === user.peek()?.userId
}

window.addEventListener('storage', ({ key }) => {
  if (key !== SESSION_CHANGED || !user.peek()) return
  void isStillTheirs().then(
    (isTheirs) => isTheirs || location.reload(),
    () => undefined, // without the server they cannot order either
  )
})
