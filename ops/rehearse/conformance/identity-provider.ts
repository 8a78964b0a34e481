/** The suite's own identity provider: an HTTP server with a key set, and RS256 tokens for any account. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { exportJWK, type JWK, type JWTPayload, SignJWT } from 'jose'
import { listen } from './listen.ts'

/** Undefined removes a claim. */
type Claims = Readonly<Record<string, unknown>>

interface Key {
  readonly id: string
  readonly privateKey: KeyObject
  readonly jwk: JWK
}

export const CLIENT_ID = 'conformance-client'
const KEY_ID = 'conformance'

async function keyOf(id: string, privateKey: KeyObject = newPrivateKey()): Promise<Key> {
  const jwk = { ...(await exportJWK(createPublicKey(privateKey))), kid: id, alg: 'RS256', use: 'sig' }
  return { id, privateKey, jwk }
}

const newPrivateKey = (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey

const sign = (claims: JWTPayload, { id, privateKey }: Key): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: id }).sign(privateKey)

export class IdentityProvider {
  readonly issuer: string
  readonly #server: Server
  #key: Key
  #rotations = 0
  /** The number of requests for the key set. */
  asked = 0
  /** The answer instead of the key set. */
  mishap: 'none' | 'error' | 'nonsense' = 'none'

  private constructor(server: Server, issuer: string, key: Key) {
    this.#server = server
    this.issuer = issuer
    this.#key = key
  }

  /** `pem`: the private key. A deployment caches the key set for a while, so a later run must use the same key. */
  static async start(port = 0, pem?: string): Promise<IdentityProvider> {
    const server = createServer((_request, response) => {
      provider.asked++
      response.writeHead(provider.mishap === 'error' ? 500 : 200, { 'content-type': 'application/json' })
      response.end(provider.mishap === 'nonsense' ? '<html>' : JSON.stringify(provider.keySet()))
    })
    const key = await keyOf(KEY_ID, pem === undefined ? undefined : createPrivateKey(pem))
    const provider: IdentityProvider = new IdentityProvider(
      server,
      `http://127.0.0.1:${await listen(server, port)}`,
      key,
    )
    return provider
  }

  get keysUrl(): string {
    return `${this.issuer}/keys`
  }

  keySet(): { readonly keys: readonly JWK[] } {
    return { keys: [this.#key.jwk] }
  }

  /** Replaces the signing key; the earlier one is no longer in the set. */
  async rotate(): Promise<void> {
    this.#key = await keyOf(`rotated-${++this.#rotations}`)
  }

  /** The claims of a valid token for this account; `instead` overrides some. */
  claims(sub: string, nonce: string, instead: Claims = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1_000)
    const who = { sub, email: `${sub}@conformance.example`, email_verified: true, name: `Name of ${sub}` }
    const picture = `https://pictures.example/${sub}.png`
    return { iss: this.issuer, aud: CLIENT_ID, ...who, picture, nonce, iat: now, exp: now + 3_600, ...instead }
  }

  token(sub: string, nonce: string, instead: Claims = {}): Promise<string> {
    return sign(this.claims(sub, nonce, instead), this.#key)
  }

  /** A token with valid claims, signed with a key that is not in the key set but has the id of one that is. */
  async strangersToken(sub: string, nonce: string): Promise<string> {
    return sign(this.claims(sub, nonce), await keyOf(this.#key.id))
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((closed) => this.#server.close(() => closed()))
  }
}
