/** One-time codes: six digits by mail, stored as a keyed digest, three guesses each (specification 2.1). */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { CODE_ATTEMPTS, CODE_TTL_MS } from '../../actors/kernel/limits.ts'
import { MINUTE_MS, type World } from '../../actors/kernel/world.ts'
import { oneTimeCode } from '../../actors/community/registration.ts'
import type { KeptCode } from '../../db/one-time.ts'
import type { Identity } from './identity.ts'
import type { Mail } from './mail-queue.ts'

/** Stores codes; see `db/one-time.ts`. */
export interface CodeStore {
  startPause(subject: string): Promise<{ readonly started: boolean; readonly leftMs: number }>
  putCode(subject: string, code: KeptCode): Promise<void>
  code(subject: string): Promise<KeptCode | null>
  usedCode(subject: string, email: string): Promise<KeptCode | null>
  guess(subject: string, code: KeptCode): Promise<number>
  verify(subject: string, email: string): Promise<void>
  verifiedEmail(subject: string): Promise<string | null>
}

export type Guess =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong'; readonly attemptsRemaining: number }
  /** Never sent, expired, or used more than a minute ago. */
  | { readonly kind: 'expired' }
  /** All guesses at this code are used up; the user needs a new code. */
  | { readonly kind: 'exhausted' }

export interface OneTimeCodes {
  /**
   * Mails a new code, unless they were sent one less than a minute ago. `nextInMs`: when the next may be
   * requested.
   */
  readonly send: (to: Identity) => Promise<{ readonly sent: boolean; readonly nextInMs: number }>
  /**
   * Checks a guess. Of many concurrent guesses only three are compared. The code that proved the address is right again
   * for a minute, so that a client can repeat a request whose answer it lost; the proof lasts no longer for it.
   */
  readonly check: (who: Identity, guess: string) => Promise<Guess>
  /** Whether the user has proved that this e-mail address is theirs. */
  readonly isVerified: (who: Identity) => Promise<boolean>
}

export interface OneTimeCodesOptions {
  readonly store: CodeStore
  /** Keys the digest: all six-digit codes could be tried against a plain one. */
  readonly secret: string
  readonly world: Pick<World, 'steady' | 'newId' | 'secret'>
  /** Returns at once; see `MailQueue`. */
  readonly post: (mail: Mail) => void
}

export function createOneTimeCodes({ store, secret, world, post }: OneTimeCodesOptions): OneTimeCodes {
  /** A code proves the address that it was mailed to, and no other of the same subject. */
  const digestOf = (id: string, { sub, email }: Identity, code: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['one-time code', id, sub, email, code]))
      .digest()

  const fits = (kept: KeptCode, who: Identity, guess: string): boolean => {
    const [right, digest] = [Buffer.from(kept.digest, 'base64url'), digestOf(kept.id, who, guess)]
    return right.length === digest.length && timingSafeEqual(right, digest)
  }
  // Guesses at a used code are not counted: the address is proved, and the code is good for nothing else.
  const isRepeat = async (who: Identity, guess: string): Promise<boolean> => {
    const used = await store.usedCode(who.sub, who.email)
    return used !== null && fits(used, who, guess)
  }

  return {
    send: async (who) => {
      const { sub, email } = who
      const { started, leftMs } = await store.startPause(sub)
      if (!started) return { sent: false, nextInMs: leftMs }
      const code = oneTimeCode(world.secret(8))
      const id = world.newId()
      await store.putCode(sub, { id, digest: digestOf(id, who, code).toString('base64url') })
      post({ to: email, ...codeMail(code), before: world.steady.now() + CODE_TTL_MS })
      return { sent: true, nextInMs: leftMs }
    },
    check: async (who, guess) => {
      const kept = await store.code(who.sub)
      if (kept === null) return { kind: (await isRepeat(who, guess)) ? 'right' : 'expired' }
      const nth = await store.guess(who.sub, kept)
      if (nth > CODE_ATTEMPTS) return { kind: (await isRepeat(who, guess)) ? 'right' : 'exhausted' }
      if (!fits(kept, who, guess)) return { kind: 'wrong', attemptsRemaining: CODE_ATTEMPTS - nth }
      await store.verify(who.sub, who.email)
      return { kind: 'right' }
    },
    isVerified: async ({ sub, email }) => (await store.verifiedEmail(sub)) === email,
  }
}

function codeMail(code: string): Pick<Mail, 'subject' | 'text'> {
  return {
    subject: 'Your Touchline code', // subjects are logged, codes are not
    text: [
      `Your code is ${code}.`,
      '',
      `It is valid for ${CODE_TTL_MS / MINUTE_MS} minutes. Touchline will never ask you for it.`,
      'If you did not try to register, ignore this mail.',
    ].join('\n'),
  }
}
