/** Signing keys of tokens and tickets: from the configuration, or generated once and kept in the data folder. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { link, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import { z } from 'zod'

export interface SigningKeys {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** Goes into the header of every token. */
  readonly keyId: string
  /** Every key whose tokens count, by its id: this one, and those that it replaces or that will replace it. */
  readonly verifying: ReadonlyMap<string, KeyObject>
}

/** A public RSA key with its id. */
const PublicKey = z.strictObject({
  kty: z.literal('RSA'),
  kid: z.string().regex(/^[\w.-]{1,100}$/),
  n: z.base64url().min(342), // 2048 bits
  e: z.base64url(),
  alg: z.literal('RS256').default('RS256'),
  use: z.literal('sig').default('sig'),
})
export type PublicKey = Readonly<z.output<typeof PublicKey>>

const PublicKeySet = z.object({ keys: z.array(PublicKey).max(10) })

/**
 * The keys of a JWKS document: at most ten RSA keys of at least 2048 bits, without their private parts. Null if
 * invalid.
 */
export function publicKeysFrom(jwks: string): readonly PublicKey[] | null {
  try {
    const { keys } = PublicKeySet.parse(JSON.parse(jwks))
    for (const key of keys) createPublicKey({ key, format: 'jwk' })
    return keys
  } catch {
    return null
  }
}

/** The public half of a signing key, for a JWKS document. */
export async function publicKeyOf({ publicKey, keyId }: SigningKeys): Promise<PublicKey> {
  return PublicKey.parse({ ...(await exportJWK(publicKey)), kid: keyId })
}

export interface KeySource {
  /** Holds a generated key. Unused when a key is configured. */
  readonly dataDir: string
  /** PKCS8 PEM, or null. */
  readonly privateKeyPem: string | null
  /** Null: the RFC 7638 thumbprint of the public key. */
  readonly keyId: string | null
  /** Other keys whose tokens count. */
  readonly publicKeys?: readonly PublicKey[]
}

const KEY_FILE = 'jwt-private-key.pem'
const SECRET_FILE = 'ticket-secret'
const MODULUS_BITS = 2_048

/** The configured key, or the one in the data folder, which is generated if missing and readable by its owner only. */
export async function loadOrCreateKeys(source: KeySource): Promise<SigningKeys> {
  const privateKey = createPrivateKey(source.privateKeyPem ?? (await kept(source.dataDir, KEY_FILE, newPrivateKeyPem)))
  const publicKey = createPublicKey(privateKey)
  const keyId = source.keyId ?? (await calculateJwkThumbprint(publicKey))
  const others = (source.publicKeys ?? []).map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })] as const)
  return { privateKey, publicKey, keyId, verifying: new Map([...others, [keyId, publicKey]]) }
}

/** A new RSA private key as PKCS8 PEM. */
export async function newPrivateKeyPem(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** The secret in the data folder, generated in the same way if missing. */
export function loadOrCreateSecret(dataDir: string, create: () => string): Promise<string> {
  return kept(dataDir, SECRET_FILE, async () => create())
}

async function kept(dataDir: string, name: string, create: () => Promise<string>): Promise<string> {
  const path = join(dataDir, name)
  await mkdir(dataDir, { recursive: true })
  const found = await readFile(path, 'utf8').catch(nullWhen('ENOENT'))
  if (found !== null) return found
  // Two processes may start at once: the first link wins with a whole file, and the other process reads that one.
  const draft = await mkdtemp(join(dataDir, 'new-key-'))
  try {
    await writeFile(join(draft, name), await create(), { mode: 0o600 })
    await link(join(draft, name), path).catch(nullWhen('EEXIST'))
  } finally {
    await rm(draft, { recursive: true })
  }
  return readFile(path, 'utf8')
}

const nullWhen =
  (code: string) =>
  (error: unknown): null => {
    if (error instanceof Error && 'code' in error && error.code === code) return null
    throw error
  }
