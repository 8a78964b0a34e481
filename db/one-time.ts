/** Single-use and short-lived items of a sign-in: nonces, one-time codes, and proof of an e-mail address. */
import { CODE_PAUSE_MS, CODE_TTL_MS, NONCE_TTL_MS } from '../actors/kernel/limits.ts'
import { type FastStore, keys } from './fast/fast-store.ts'

/** A code as stored: a digest, from which it cannot be read. */
export interface KeptCode {
  readonly id: string
  readonly digest: string
}

/** Every method throws when the fast store is unavailable; there is no fallback. */
export class OneTime {
  readonly #fast: FastStore
  readonly #verifiedMs: number

  /** How long the proof of an e-mail address is valid. */
  constructor(fast: FastStore, verifiedMs: number) {
    this.#fast = fast
    this.#verifiedMs = verifiedMs
  }

  /** True for exactly one of several claimants of a nonce. */
  claimNonce(nonce: string): Promise<boolean> {
    return this.#fast.claim(keys.nonce(nonce), NONCE_TTL_MS)
  }

  /** Starts the pause before another code, for exactly one of several callers. The others get the milliseconds left. */
  async startPause(subject: string): Promise<{ readonly started: boolean; readonly leftMs: number }> {
    const { count, endsInMs } = await this.#fast.hit(keys.pause(subject), CODE_PAUSE_MS)
    return { started: count === 1, leftMs: endsInMs }
  }

  /** Sets the subject's code. An earlier one is no longer valid. */
  putCode(subject: string, { id, digest }: KeptCode): Promise<void> {
    return this.#fast.set(keys.code(subject), `${id}.${digest}`, CODE_TTL_MS)
  }

  async code(subject: string): Promise<KeptCode | null> {
    const kept = await this.#fast.get(keys.code(subject))
    if (kept === null) return null
    const [id = '', digest = ''] = kept.split('.')
    return { id, digest }
  }

  /** Counts a guess at a code and returns its number, from 1. */
  async guess(code: KeptCode): Promise<number> {
    return (await this.#fast.hit(keys.guesses(code.id), CODE_TTL_MS)).count
  }

  /** Records that the subject has proved this e-mail address; the code is used up. */
  async verify(subject: string, email: string): Promise<void> {
    await this.#fast.set(keys.verified(subject), email, this.#verifiedMs)
    await this.#fast.del(keys.code(subject))
  }

  /** The e-mail address that the subject has proved, or null. */
  verifiedEmail(subject: string): Promise<string | null> {
    return this.#fast.get(keys.verified(subject))
  }
}
