/** The board of the footballers whose base rose most in a week. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { weekOf } from '../../actors/kernel/calendar.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { PlayerWeeks } from '../../src/features/player-of-the-week/store.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { info, instrument, P, p } from '../support/fixtures.ts'
import { insertInstrument, insertMatch, insertTick } from '../support/rows.ts'

eachDatabase((open) => {
  const week = weekOf(instant(Date.UTC(2027, 2, 3, 12)))
  const clock = { now: week.startsAt + HOUR_MS }
  const world = systemWorld(() => clock.now)

  it('is written once when the week is over, the best first, without replays', async () => {
    const { db } = open()
    const weeks = new PlayerWeeks(db, world)
    expect(await weeks.latest()).toBeNull()
    const played = async (id: number, player: number, base: number, replay: boolean) => {
      const match = info({ matchId: fixtureId(id), replay })
      await insertMatch(db, match)
      await insertInstrument(db, match.matchId, instrument(player, { name: `Player ${player}` }), p(200))
      await insertTick(db, { instrument_id: P(player), price_micros: p(200), at: week.startsAt })
      await sql`
        insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
        values (${P(player)}, ${new Date(week.startsAt + HOUR_MS)}::timestamptz, ${p(base)}, ${p(base)}, 0, 'settlement', 0)`.execute(
        db,
      )
    }
    await played(701, 1, 210, false)
    await played(702, 2, 240, false)
    await played(703, 3, 300, true)
    await weeks.write(10)
    expect(await weeks.latest()).toBeNull()
    clock.now = week.endsAt + HOUR_MS
    await weeks.write(10)
    await weeks.write(1)
    expect(await weeks.latest()).toMatchObject({
      week: week.name,
      players: [
        { rank: 1, name: 'Player 2', gainPpm: 200_000 },
        { rank: 2, name: 'Player 1', gainPpm: 50_000 },
      ],
    })
  })
})
