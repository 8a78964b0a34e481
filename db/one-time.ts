/** What is good once or for a while when somebody signs in: nonces, one-time codes, and proof of an e-mail. */
import { CODE_PAUSE_MS, CODE_TTL_MS, NONCE_TTL_MS } from '../actors/kernel/limits.ts'
import { type FastStore, keys } from './fast/fast-store.ts'

/** A code as it is kept: nobody can read it off the store. */
export interface KeptCode {
  readonly id: string
  readonly digest: string
}

/** Every method throws when the fast store is away: nothing here can be answered without it. */
export class OneTime {
  readonly #fast: FastStore
  readonly #verifiedMs: number

  /** Proof of an e-mail is good for so long. */
  constructor(fast: FastStore, verifiedMs: number) {
    this.#fast = fast
    this.#verifiedMs = verifiedMs
  }

  /** True for exactly one of several who claim a nonce. */
  claimNonce(nonce: string): Promise<boolean> {
    return this.#fast.claim(keys.nonce(nonce), NONCE_TTL_MS)
  }

  /** Starts the pause before another code, for exactly one of several. Milliseconds left when it has been started before. */
  async startPause(subject: string): Promise<{ readonly started: boolean; readonly leftMs: number }> {
    const { count, endsInMs } = await this.#fast.hit(keys.pause(subject), CODE_PAUSE_MS)
    return { started: count === 1, leftMs: endsInMs }
  }

  /** The subject's code from now on; an earlier one counts no more. */
  putCode(subject: string, { id, digest }: KeptCode): Promise<void> {
    return this.#fast.set(keys.code(subject), `${id}.${digest}`, CODE_TTL_MS)
  }

  async code(subject: string): Promise<KeptCode | null> {
    const kept = await this.#fast.get(keys.code(subject))
    if (kept === null) return null
    const [id = '', digest = ''] = kept.split('.')
    return { id, digest }
  }

  /** Counts a guess at a code, and says which one it was, from 1. */
  async guess(code: KeptCode): Promise<number> {
    return (await this.#fast.hit(keys.guesses(code.id), CODE_TTL_MS)).count
  }

  /** Keeps that the subject has this e-mail; his code is used up. */
  async verify(subject: string, email: string): Promise<void> {
    await this.#fast.set(keys.verified(subject), email, this.#verifiedMs)
    await this.#fast.del(keys.code(subject))
  }

  /** The e-mail that the subject has proved, or null. */
  verifiedEmail(subject: string): Promise<string | null> {
    return this.#fast.get(keys.verified(subject))
  }
}
