/** Signing keys of tokens and tickets: from the configuration, or generated once and kept in the data folder. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { link, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { calculateJwkThumbprint } from 'jose'

export interface SigningKeys {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** Goes into the header of every token. */
  readonly keyId: string
}

export interface KeySource {
  /** Holds a generated key. Unused when a key is configured. */
  readonly dataDir: string
  /** PKCS8 PEM, or null. */
  readonly privateKeyPem: string | null
  /** Null: the RFC 7638 thumbprint of the public key. */
  readonly keyId: string | null
}

const KEY_FILE = 'jwt-private-key.pem'
const SECRET_FILE = 'ticket-secret'
const MODULUS_BITS = 2_048

/** The configured key, or the one in the data folder, which is generated if missing and readable by its owner only. */
export async function loadOrCreateKeys(source: KeySource): Promise<SigningKeys> {
  const privateKey = createPrivateKey(source.privateKeyPem ?? (await kept(source.dataDir, KEY_FILE, newPrivateKeyPem)))
  const publicKey = createPublicKey(privateKey)
  const keyId = source.keyId ?? (await calculateJwkThumbprint(publicKey))
  return { privateKey, publicKey, keyId }
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
