/** Accounts that trade by a key, on the boards and in the draw. */
import { beforeAll, expect, it } from 'vitest'
import { money } from '../../actors/kernel/micros.ts'
import type { UserId } from '../../actors/kernel/ids.ts'
import { weekOf } from '../../actors/kernel/calendar.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { PersonalKeys } from '../../db/personal-keys.ts'
import { Spinner } from '../../src/features/spinner/store.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

const ROI = { by: 'roi', districtId: null } as const

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  let ranksBots = false
  const season = seasonOn(open, world, { ranksBots: () => ranksBots })
  let keys: PersonalKeys

  beforeAll(async () => {
    const { db } = open()
    const ended = { add: async () => undefined }
    keys = new PersonalKeys({ db, audit: new AuditLog(db, world), ended, world, rerankers: [] })
  })
  const trader = async (name: string): Promise<UserId> => {
    const user = await season.user(name)
    const match = await season.match()
    await match.close(await match.open(user), 230)
    await season.settle()
    return user
  }
  const placeOf = (user: UserId) => season.boards.main.place(ROI, user)

  it('[R17] leave the boards with their first order by a key, and stay off them', async () => {
    const [bot, person] = [await trader('Board bot'), await trader('Board person')]
    expect(await placeOf(bot)).not.toBeNull()
    // Two processes at once.
    await Promise.all([keys.markBot(bot), keys.markBot(bot)])
    await season.keeper.show()
    expect([await placeOf(bot), (await placeOf(person))?.standing.closed]).toEqual([null, 1])
    await keys.markBot(bot)
    const match = await season.match()
    await match.close(await match.open(bot), 240)
    await season.settle()
    expect(await placeOf(bot)).toBeNull()
    await season.keeper.rebuild()
    expect(await placeOf(bot)).toBeNull()
    const names = await season.careers.names([bot, person])
    expect([names.get(bot)?.isBot, names.get(person)?.isBot]).toEqual([true, false])
  })

  it('[R17] are ranked and marked while the setting allows it', async () => {
    const bot = await trader('Allowed bot')
    await keys.markBot(bot)
    await season.keeper.show()
    expect(await placeOf(bot)).toBeNull()
    ranksBots = true
    await season.keeper.show()
    expect(await placeOf(bot)).not.toBeNull()
    ranksBots = false
    await season.keeper.show()
    expect(await placeOf(bot)).toBeNull()
  })

  it('[R17] are in the draw of a week that ended before, and in none from then on', async () => {
    const bot = await trader('Draw bot')
    const { endsAt } = weekOf(world.now())
    const leaders = async () => {
      const terms = { closesMin: 1, playersMin: 1, roiFloor: money(0), ranksBots }
      const spinner = new Spinner(open().db, world, { terms: () => terms })
      return (await spinner.current()).candidates.map(({ userId }) => userId)
    }
    expect(await leaders()).toContain(bot)
    clock.now = endsAt + 1
    await keys.markBot(bot)
    clock.now = endsAt - 1
    expect(await leaders()).toContain(bot)
    const other = await trader('Late bot')
    expect(await leaders()).toContain(other)
    await keys.markBot(other)
    expect(await leaders()).not.toContain(other)
  })
})
