/** Ends the session of this browser. */
import { messageFor } from './error-messages.ts'
import { api, signedIn } from './session.ts'
import { forgetThisDevice } from './this-device.ts'
import { toast } from './toasts.ts'
import { words } from './words.ts'

export async function signOut(): Promise<void> {
  await forgetThisDevice(api).catch(() => undefined) // the push service tells the server sooner or later
  try {
    await api.signOut()
    signedIn(null)
  } catch (error) {
    // The cookies may be gone although the session could not be ended. Only its renewal can tell.
    if (!(await api.renew().catch(() => true))) return signedIn(null)
    toast({ tone: 'bad', title: words.nav.notSignedOut, text: messageFor(error) })
  }
}
