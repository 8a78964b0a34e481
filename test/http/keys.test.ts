import { describe, expect, it } from 'vitest'
import { z } from '@hono/zod-openapi'
import { present } from '../../actors/kernel/assert.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { Rates } from '../../db/rates.ts'
import { isKeySecret, newKeySecret } from '../../src/auth/key-secret.ts'
import { TestWorld } from '../support/test-world.ts'
import { answered, ALICE, alice, openHttpRig, order, SESSION } from './http-rig.ts'

const Made = z.object({
  key: z.object({ id: z.string(), name: z.string(), scopes: z.array(z.string()), expiresAt: z.string() }),
  secret: z.string(),
})
const bearer = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })

/** A rig whose requests are limited. */
async function limitedRig(perMinute: number) {
  const world = new TestWorld()
  const rates = new Rates(fastOrElse(new FastMemory(world), world), world)
  return openHttpRig({ deps: { limits: { perMinute, siteFactor: 0, trustedProxies: 1, rates } } })
}

describe('personal keys', () => {
  it('[S17] are shown once, with a form and a checksum that scanners know', async () => {
    const { send, asAlice, keyRig, log } = await openHttpRig()
    const response = await send('POST', '/api/keys', { name: ' My bot ', scopes: ['trade', 'trade'] })
    expect(response.status).toBe(201)
    const { key, secret } = Made.parse(await response.json())
    expect(secret).toMatch(/^tl_[0-9A-Za-z]{40}$/)
    expect(isKeySecret(secret)).toBe(true)
    expect(key).toMatchObject({ name: 'My bot', scopes: ['trade'] })
    const listed = await (await asAlice('/api/keys')).text()
    expect(listed).toContain(key.id)
    expect(listed).not.toContain(secret)
    expect(keyRig.told.map(({ id }) => id)).toEqual([key.id]) // S21
    await asAlice('/api/wallet', bearer(secret))
    expect(log.join('\n')).not.toContain(secret.slice(3, 20))
  })

  it('[S17] are recognised by every one of their 40 characters', () => {
    const world = new TestWorld()
    for (let n = 0; n < 200; n++) {
      const secret = newKeySecret(world)
      expect(isKeySecret(secret)).toBe(true)
      const at = 3 + (n % 40)
      const other = secret[at] === 'x' ? 'y' : 'x'
      expect(isKeySecret(secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false)
    }
    expect(['', 'tl_', 'a'.repeat(43)].some(isKeySecret)).toBe(false)
  })

  it('[R17] act as their user, without cookies, and make them a bot when they trade', async () => {
    const { app, keyRig, commands } = await openHttpRig()
    const secret = await keyRig.keyOf(alice, ['trade'])
    const me = await app.request('/api/me', bearer(secret))
    expect(await me.json()).toMatchObject({ userId: ALICE })
    expect(keyRig.bots).toEqual([])
    const opened = await app.request('/api/positions/open', {
      method: 'POST',
      body: JSON.stringify(order),
      headers: { authorization: `bearer ${secret}`, 'content-type': 'application/json' },
    })
    expect(opened.status).toBe(201)
    expect(commands.map(({ userId }) => userId)).toEqual([ALICE])
    expect(keyRig.bots).toEqual([ALICE])
  })

  it('[S18] open sockets that end with them', async () => {
    const { app, keyRig, deps, tokens } = await openHttpRig()
    const secret = await keyRig.keyOf(alice, ['read'])
    const [key] = await deps.keys.list(ALICE)
    const response = await app.request('/api/ws/token', { method: 'POST', ...bearer(secret) })
    const { token } = z.object({ token: z.string() }).parse(await response.json())
    expect((await tokens.verifyWs(token))?.sid).toBe(present(key, 'key').id)
  })

  it('[S20] count instead of the cookies beside them, also when they do not count', async () => {
    const { asAlice, keyRig } = await openHttpRig()
    const secret = await keyRig.keyOf({ ...alice, role: 'admin' }, ['admin:read'])
    expect((await asAlice('/api/wallet', bearer(secret))).status).toBe(403)
    expect((await asAlice('/api/wallet', bearer(secret.slice(0, -1)))).status).toBe(401)
    expect((await asAlice('/api/wallet', bearer(''))).status).toBe(401)
    // A proxy with a password.
    expect((await asAlice('/api/wallet', { headers: { authorization: 'Basic YTpi' } })).status).toBe(200)
  })

  it('[S18] end at once when they are deleted, though they were just used', async () => {
    const { app, asAlice, keyRig, deps } = await openHttpRig()
    const secret = await keyRig.keyOf(alice, ['read'])
    expect((await app.request('/api/wallet', bearer(secret))).status).toBe(200)
    const [key] = await deps.keys.list(ALICE)
    const id = present(key, 'key').id
    expect((await asAlice(`/api/keys/${id}`, { method: 'DELETE' })).status).toBe(200)
    expect((await app.request('/api/wallet', bearer(secret))).status).toBe(401)
    expect((await asAlice(`/api/keys/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await asAlice(`/api/keys/${SESSION}`, { method: 'DELETE' })).status).toBe(404)
  })

  it('[S19] are at most 10, last at most 366 days, and are for admins only where they say so', async () => {
    const { send } = await openHttpRig()
    const statusOf = async (body: object): Promise<number> =>
      (await send('POST', '/api/keys', { name: 'n', scopes: ['read'], ...body })).status
    expect(await statusOf({ scopes: ['admin:read'] })).toBe(403)
    expect(await statusOf({ scopes: [] })).toBe(400)
    expect(await statusOf({ scopes: ['all'] })).toBe(400)
    expect(await statusOf({ expires: '2026-07-01T00:00:00Z' })).toBe(400)
    expect(await statusOf({ expiresAt: '2026-05-02T14:30:00Z' })).toBe(400) // now
    expect(await statusOf({ expiresAt: '2027-05-04T00:00:00Z' })).toBe(400)
    expect(await statusOf({ expiresAt: '2027-05-03T00:00:00Z' })).toBe(201)
    for (let n = 0; n < 9; n++) expect(await statusOf({})).toBe(201)
    const full = await send('POST', '/api/keys', { name: 'n', scopes: ['read'] })
    expect([full.status, await full.json()]).toMatchObject([409, { code: 'KEY_LIMIT' }])
  })

  it('[S19] that lack the scope use up none of what their user may do', async () => {
    const { app, keyRig, asAlice } = await limitedRig(1_000)
    const secret = await keyRig.keyOf(alice, ['read'])
    const send = (path: string) =>
      app.request(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
        body: '{}',
      })
    const path = '/api/positions/00000000-0000-4000-8000-000000000001/close'
    for (let n = 0; n < 100; n++) expect((await send(path)).status).toBe(403)
    for (let n = 0; n < 10; n++) expect((await app.request('/api/me/export', bearer(secret))).status).toBe(403)
    expect((await asAlice('/api/me/export')).status).toBe(200)
  })

  it('[S19] that lack the scope are limited by address on every route', async () => {
    const { app, keyRig } = await limitedRig(5)
    const secret = await keyRig.keyOf(alice, ['read'])
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) statuses.push((await app.request('/api/me/export', bearer(secret))).status)
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429])
  })

  it('[S19] share one limit, whatever address they come from', async () => {
    const { app, keyRig } = await limitedRig(5)
    const secrets = [await keyRig.keyOf(alice, ['read']), await keyRig.keyOf(alice, ['read'])]
    const ask = async (n: number): Promise<number> => {
      const headers = { authorization: `Bearer ${secrets[n % 2] ?? ''}`, 'x-forwarded-for': `198.51.100.${n}` }
      return (await app.request('/api/wallet', { headers })).status
    }
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) statuses.push(await ask(n))
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
  })

  it('[S17] are guessed no faster than an address may ask, and unformed ones without the database', async () => {
    const { app, keyRig } = await limitedRig(50)
    const world = new TestWorld()
    const ask = async (secret: string) => (await app.request('/api/wallet', bearer(secret))).status
    for (let n = 0; n < 40; n++) expect(await ask(`tl_${'0'.repeat(34)}${String(n).padStart(6, '0')}`)).toBe(401)
    expect(keyRig.asked).toEqual([])
    for (let n = 0; n < 10; n++) expect(await ask(newKeySecret(world))).toBe(401)
    for (let n = 0; n < 700; n++) expect(await ask(newKeySecret(world))).toBe(429)
    expect(keyRig.asked.length).toBe(600)
  })

  it('[S18] are listed for admins if they reach their endpoints, and revoked on the page alone', async () => {
    const { app, asAlice, keyRig } = await openHttpRig({ role: 'admin' })
    const admin = { id: ALICE, role: 'admin' }
    await keyRig.keyOf(admin, ['read'])
    const secret = await keyRig.keyOf(admin, ['admin:write'])
    const Listed = z.object({ keys: z.array(z.looseObject({ id: z.string() })) })
    const list = async () => Listed.parse(await (await asAlice('/api/admin/keys')).json()).keys
    const [key, ...others] = await list()
    expect([key, others]).toMatchObject([{ userId: ALICE, username: 'alice', scopes: ['admin:write'] }, []])
    const path = `/api/admin/keys/${present(key, 'a key').id}`
    const byKey = await app.request(path, { method: 'DELETE', ...bearer(secret) })
    expect([byKey.status, await byKey.json()]).toMatchObject([403, { code: 'SCOPE_MISSING' }])
    const revoke = () => answered(asAlice(`${path}?reason=it%20was%20in%20a%20log`, { method: 'DELETE' }))
    expect(await revoke()).toEqual([200, { revoked: true }])
    expect(keyRig.revoked).toMatchObject([{ by: ALICE, reason: 'it was in a log' }])
    expect(await revoke()).toMatchObject([404, { what: 'key' }])
    expect([await list(), (await app.request('/api/admin/keys', bearer(secret))).status]).toEqual([[], 401])
  })
})
