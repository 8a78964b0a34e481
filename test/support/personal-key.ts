/** A personal key on a running server, created as its user does. */
import { z } from 'zod'

export async function personalKey(url: string, displayName: string, scopes: readonly string[]): Promise<string> {
  const post = (path: string, body: unknown, cookie = '') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    })
  const signedIn = await post('/api/auth/dev', { displayName })
  const cookie = signedIn.headers.getSetCookie().map((set) => set.split(';')[0] ?? '')
  const made = await post('/api/keys', { name: 'a test', scopes }, cookie.join('; '))
  return z.object({ secret: z.string() }).parse(await made.json()).secret
}
