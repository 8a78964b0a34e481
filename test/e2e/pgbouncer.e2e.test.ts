/** The whole program behind a pooler in transaction mode that knows no prepared statements. */
import { describe, expect, it, vi } from 'vitest'
import { ComposedServer, CONFIRM_SECS, MATCH_SECS, PATIENCE } from '../support/composed-server.ts'
import { onServers } from '../support/data-place.ts'
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'

describe.skipIf(!hasPgBouncer)('behind PgBouncer in transaction mode', () => {
  onServers((settle) => {
    it('[D13] it starts, migrates, trades at once from many users, and settles', { timeout: 120_000 }, async () => {
      const place = await settle()
      const pooler = await startPgBouncer(place.env['DATABASE_URL'] ?? '')
      try {
        const env = { ...place.env, DATABASE_URL: pooler.url, DATABASE_PREPARED: 'off' }
        const server = await ComposedServer.open({ ...place, env })
        const users = await Promise.all(Array.from({ length: 30 }, (_, n) => server.user(`Pooled ${n}`)))
        const [first] = users
        const player = (await first?.instruments())?.find(({ tradingStatus }) => tradingStatus === 'OPEN')
        const clientPrice = player?.currentPrice ?? 0
        const opened = await Promise.all(
          users.map((user, n) => {
            const direction = n % 2 === 0 ? 'long' : 'short'
            return user.open({ instrumentId: player?.id ?? '', direction, lotSize: 0.1, clientPrice })
          }),
        )
        expect(opened.map(({ status }) => status)).toEqual(users.map(() => 201))
        await server.play(MATCH_SECS)
        await vi.waitUntil(
          async () => (await first?.instrument(player?.id ?? ''))?.tradingStatus === 'CLOSED',
          PATIENCE,
        )
        server.jump(CONFIRM_SECS)
        await vi.waitUntil(async () => (await first?.positions())?.length === 0, PATIENCE)
        await server.close() // audits the books
      } finally {
        await pooler.stop()
      }
    })
  })
})
