/** The house's risk is read from what is stored. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { AuditLog } from '../../db/audit-log.ts'
import { RiskReader } from '../../src/features/integrity/risk.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { openSeason } from '../support/season.ts'

eachDatabase((open) => {
  it('[C8] shows what is open, who wins and loses today, who opens ahead of moves, and who was reported together', async () => {
    const clock = { now: Date.UTC(2026, 9, 21, 23, 30) }
    const world = systemWorld(() => clock.now)
    const { db } = open()
    const season = await openSeason(open(), world)
    const [ada, bob, cleo] = [await season.user('Ada'), await season.user('Bob'), await season.user('Cleo')]
    await sql`update users set synthetic = false`.execute(db)
    const [match, practice] = [await season.match(), await season.match({ purse: 'practice' })]
    const [yesterday, wins, loses, voided] = [
      await match.open(ada),
      await match.open(ada, { lots: 2 }),
      await match.open(bob),
      await match.open(cleo),
    ]
    await match.close(yesterday, 300)
    clock.now += 3_600_000 // another day
    await match.close(wins, 210)
    await match.close(loses, 190)
    await match.close(voided, 200, 'void')
    await match.open(cleo, { lots: 3 })
    await match.open(bob, { lots: 1, direction: 'short' })
    await practice.open(cleo)
    const reader = new RiskReader(db, world)
    const risk = await reader.read()
    expect(risk.exposures).toEqual([
      {
        matchId: match.id,
        instrumentId: wins.instrumentId,
        name: 'A. Striker',
        positions: 2,
        long: 3_000_000,
        short: 1_000_000,
        margin: 400_000_000,
        houseToday: -50_000_000,
      },
    ])
    expect(risk.houseToday).toBe(-50_000_000)
    expect(risk.winners).toEqual([{ userId: ada, username: 'ada', pnl: 100_000_000, closes: 1 }])
    expect(risk.losers).toEqual([{ userId: bob, username: 'bob', pnl: -50_000_000, closes: 1 }])
    expect(risk.markOuts).toEqual([])

    clock.now += 4 * 3_600_000
    for (let n = 0; n < 5; n += 1) {
      const { instrumentId } = await match.open(ada, { lots: 0.01 })
      for (const [after, base] of [
        [8_000, 204_000_000],
        [50_000, 202_000_000],
      ] as const) {
        const at = new Date(clock.now + after)
        await sql`insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
          values (${instrumentId}, ${at}, ${base}, ${base}, 0, 'goal', 1)`.execute(db)
      }
      clock.now += 300_000
    }
    // What is balanced is as much as what is one-sided.
    const balanced = await season.match()
    await balanced.open(ada, { lots: 4 })
    await balanced.open(bob, { lots: 4, direction: 'short' })

    const alert = { actor: null, action: 'integrity.alert', subject: 'lockstep', before: null }
    await new AuditLog(db, world).recordAll([{ ...alert, after: { users: [ada, cleo], chance: 0, openings: 9 } }])
    const later = await reader.read()
    expect(later.exposures.map(({ matchId, long, short }) => [matchId, long, short])).toEqual([
      [balanced.id, 4_000_000, 4_000_000],
      [match.id, 3_050_000, 1_000_000],
    ])
    expect(later.markOuts).toEqual([{ userId: ada, username: 'ada', openings: 5, after10s: 20_000, after60s: 10_000 }])
    expect(later.groups.map(({ finding, users }) => [finding, users.map(({ username }) => username)])).toEqual([
      ['lockstep', ['ada', 'cleo']],
    ])
  })
})
