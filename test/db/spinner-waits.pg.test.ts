import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { weekOf } from '../../actors/kernel/calendar.ts'
import { money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, MINUTE_MS } from '../../actors/kernel/world.ts'
import { Spinner } from '../../src/features/spinner/store.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  // A Wednesday, in the middle of a week.
  const clock = { now: Date.UTC(2027, 2, 3, 12) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)

  it('[R11] the draw waits for closes that news may still move, which in a match that is over it may not', async () => {
    const spinner = new Spinner(open().db, world, {
      terms: () => ({ closesMin: 1, playersMin: 1, roiFloor: money(0) }),
    })
    await spinner.prepare()
    const [user, match] = [await season.player(), await season.match()]
    const held = await match.open(user)
    await match.close(held, 220)
    await season.reactor.drain()
    clock.now = weekOf(world.now()).endsAt + 2 * MINUTE_MS
    await sql`
      update positions set movable_until = ${new Date(clock.now + HOUR_MS)}::timestamptz where id = ${held.id}::uuid`.execute(
      open().db,
    )
    expect(await spinner.run()).toMatchObject({ kind: 'counting' })
    await match.settle()
    await season.reactor.drain()
    expect(await spinner.run()).toMatchObject({ kind: 'decided', week: { winner: { userId: user } } })
  })
})
