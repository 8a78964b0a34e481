/** A local identity provider: a real HTTP server with a key set, whose tokens and failures a test chooses. */
import { createServer, type Server } from 'node:http'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { listenLocally } from './listen.ts'

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']
interface Key {
  readonly id: string
  readonly privateKey: PrivateKey
  readonly jwk: JWK
}

export const CLIENT_ID = 'touchline-test'

async function newKey(id: string): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  return { id, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: id, alg: 'RS256', use: 'sig' } }
}

/** Claims that differ from those of a valid token. */
export interface TokenWishes {
  readonly claims?: Readonly<Record<string, unknown>>
  /** When it is issued, in seconds. */
  readonly at?: number
}

export class IdentityServer {
  readonly #server: Server
  readonly issuer: string
  #keys: readonly Key[]
  #rotations = 0
  /** The number of requests for the key set. */
  asked = 0
  /** The answer instead of the key set. */
  mishap: 'none' | 'error' | 'nonsense' = 'none'

  private constructor(server: Server, url: string, keys: readonly Key[]) {
    this.#server = server
    this.issuer = url
    this.#keys = keys
  }

  static async start(): Promise<IdentityServer> {
    const server = createServer((_request, response) => {
      provider.asked++
      response.statusCode = provider.mishap === 'error' ? 500 : 200
      response.setHeader('content-type', 'application/json')
      response.end(provider.mishap === 'nonsense' ? '<html>' : JSON.stringify(provider.keySet()))
    })
    const url = await listenLocally(server)
    const provider: IdentityServer = new IdentityServer(server, url, [await newKey('first')])
    return provider
  }

  get keysUrl(): string {
    return `${this.issuer}/keys`
  }

  keySet(): { readonly keys: readonly JWK[] } {
    return { keys: this.#keys.map(({ jwk }) => jwk) }
  }

  /** Replaces the signing key; earlier keys are no longer in the set. */
  async rotate(): Promise<void> {
    this.#keys = [await newKey(`rotated-${++this.#rotations}`)]
  }

  claims(
    sub: string,
    nonce: string,
    { claims = {}, at = Math.floor(Date.now() / 1_000) }: TokenWishes = {},
  ): JWTPayload {
    return {
      iss: this.issuer,
      aud: CLIENT_ID,
      sub,
      email: `${sub}@example.com`,
      email_verified: true,
      name: `The ${sub}`,
      picture: `https://pictures.example/${sub}.png`,
      nonce,
      iat: at,
      exp: at + 3_600,
      ...claims,
    }
  }

  token(sub: string, nonce: string, wishes: TokenWishes = {}): Promise<string> {
    const key = this.#keys[0]
    if (key === undefined) throw new Error('no key')
    return new SignJWT(this.claims(sub, nonce, wishes))
      .setProtectedHeader({ alg: 'RS256', kid: key.id })
      .sign(key.privateKey)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((closed) => this.#server.close(() => closed()))
  }
}

/** Invalid tokens an attacker might send, each with the given nonce. */
export async function hostileTokens(provider: IdentityServer, nonce: string): Promise<Record<string, string>> {
  const now = Math.floor(Date.now() / 1_000)
  const good = await provider.token('mallory', nonce)
  const [head = '', payload = '', signature = ''] = good.split('.')
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const stranger = await newKey('first')
  const claimed = provider.claims('mallory', nonce)
  const publicKey = JSON.stringify(provider.keySet().keys[0])
  const wish = (claims: TokenWishes['claims'] = {}) => provider.token('mallory', nonce, { claims })
  return {
    'for another client': await wish({ aud: 'another-client' }),
    'of another issuer': await wish({ iss: 'https://accounts.evil.example' }),
    expired: await wish({ iat: now - 7_200, exp: now - 3_600 }),
    'not yet valid': await wish({ nbf: now + 600 }),
    'without an end': await wish({ exp: undefined }),
    'that another client asked for': await wish({ azp: 'another-client' }),
    'with an unverified e-mail': await wish({ email_verified: false }),
    'with an e-mail verified by word only': await wish({ email_verified: 'true' }),
    'without an e-mail': await wish({ email: undefined }),
    'with an e-mail of two lines': await wish({ email: 'a@example.com\r\nBcc: b@example.com' }),
    'without a subject': await wish({ sub: undefined }),
    'for another nonce': await wish({ nonce: `${nonce}x` }),
    'without a nonce': await wish({ nonce: undefined }),
    unsigned: `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`,
    'unsigned, with a signature left': `${encoded({ alg: 'none' })}.${payload}.${signature}`,
    'HS256 with the public key': await new SignJWT(claimed)
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(new TextEncoder().encode(publicKey)),
    "signed with a stranger's key": await new SignJWT(claimed)
      .setProtectedHeader({ alg: 'RS256', kid: 'first' })
      .sign(stranger.privateKey),
    'with a key of its own': await new SignJWT(claimed)
      .setProtectedHeader({ alg: 'RS256', jwk: stranger.jwk })
      .sign(stranger.privateKey),
    altered: `${head}.${encoded({ ...claimed, sub: 'another-user' })}.${signature}`,
    'cut off': good.slice(0, -40),
    'without its signature': `${head}.${payload}`,
    'no token': 'x',
    'with a head of nonsense': `x.${payload}.${signature}`,
    'with a body of nonsense': `${head}.x.${signature}`,
  }
}
