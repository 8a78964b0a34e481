import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIdentityProvider, IdentityProviderAway } from '../../src/auth/identity.ts'
import { createLog } from '../../src/observe/log.ts'
import { CLIENT_ID, hostileTokens, IdentityServer } from '../support/identity-provider.ts'
import { TestWorld } from '../support/test-world.ts'

const HOUR = 3_600_000
const ADA = { identity: { sub: 'ada' } }

describe('the identity provider', () => {
  let server: IdentityServer
  let world: TestWorld
  let warnings: string[]
  beforeEach(async () => {
    server = await IdentityServer.start()
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

  it('[S5] returns the account of a valid token', async () => {
    const { identify } = open()
    expect(await identify(await server.token('ada', 'n1'), 'n1')).toMatchObject({
      identity: {
        sub: 'ada',
        email: 'ada@example.com',
        name: 'The ada',
        picture: 'https://pictures.example/ada.png',
      },
    })
    const bare = { name: undefined, picture: 'javascript:alert(1)' }
    expect(await identify(await server.token('ada', 'n1', { claims: bare }), 'n1')).toMatchObject({
      identity: { name: 'ada@example.com', picture: null },
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
    const token = await server.token('ada', 'n1', { at: now(), claims: { exp: now() + 60 } })
    world.pass(64_000)
    expect(await identify(token, 'n1')).toMatchObject(ADA)
    world.pass(2_000)
    expect(await identify(token, 'n1')).toBeNull()
  })

  it('[S23] says when the user proved who they are, if the provider does', async () => {
    const { identify } = open()
    const at = now() - 60
    const says = await server.token('ada', 'n1', { claims: { auth_time: at } })
    expect(await identify(says, 'n1')).toMatchObject({ authenticatedAt: at * 1_000 })
    expect(await identify(await server.token('ada', 'n1'), 'n1')).toMatchObject({ authenticatedAt: null })
  })

  it('[S5] a token counts until it expires, whatever its age, and must be remembered as long', async () => {
    const { identify } = open()
    const token = await server.token('ada', 'n1', { at: now(), claims: { iat: undefined, exp: now() + 3_600 } })
    const until = (await identify(token, 'n1'))?.until ?? 0
    world.pass(3_604_000)
    expect(await identify(token, 'n1')).toMatchObject(ADA)
    expect(until).toBeGreaterThan(world.now())
    world.pass(1_000)
    expect(await identify(token, 'n1')).toBeNull()
  })

  it('[S5] accepts a token that another client asked for only if none is named', async () => {
    const { identify } = open()
    const asked = async (claims: Record<string, unknown>) => identify(await server.token('ada', 'n1', { claims }), 'n1')
    expect(await asked({ azp: CLIENT_ID })).toMatchObject(ADA)
    expect(await asked({ aud: ['another', CLIENT_ID], azp: 'another' })).toBeNull()
    expect(await asked({ azp: 7 })).toBeNull()
  })

  it('fetches the keys once, again after six hours, and once for an unknown key', async () => {
    const { identify } = open(0)
    const ask = async () => identify(await server.token('ada', 'n1', { at: now() }), 'n1')
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
    const stranger = await IdentityServer.start()
    await stranger.rotate()
    const token = await stranger.token('mallory', 'n1', { claims: { iss: server.issuer } })
    for (let n = 0; n < 20; n++) expect(await identify(token, 'n1')).toBeNull()
    expect(server.asked).toBe(1)
    await stranger.stop()
  })

  it('keeps using its keys while the provider is unavailable, and tries again after a minute', async () => {
    const { identify } = open()
    const ask = async () => identify(await server.token('ada', 'n1', { at: now() }), 'n1')
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
    const token = await server.token('ada', 'n1', { at: now() })
    for (const mishap of ['error', 'nonsense'] as const) {
      server.mishap = mishap
      await expect(identify(token, 'n1')).rejects.toThrow(IdentityProviderAway)
    }
    server.mishap = 'none'
    expect(await identify(token, 'n1')).toMatchObject(ADA)
  })

  it('an unreachable provider counts as unavailable', async () => {
    const { identify } = open()
    const token = await server.token('ada', 'n1', { at: now() })
    await server.stop()
    await expect(identify(token, 'n1')).rejects.toThrow(IdentityProviderAway)
    server = await IdentityServer.start() // for afterEach
  })
})
