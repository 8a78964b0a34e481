/** The way to the identity provider and back: to sign in, and to prove again who one is. */
import { ApiError, newKey } from './client/ask.ts'
import { api, facts, type PageFacts, signedIn, user } from './session.ts'
import { toast } from './toasts.ts'
import { messageFor } from './error-messages.ts'
import { words } from './words.ts'
import { visit } from './storage.ts'

const NONCE = 'touchline.nonce'
/** The view to come back to. */
const VIEW = 'touchline.view'
/** A path and a view of this page; after two slashes would come another host. */
const OWN_ADDRESS = /^(\/(?!\/)[^#]*)(#.*)?$/

/** The identity provider returns with a token behind the `#`, so no third-party script runs here. */
export function leaveForProvider(
  { authorizeUrl, clientId }: PageFacts,
  more: Readonly<Record<string, string>> = {},
): void {
  const nonce = newKey()
  visit.set(NONCE, nonce)
  visit.set(VIEW, location.pathname + location.hash)
  const query = {
    client_id: clientId,
    redirect_uri: `${location.origin}/`,
    response_type: 'id_token',
    scope: 'openid email profile',
    nonce,
    ...more,
  }
  location.assign(`${authorizeUrl}?${new URLSearchParams(query)}`)
}

/** Takes the identity provider's token from the address, which leads to the view again; it is used once. */
export function takeToken(): { readonly idToken: string; readonly nonce: string } | null {
  const idToken = new URLSearchParams(location.hash.slice(1)).get('id_token')
  const nonce = visit.get(NONCE)
  if (idToken === null || nonce === null) return null
  visit.remove(NONCE)
  const [, path = '/', view = ''] = OWN_ADDRESS.exec(visit.get(VIEW) ?? '') ?? []
  history.replaceState(null, '', path)
  // The page follows the hash only when it hears of a change.
  location.hash = view
  return { idToken, nonce }
}

/** What a toast offers where the server wants a fresh sign-in; nothing for any other error. */
export function offerSignIn(error: unknown) {
  if (!(error instanceof ApiError && error.code === 'SIGN_IN_AGAIN')) return {}
  const maxAgeSecs = String(error.facts['maxAgeSecs'])
  return { action: { label: words.errors.signInAgain, run: () => void signInAgain(maxAgeSecs) } }
}

async function signInAgain(maxAgeSecs: string): Promise<void> {
  if (facts.devSignIn) {
    signedIn((await api.signInByName(user.peek()?.name ?? '')).user)
    return toast({ tone: 'good', title: words.errors.signedInAgain, text: words.errors.repeat })
  }
  leaveForProvider(facts, { prompt: 'login', max_age: maxAgeSecs })
}

/** Ends on the way back what `signInAgain` began. */
export async function backFromProvider(): Promise<void> {
  const token = takeToken()
  if (token === null) return
  try {
    signedIn((await api.signInWithToken(token.idToken, token.nonce)).user)
    toast({ tone: 'good', title: words.errors.signedInAgain, text: words.errors.repeat })
  } catch (error) {
    toast({ tone: 'bad', title: words.errors.signInAgain, text: messageFor(error) })
  }
}
