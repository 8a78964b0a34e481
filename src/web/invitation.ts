/** The code of a share link: it is kept until the visitor has signed in. */
import { ApiError } from './client/ask.ts'
import type { SignedIn } from './client/wire.ts'
import { visit } from './storage.ts'

const INVITATION = 'touchline.invitation'

export function invitation(): string | null {
  const code = new URLSearchParams(location.search).get('ref')
  if (code !== null) visit.set(INVITATION, code)
  return visit.get(INVITATION)
}

/** Uses the invitation. One that is no longer valid keeps no visitor out. */
export async function enterInvited(send: (code: string | null) => Promise<SignedIn>): Promise<SignedIn> {
  const code = invitation()
  const entered = await send(code).catch((error: unknown) => {
    if (code === null || !isOfCode(error)) throw error
    return send(null)
  })
  visit.remove(INVITATION)
  return entered
}

function isOfCode(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.code !== 'VALIDATION_FAILED') return false
  const issues = (error.facts['issues'] ?? []) as readonly { readonly path: string }[]
  return issues.some(({ path }) => path === 'referralCode')
}
