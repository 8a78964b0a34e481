/** The whole program behind a pooler in transaction mode: one that knows no prepared statements, and one that does. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect } from '../../db/postgres/connect.ts'
import { ComposedServer, CONFIRM_SECS, MATCH_SECS, PATIENCE } from '../support/composed-server.ts'
import { onServers } from '../support/data-place.ts'
import { hasPgBouncer, keepsPrepared, startPgBouncer } from '../support/pgbouncer.ts'

/** As the server does. */
const LOOK_EVERY_MS = 500
const MODES = hasPgBouncer && keepsPrepared() ? (['off', 'on'] as const) : (['off'] as const)

describe.skipIf(!hasPgBouncer)('behind PgBouncer in transaction mode', () => {
  onServers((settle) => {
    const name = '[D13] with DATABASE_PREPARED=%s it starts, migrates, trades at once from many users, and settles'
    it.each(MODES)(name, async (prepared) => {
      const place = await settle()
      const pooler = await startPgBouncer(place.env['DATABASE_URL'] ?? '', prepared)
      onTestFinished(() => pooler.stop())
      const env = { ...place.env, DATABASE_URL: pooler.url, DATABASE_PREPARED: prepared }
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
      await vi.waitUntil(async () => (await first?.instrument(player?.id ?? ''))?.tradingStatus === 'CLOSED', PATIENCE)
      server.jump(CONFIRM_SECS)
      await vi.waitUntil(async () => (await first?.positions())?.length === 0, PATIENCE)
      await server.close() // audits the books
    })

    it('[D13] a slow statement is not taken for a silent connection', async () => {
      const pooler = await startPgBouncer(process.env['TEST_DATABASE_URL'] ?? '', 'on')
      onTestFinished(() => pooler.stop())
      const connection = await connect({ databaseUrl: pooler.url, dataDir: null })
      let isOver = false
      const slow = sql`select pg_sleep(6)`.execute(connection.db).finally(() => (isOver = true))
      slow.catch(() => undefined)
      while (!isOver) {
        expect(await connection.cutSilent()).toBe(0)
        await pause(LOOK_EVERY_MS)
      }
      await slow
      await connection.close()
    })
  })
})
