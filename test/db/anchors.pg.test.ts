import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { instrumentId, type PlayerId, playerId } from '../../actors/kernel/ids.ts'
import { price } from '../../actors/kernel/micros.ts'
import { Anchors } from '../../db/anchors.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const instrumentIdOf = (player: PlayerId) => instrumentId(`0197f2a0-0000-7000-8000-${String(player).padStart(12, '0')}`)

eachDatabase((open) => {
  it('anchors are set and replaced in bulk, and the audit log names old and new values', async () => {
    const { db } = open()
    const world = new TestWorld()
    const audit = new AuditLog(db, world)
    await seedDistricts(db)
    const ann = present(await new Users(db, world).signInSynthetic({ displayName: 'Ann', districtId: null }), 'Ann')
    const anchors = new Anchors({ db, audit, instrumentIdOf })
    const squad = Array.from({ length: 2_000 }, (_, n) => [playerId(n + 1), price(200_000_000 + n)] as const)
    await anchors.set(new Map(squad), ann.user.id)
    await anchors.set(new Map([[playerId(7), price(311_500_000)]]), ann.user.id)
    const rows = await db.selectFrom('anchors').select(['instrument_id', 'price_micros']).execute()
    expect(rows).toHaveLength(2_000)
    expect(rows.find((row) => row.instrument_id === instrumentIdOf(playerId(7)))?.price_micros).toBe(311_500_000)
    const [latest] = await audit.list(1, null)
    expect(latest).toMatchObject({ action: 'anchors.set', before: { 7: 200.000006 }, after: { 7: 311.5 } })
  })
})
