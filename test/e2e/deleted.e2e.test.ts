/** A deleted account, from the wish to a search of PostgreSQL, Redis and the log for what is left. */
import { execFileSync } from 'node:child_process'
import type { Redis } from 'ioredis'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { ComposedServer } from '../support/composed-server.ts'
import { onServers } from '../support/data-place.ts'
import { type HttpClient, pick } from '../support/http-client.ts'

/** Longer than the task that erases waits between two looks. */
const LOOKS = { timeout: 25_000, interval: 200 }
const HOLD_SECS = 181

onServers((settle) => {
  it('[Y2][Y3][Y4] closes, erases, and leaves no row, key or log line with the name', async () => {
    const place = await settle()
    const env = { ...place.env, ADMIN_EMAILS: 'eraser@synthetic.invalid' }
    const server = await ComposedServer.open({ ...place, env })
    onTestFinished(() => server.close()) // which audits the books
    const admin = await server.user('Eraser')
    await admin.request('PUT', '/api/admin/settings/privacy.deletion_grace_days', { value: 0 })
    const vera = await server.user('Vera Vanishing')
    const player = pick(await vera.instruments())
    const order = {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 1,
      clientPrice: player.currentPrice,
    } as const
    await vera.opens(order)
    const socket = new WebSocket(await vera.socketUrl(), 'feed.v1')
    const opened = Promise.withResolvers<void>()
    const closed = Promise.withResolvers<void>()
    socket.addEventListener('open', () => opened.resolve())
    socket.addEventListener('close', () => closed.resolve())
    await opened.promise
    await writesEverywhere(vera, order)
    const guest = await server.user('Guest')
    const { code } = await vera.get('/api/leagues', Codes).then(({ leagues }) => present(leagues[0], 'league'))
    expect((await guest.request('POST', '/api/leagues/join', { code })).status).toBe(200)
    const { userId } = await vera.get('/api/me', z.looseObject({ userId: z.string() }))
    for (const [method, path, body] of [
      ['POST', 'notes', { text: 'is Vera Vanishing' }],
      ['PUT', 'status', { status: 'active', reason: 'Vanishing has explained herself' }],
    ] as const) {
      expect((await admin.request(method, `/api/admin/users/${userId}/${path}`, body)).status).toBe(200)
    }
    expect(await everything(place.env['DATABASE_URL'] ?? '', place.redis)).toMatch(/vanishing/i)
    await server.play(HOLD_SECS)

    expect((await vera.request('DELETE', '/api/me', { confirm: 'vera_vanishing' })).status).toBe(200)
    await closed.promise
    expect((await vera.request('GET', '/api/wallet')).status).toBe(401)
    const Users = z.looseObject({ total: z.number() })
    const isGone = async () => (await admin.get('/api/admin/users?search=vanishing', Users)).total === 0
    await vi.waitUntil(isGone, LOOKS)
    expect(await everything(place.env['DATABASE_URL'] ?? '', place.redis)).not.toMatch(/vanishing/i)
    // Not even while the account lived: no mistake of an operator's log keeps anybody.
    expect(server.lines.length).toBeGreaterThan(20)
    expect(server.lines.filter((line) => /vanishing/i.test(line))).toEqual([])
  })
})

const Codes = z.looseObject({ leagues: z.array(z.looseObject({ code: z.string() })) })

/** Uses every field of the API that takes a text from a user. */
async function writesEverywhere(vera: HttpClient, order: object): Promise<void> {
  const endsAt = new Date(Date.now() + 7_200_000).toISOString()
  const Key = z.looseObject({ key: z.looseObject({ id: z.string() }) })
  const sends = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
    const answer = await vera.request(method, path, body, headers)
    expect([200, 201, 204, 404], `${method} ${path} ${JSON.stringify(answer.body)}`).toContain(answer.status)
    return answer.body
  }
  for (const kept of [true, false]) {
    const named = { name: `Vanishing's key ${kept}`, scopes: ['read'] }
    const { key } = Key.parse(await sends('POST', '/api/keys', named))
    if (!kept) await sends('DELETE', `/api/keys/${key.id}`)
  }
  await sends('POST', '/api/leagues', {
    name: 'The Vanishing League',

    endsAt,
    matches: 'all',
  })
  await sends('POST', '/api/referrals/invites', { name: 'Uncle Vanishing' })
  await sends('POST', '/api/referral/validate', { code: 'vanishing' })
  await sends('POST', '/api/users/check-username', { username: 'vanishing_2' })
  await sends('POST', '/api/leagues/join', { code: 'vanishing' })
  await sends('POST', '/api/auth/dev', { displayName: 'Vera Vanishing', referralCode: 'vanishing' })
  await sends('POST', '/api/auth/refresh', undefined, { 'Idempotency-Key': 'vanishing', 'User-Agent': 'Vanishing/1' })
  await sends('POST', '/api/positions/open', order, { 'Idempotency-Key': 'vanishing' })
  await sends('PUT', '/api/push', {
    endpoint: 'https://push.example/vanishing',
    kinds: ['stop'],
    keys: {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    },
  })
}

/** A dump of the database, and every key of Redis with its value. */
async function everything(databaseUrl: string, redis: Redis): Promise<string> {
  const dump = execFileSync('pg_dump', ['--data-only', databaseUrl], { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 })
  const texts = [dump]
  for await (const found of redis.scanStream({ count: 1_000 })) {
    for (const key of z.array(z.string()).parse(found)) texts.push(key, JSON.stringify(await valueOf(redis, key)))
  }
  return texts.join('\n')
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return redis.hgetall(key)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, '0', '-1')
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'string':
      return redis.get(key)
    default:
      return null
  }
}
