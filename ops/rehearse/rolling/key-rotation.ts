/** The settings of a signing key that is replaced in two steps, as `keygen --rotate` prints them. */
import { loadOrCreateKeys, newPrivateKeyPem, publicKeyOf } from '../../../src/auth/keys.ts'
import type { Settings } from '../rig/program.ts'

export interface KeyRotation {
  /** Before it. */
  readonly former: Settings
  /** Each process accepts tokens of the next key. */
  readonly announced: Settings
  /** Each process signs with the next key, and accepts tokens of the former one. */
  readonly replaced: Settings
}

export async function keyRotation(): Promise<KeyRotation> {
  const [former, next] = await Promise.all([newPrivateKeyPem(), newPrivateKeyPem()])
  const others = async (privateKeyPem: string): Promise<string> => {
    const keys = await loadOrCreateKeys({ dataDir: '.', privateKeyPem, keyId: null })
    return JSON.stringify({ keys: [await publicKeyOf(keys)] })
  }
  return {
    former: { JWT_PRIVATE_KEY: former },
    announced: { JWT_PREVIOUS_PUBLIC_KEYS: await others(next) },
    replaced: { JWT_PRIVATE_KEY: next, JWT_PREVIOUS_PUBLIC_KEYS: await others(former) },
  }
}
