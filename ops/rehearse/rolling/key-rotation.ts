/**
 * The settings of keys that are replaced in two steps: the one that signs tokens, as `keygen --rotate` prints it, and
 * the one that signs messages between processes.
 */
import { randomBytes } from 'node:crypto'
import { loadOrCreateKeys, newPrivateKeyPem, publicKeyOf } from '../../../src/auth/keys.ts'
import type { Settings } from '../rig/program.ts'

export interface KeyRotation {
  /** Before it. */
  readonly former: Settings
  /** Each process accepts tokens and messages of the next keys. */
  readonly announced: Settings
  /** Each process signs with the next keys, and accepts tokens and messages of the former ones. */
  readonly replaced: Settings
}

export async function keyRotation(): Promise<KeyRotation> {
  const [former, next] = await Promise.all([newPrivateKeyPem(), newPrivateKeyPem()])
  const others = async (privateKeyPem: string): Promise<string> => {
    const keys = await loadOrCreateKeys({ dataDir: '.', privateKeyPem, keyId: null })
    return JSON.stringify({ keys: [await publicKeyOf(keys)] })
  }
  const [formerBus, nextBus] = [busKey(), busKey()]
  return {
    former: { JWT_PRIVATE_KEY: former, BUS_KEY: formerBus },
    announced: { JWT_PREVIOUS_PUBLIC_KEYS: await others(next), BUS_OTHER_KEY: nextBus },
    replaced: {
      JWT_PRIVATE_KEY: next,
      JWT_PREVIOUS_PUBLIC_KEYS: await others(former),
      BUS_KEY: nextBus,
      BUS_OTHER_KEY: formerBus,
    },
  }
}

const busKey = (): string => randomBytes(32).toString('hex')
