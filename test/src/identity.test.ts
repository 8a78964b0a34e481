import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CLIENT_ID, IdentityProvider } from '../../ops/rehearse/conformance/identity-provider.ts'
import { createIdentityProvider, IdentityProviderAway } from '../../src/auth/identity.ts'
import { createLog } from '../../src/observe/log.ts'
import { TestWorld } from '../support/test-world.ts'

const HOUR = 3_600_000
const ADA = { identity: { sub: 'ada' } }

describe('the identity provider', () => {
  let server: IdentityProvider
  let world: TestWorld
  let warnings: string[]
  beforeEach(async () => {
    server = await IdentityProvider.start()
    world = new TestWorld({ now: Date.now() })
    warnings = []
  })
  afterEach(() => server.stop())

  const open = (cooldownMs?: number) =>
    createIdentityProvider({
      clientId: CLIENT_ID,
      issuer: server.issuer,
      keysUrl: server.keysUrl,
      world,
      log: createLog({ level: 'warn', world, readable: false, write: (line) => warnings.push(line) }),
      ...(cooldownMs === undefined ? {} : { cooldownMs }),
    })
  const now = () => Math.floor(world.now() / 1_000)
  /** A token issued now, by the clock of the test. */
  const fresh = () => server.token('ada', 'n1', { iat: now(), exp: now() + 3_600 })

  it('[S5] returns the account of a valid token', async () => {
    const { identify } = open()
    expect(await identify(await server.token('ada', 'n1'), 'n1')).toMatchObject({
      identity: {
        sub: 'ada',
        email: 'ada@conformance.example',
        name: 'Name of ada',
        picture: 'https://pictures.example/ada.png',
      },
    })
    const bare = { name: undefined, picture: 'javascript:alert(1)' }
    expect(await identify(await server.token('ada', 'n1', bare), 'n1')).toMatchObject({
      identity: { name: undefined, picture: undefined },
    })
    const marked = { name: '\u200f\u05d3\u05d5\u05d3\tCohen \u{1f3f4}\u{e0067}\u{e007f}' }
    expect(
      await identify(await server.token('ada', 'n1', marked), 'n1'),
      'what is not to be seen is left out',
    ).toMatchObject({
      identity: { name: '\u05d3\u05d5\u05d3 Cohen \u{1f3f4}' },
    })
    const persian = { name: 'Zoe\u0308 \u0645\u06cc\u200c\u062e' } // with a joiner, and an accent of its own
    expect(await identify(await server.token('ada', 'n1', persian), 'n1')).toMatchObject({
      identity: { name: persian.name.normalize() },
    })
  })

  it('[S5] rejects every other token', async () => {
    const { identify } = open()
    for (const [what, token] of Object.entries(await hostileTokens(server, 'n1'))) {
      expect(await identify(token, 'n1'), what).toBeNull()
    }
  })

  it('[S5] rejects an expired token, allowing five seconds of clock difference', async () => {
    const { identify } = open()
    const token = await server.token('ada', 'n1', { iat: now(), exp: now() + 60 })
    world.pass(64_000)
    expect(await identify(token, 'n1')).toMatchObject(ADA)
    world.pass(2_000)
    expect(await identify(token, 'n1')).toBeNull()
  })

  it('[S23] says when the user proved who they are, if the provider does', async () => {
    const { identify } = open()
    const at = now() - 60
    const says = await server.token('ada', 'n1', { auth_time: at })
    expect(await identify(says, 'n1')).toMatchObject({ authenticatedAt: at * 1_000 })
    expect(await identify(await server.token('ada', 'n1'), 'n1')).toMatchObject({ authenticatedAt: null })
  })

  it('[S5] a token counts until it expires, whatever its age, and must be remembered as long', async () => {
    const { identify } = open()
    const token = await server.token('ada', 'n1', { iat: undefined, exp: now() + 3_600 })
    const until = (await identify(token, 'n1'))?.until ?? 0
    world.pass(3_604_000)
    expect(await identify(token, 'n1')).toMatchObject(ADA)
    expect(until).toBeGreaterThan(world.now())
    world.pass(1_000)
    expect(await identify(token, 'n1')).toBeNull()
  })

  it('[S5] accepts a token that another client asked for only if none is named', async () => {
    const { identify } = open()
    const asked = async (claims: Record<string, unknown>) => identify(await server.token('ada', 'n1', claims), 'n1')
    expect(await asked({ azp: CLIENT_ID })).toMatchObject(ADA)
    expect(await asked({ aud: ['another', CLIENT_ID], azp: 'another' })).toBeNull()
    expect(await asked({ azp: 7 })).toBeNull()
  })

  it('fetches the keys once, again after six hours, and once for an unknown key', async () => {
    const { identify } = open(0)
    const ask = async () => identify(await fresh(), 'n1')
    await Promise.all([ask(), ask(), ask()])
    world.pass(6 * HOUR - 1)
    await ask()
    expect(server.asked).toBe(1)
    world.pass(1)
    await Promise.all([ask(), ask(), ask()])
    expect(server.asked).toBe(2)
    await server.rotate()
    expect(await ask()).toMatchObject(ADA)
    expect(server.asked).toBe(3)
  })

  it('does not fetch the keys repeatedly for an unknown key', async () => {
    const { identify } = open()
    const stranger = await IdentityProvider.start()
    await stranger.rotate()
    const token = await stranger.token('mallory', 'n1', { iss: server.issuer })
    for (let n = 0; n < 20; n++) expect(await identify(token, 'n1')).toBeNull()
    expect(server.asked).toBe(1)
    await stranger.stop()
  })

  it('keeps using its keys while the provider is unavailable, and tries again after a minute', async () => {
    const { identify } = open()
    const ask = async () => identify(await fresh(), 'n1')
    await ask()
    for (const mishap of ['error', 'nonsense'] as const) {
      server.mishap = mishap
      world.pass(6 * HOUR)
      const before = server.asked
      for (let n = 0; n < 3; n++) expect(await ask()).toMatchObject(ADA)
      expect(server.asked).toBe(before + 1)
    }
    expect(warnings.map((line) => JSON.parse(line).event)).toEqual(Array(2).fill('identity_keys_refresh_failed'))
    server.mishap = 'none'
    world.pass(60_000)
    await server.rotate()
    expect(await ask()).toMatchObject(ADA)
  })

  it('rejects a malformed token even without keys', async () => {
    const { identify } = open()
    server.mishap = 'error'
    const tokens = await hostileTokens(server, 'n1')
    const hopeless = ['for another client', 'of another issuer', 'unsigned', 'HS256 with the public key', 'no token']
    for (const what of [...hopeless, 'with a head of nonsense', 'with a body of nonsense']) {
      expect(await identify(tokens[what] ?? '', 'n1'), what).toBeNull()
    }
    expect(server.asked).toBe(0)
  })

  it('without any keys verification is a fault, not a refusal', async () => {
    const { identify } = open()
    const token = await fresh()
    for (const mishap of ['error', 'nonsense'] as const) {
      server.mishap = mishap
      await expect(identify(token, 'n1')).rejects.toThrow(IdentityProviderAway)
    }
    server.mishap = 'none'
    expect(await identify(token, 'n1')).toMatchObject(ADA)
  })

  it('an unreachable provider counts as unavailable', async () => {
    const { identify } = open()
    const token = await fresh()
    await server.stop()
    await expect(identify(token, 'n1')).rejects.toThrow(IdentityProviderAway)
    server = await IdentityProvider.start() // for afterEach
  })
})

