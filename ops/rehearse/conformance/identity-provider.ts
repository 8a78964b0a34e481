/** The suite's own identity provider: an HTTP server with a key set, and RS256 tokens for any account. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { listen } from './listen.ts'

/** Undefined removes a claim. */
type Claims = Readonly<Record<string, unknown>>

export const CLIENT_ID = 'conformance-client'

export class IdentityProvider {
  /** Issuer and, with `/keys`, the address of the key set. */
  readonly issuer: string
  readonly #server: Server
  readonly #key: KeyObject

  private constructor(server: Server, issuer: string, key: KeyObject) {
    this.#server = server
    this.issuer = issuer
    this.#key = key
  }

  /** `pem`: the private key. A deployment caches the key set for a while, so a later run must use the same key. */
  static async start(port: number, pem: string): Promise<IdentityProvider> {
    const privateKey = createPrivateKey(pem)
    const jwk: JWK = { ...(await exportJWK(createPublicKey(privateKey))), kid: 'conformance', alg: 'RS256', use: 'sig' }
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [jwk] }))
    })
    return new IdentityProvider(server, `http://127.0.0.1:${await listen(server, port)}`, privateKey)
  }

  /** The claims of a valid token for this account; `instead` overrides some. */
  claims(sub: string, nonce: string, instead: Claims = {}): JWTPayload {
    const now = Math.floor(Date.now() / 1_000)
    const who = { sub, email: `${sub}@conformance.example`, email_verified: true, name: `Name of ${sub}` }
    const picture = `https://pictures.example/${sub}.png`
    return { iss: this.issuer, aud: CLIENT_ID, ...who, picture, nonce, iat: now, exp: now + 3_600, ...instead }
  }

  token(sub: string, nonce: string, instead: Claims = {}): Promise<string> {
    const head = { alg: 'RS256', kid: 'conformance' }
    return new SignJWT(this.claims(sub, nonce, instead)).setProtectedHeader(head).sign(this.#key)
  }

  /** A token with valid claims, signed with a key that is not in the key set. */
  async strangersToken(sub: string, nonce: string): Promise<string> {
    const { privateKey } = await generateKeyPair('RS256')
    return new SignJWT(this.claims(sub, nonce))
      .setProtectedHeader({ alg: 'RS256', kid: 'conformance' })
      .sign(privateKey)
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
