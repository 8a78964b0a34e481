import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { seedDistricts } from '../../db/seed.ts'
import { UserConnections } from '../../db/user-connections.ts'
import { Users } from '../../db/users.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

eachDatabase((open) => {
  it('[C7] a user is connected by network and by invitation, and to the alerts that name them', async () => {
    const { db } = open()
    const world = new TestWorld()
    await seedDistricts(db)
    const made = await new Users(db, world).createSyntheticMany(['Ann', 'Ben', 'Cleo', 'Dan'])
    const [ann, ben, cleo, dan] = made.map(({ user }) => user.id).map((id) => present(id, 'user'))
    const session = (id: unknown, network: string) =>
      sql`
      insert into sessions (id, user_id, created_at, rotated_at, expires_at, address_prefix)
      values (gen_random_uuid(), ${id}, now(), now(), now() + interval '1 day', ${network})`.execute(db)
    await session(ann, '192.0.2.0/24')
    await session(ben, '192.0.2.0/24')
    await session(ben, '192.0.2.0/24')
    await session(dan, '198.51.100.0/24')
    await sql`insert into referrals (id, referrer_id, referee_id, created_at, registered_at)
      values (gen_random_uuid(), ${ann}, ${cleo}, now(), now())`.execute(db)
    const alert = (users: unknown[]) => ({
      actor: null,
      action: 'integrity.alert',
      subject: 'lockstep',
      before: null,
      after: { users, chance: 0, openings: 9 },
    })
    await new AuditLog(db, world).recordAll([alert([ann, ben]), alert([ben, dan])])
    const connections = new UserConnections(db)
    const of = async (id: typeof ann) =>
      (await connections.of(present(id, 'user'))).map((one) => [one.kind, one.userId])
    expect(await of(ann)).toEqual([
      ['invited', cleo],
      ['same_network', ben],
    ])
    expect(await of(cleo)).toEqual([['invited_by', ann]])
    expect(await of(dan)).toEqual([])
    expect(await connections.alerts(present(ann, 'Ann'))).toMatchObject([{ finding: 'lockstep' }])
    expect(await connections.alerts(present(ben, 'Ben'))).toHaveLength(2)
    expect(await connections.alerts(present(cleo, 'Cleo'))).toEqual([])

    const by = present(ann, 'Ann')
    const about = present(ben, 'Ben')
    const entry = { actor: by, subject: about, before: null }
    const words = (field: 'reason' | 'text', written: string) => ({ field, about, words: written })
    await new AuditLog(db, world).recordAll([
      {
        ...entry,
        action: 'user.status',
        after: { status: 'frozen' },
        words: words('reason', 'ten opens before goals'),
      },
      { ...entry, action: 'user.note', after: {}, words: words('text', 'asked why') },
    ])
    expect(await connections.deeds(present(ben, 'Ben'))).toMatchObject([
      { action: 'user.note', by: 'ann', text: 'asked why' },
      { action: 'user.status', by: 'ann', text: 'ten opens before goals' },
    ])
    expect(await connections.deeds(present(cleo, 'Cleo'))).toEqual([])
  })
})