/** Invalid tokens an attacker might send, each with the given nonce. */
async function hostileTokens(provider: IdentityProvider, nonce: string): Promise<Record<string, string>> {
  const now = Math.floor(Date.now() / 1_000)
  const good = await provider.token('mallory', nonce)
  const [head = '', payload = '', signature = ''] = good.split('.')
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claimed = provider.claims('mallory', nonce)
  const [known] = provider.keySet().keys
  const own = await generateKeyPair('RS256')
  const wish = (claims: Record<string, unknown>) => provider.token('mallory', nonce, claims)
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
      .setProtectedHeader({ alg: 'HS256', kid: String(known?.kid) })
      .sign(new TextEncoder().encode(JSON.stringify(known))),
    "signed with a stranger's key": await provider.strangersToken('mallory', nonce),
    'with a key of its own': await new SignJWT(claimed)
      .setProtectedHeader({ alg: 'RS256', jwk: await exportJWK(own.publicKey) })
      .sign(own.privateKey),
    altered: `${head}.${encoded({ ...claimed, sub: 'another-user' })}.${signature}`,
    'cut off': good.slice(0, -40),
    'without its signature': `${head}.${payload}`,
    'no token': 'x',
    'with a head of nonsense': `x.${payload}.${signature}`,
    'with a body of nonsense': `${head}.x.${signature}`,
  }
}
