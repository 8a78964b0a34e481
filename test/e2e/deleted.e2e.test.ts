/** A deleted account, from the wish to a search of PostgreSQL, Redis and the log for what is left. */
import { execFileSync } from 'node:child_process'
import type { Redis } from 'ioredis'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ComposedServer } from '../support/composed-server.ts'
import { onServers } from '../support/data-place.ts'
import { pick } from '../support/http-client.ts'

/** Longer than the task that erases waits between two looks. */
const LOOKS = { timeout: 25_000, interval: 200 }
const HOLD_SECS = 181

onServers((settle) => {
  it('[Y2][Y3][Y4] closes, erases, and leaves no row, key or log line with the name', async () => {
    const place = await settle()
    const env = { ...place.env, ADMIN_EMAILS: 'eraser@synthetic.invalid' }
    const server = await ComposedServer.open({ ...place, env })
    try {
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
    } finally {
      await server.close() // which audits the books
    }
  })
})

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
