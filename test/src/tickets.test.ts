import { describe, expect, it } from 'vitest'
import { SignJWT } from 'jose'
import { createTickets } from '../../src/auth/tickets.ts'
import { TestWorld } from '../support/test-world.ts'

const secret = 'a secret of more than thirty-two characters'
const ada = { sub: 'ada', email: 'ada@example.com', name: 'Ada L.', picture: null }

describe('a registration ticket', () => {
  it("holds the identity provider's claims for its lifetime, and is invalid afterwards", async () => {
    const world = new TestWorld()
    const { issue, read } = createTickets({ secret, ttlSecs: 300, world })
    const issuedAt = Math.floor(world.now() / 1_000) * 1_000
    const ticket = await issue(ada)
    expect((await read(ticket))?.id).not.toBe((await read(await issue(ada)))?.id)
    expect(await read(ticket)).toMatchObject({ identity: ada, expiresAt: issuedAt + 300_000 })
    world.pass(299_999)
    expect(await read(ticket)).toMatchObject({ identity: ada, expiresAt: issuedAt + 300_000 })
    world.pass(1)
    expect(await read(ticket)).toBeNull()
  })

  it('cannot be changed, forged, or replaced by another token', async () => {
    const world = new TestWorld()
    const { issue, read } = createTickets({ secret, ttlSecs: 300, world })
    const [head = '', , signature = ''] = (await issue(ada)).split('.')
    const claims = { iss: 'game-api', jti: 'one', exp: Math.floor(world.now() / 1_000) + 60, ...ada }
    const payload = Buffer.from(JSON.stringify({ ...claims, sub: 'bob' })).toString('base64url')
    const none = Buffer.from('{"alg":"none","typ":"registration-ticket"}').toString('base64url')
    const signed = (typ: string, key: string, issuer = 'game-api') =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', typ })
        .setIssuer(issuer)
        .sign(new TextEncoder().encode(key))
    const bad = {
      altered: `${head}.${payload}.${signature}`,
      unsigned: `${none}.${payload}.`,
      'of another secret': await signed('registration-ticket', secret.toUpperCase()),
      'of another type': await signed('JWT', secret),
      'of another issuer': await signed('registration-ticket', secret, 'somebody'),
      empty: '',
      nonsense: 'a.b.c',
    }
    for (const [what, ticket] of Object.entries(bad)) expect(await read(ticket), what).toBeNull()
    expect(await read(await signed('registration-ticket', secret))).toMatchObject({ id: 'one', identity: ada })
  })
})
