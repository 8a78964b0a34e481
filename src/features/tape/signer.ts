/** Signs the ends of tapes, so that nobody can change a tape later without contradicting themselves. */
import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto'
import { HOUR_MS, type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import type { Checkpoint, TapeKey, Unsigned } from '../../../db/public-tape.ts'
import type { Place } from '../../../db/tape-lines.ts'
import type { SigningKeys } from '../../auth/keys.ts'

/** The tapes that wait for a signature, and where the signatures go. */
export interface Tapes {
  readonly unsigned: (last: Instant, ended: Instant) => Promise<readonly Unsigned[]>
  readonly endOf: (tape: Unsigned) => Promise<Place>
  readonly sign: (checkpoint: Checkpoint) => Promise<void>
  readonly addKey: (key: TapeKey) => Promise<void>
}

/** What comes before the 32 bytes of an Ed25519 private key in PKCS8 (RFC 8410, section 7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')
const SEED_BYTES = 32
/** Between two checkpoints of a match that runs. Its end is signed at once. */
const EVERY_MS = 50_000
/** How long the last lines of a tape may wait while a process runs that signs them. */
const LATEST_MS = 24 * HOUR_MS
/** Looks at all that has ever ended: an old tape that cannot be read does not take the time of the others for ever. */
const LOOKS_BEHIND_MAX = 20

export class TapeSigner {
  readonly #key: KeyObject
  readonly #kid: string
  readonly #publicKey: string
  readonly #tapes: Tapes
  readonly #world: Pick<World, 'now'>
  #isPublished = false
  /** How many more times it looks for tapes that ended, unsigned, before the process began. */
  #looksBehind = LOOKS_BEHIND_MAX

  /**
   * The key is derived from the key that signs tokens: there is one secret less to keep, and it is rotated with the
   * other. The public keys of the past are kept with the tapes.
   */
  constructor({ privateKey }: Pick<SigningKeys, 'privateKey'>, tapes: Tapes, world: Pick<World, 'now'>) {
    const secret = privateKey.export({ type: 'pkcs8', format: 'der' })
    const seed = Buffer.from(hkdfSync('sha256', secret, '', 'touchline tape checkpoints', SEED_BYTES))
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' })
    this.#publicKey = String(createPublicKey(this.#key).export({ format: 'jwk' }).x)
    this.#kid = createHash('sha256').update(this.#publicKey).digest('hex').slice(0, 16)
    this.#tapes = tapes
    this.#world = world
  }

  /**
   * Signs the tapes that run once a minute, and those that have ended. A tape that cannot be signed keeps no other
   * unsigned; the first such failure is thrown at the end. Call it every few seconds.
   */
  async signAll(): Promise<number> {
    const now = this.#world.now()
    const isBehind = this.#looksBehind > 0
    if (isBehind) this.#looksBehind--
    const unsigned = await this.#tapes.unsigned(instant(now - EVERY_MS), instant(isBehind ? 0 : now - LATEST_MS))
    const failures: unknown[] = []
    let [count, ended] = [0, 0]
    for (const tape of unsigned) {
      try {
        if (!(await this.#sign(tape))) continue
        count++
        if (tape.hasEnded) ended++
      } catch (error) {
        failures.push(error)
      }
    }
    if (ended === 0 && failures.length === 0) this.#looksBehind = 0
    if (failures.length > 0) throw failures[0]
    return count
  }

  /** False if there is nothing to sign. */
  async #sign(tape: Unsigned): Promise<boolean> {
    const { n, hash } = await this.#tapes.endOf(tape)
    if (n === tape.signed.n) return false
    await this.#publishKey()
    const signed = { matchId: tape.matchId, n, hash, at: this.#world.now(), kid: this.#kid }
    const signature = sign(null, Buffer.from(JSON.stringify(signed)), this.#key).toString('base64')
    await this.#tapes.sign({ ...signed, signature })
    return true
  }

  async #publishKey(): Promise<void> {
    if (this.#isPublished) return
    await this.#tapes.addKey({ kid: this.#kid, publicKey: this.#publicKey, since: this.#world.now() })
    this.#isPublished = true
  }
}
