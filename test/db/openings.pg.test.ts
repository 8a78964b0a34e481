/** The integrity desk reads openings where they are stored, and reports each finding once. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { instant } from '../../actors/kernel/world.ts'
import type { PriceMoved } from '../../actors/match/messages.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { Openings } from '../../src/features/integrity/openings.ts'
import { lookForCheats } from '../../src/features/integrity/watch.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 9, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)
  it('[C6] an account ahead of news is reported within a minute of its eighth bet, once, and its mark-outs precede corrections', async () => {
    const [cheat, bot] = [await season.user('Ahead'), await season.user('Ahead bot')]
    await sql`update users set synthetic = false where id = ${cheat}`.execute(open().db)
    const [match, practice] = [await season.match(), await season.match({ purse: 'practice' })]
    const openings = new Openings(open().db, world)
    const alerts = async () =>
      (await new AuditLog(open().db, world).list(50, null)).filter(({ action }) => action === 'integrity.alert')
    for (let n = 0; n < 8; n += 1) {
      const position = await match.open(cheat)
      await match.open(bot)
      await practice.open(cheat)
      const move: Pick<PriceMoved, 'at'> = { at: instant(clock.now + 8_000) }
      await sql`insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
        values (${position.instrumentId}, ${new Date(move.at)}, 204000000, 204000000, 0, 'goal', 1)`.execute(open().db)
      clock.now += 300_000
    }
    expect((await openings.recent()).map(({ userId, markOut }) => [userId, markOut])).toEqual(
      Array.from({ length: 8 }, () => [cheat, 20_000]),
    )
    expect(await lookForCheats(openings)).toBe(1)
    expect(await alerts()).toMatchObject([
      { actor: null, subject: 'ahead_of_news', after: { users: [cheat], openings: 8 }, outcome: 'ok' },
    ])
    expect(await lookForCheats(openings), 'the next run is 25 s away').toBe(0)
    clock.now += 30_000
    expect(await lookForCheats(openings), 'reported already').toBe(0)
    expect(await alerts()).toHaveLength(1)
  })

  it('[C6] of many processes at once one looks', async () => {
    clock.now += 60_000
    const openings = new Openings(open().db, world)
    const claimed = await Promise.all(Array.from({ length: 8 }, () => openings.claim()))
    expect(claimed.filter(Boolean)).toHaveLength(1)
  })

  it('[C6] a process whose clock was ahead, by however much, does not stop the others', async () => {
    const openings = new Openings(open().db, world)
    const claimedAt = (ms: number) => {
      clock.now += ms
      return openings.claim()
    }
    expect(await claimedAt(3 * 3_600_000)).toBe(true)
    expect(await claimedAt(-3 * 3_600_000)).toBe(true)
    expect([await claimedAt(1_000), await claimedAt(-2_000)]).toEqual([false, false])
    expect(await claimedAt(26_000)).toBe(true)
  })
})
