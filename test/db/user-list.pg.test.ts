import { beforeAll, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { type UserId, userId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { seedDistricts } from '../../db/seed.ts'
import { UserList } from '../../db/user-list.ts'
import { Users } from '../../db/users.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

/** More than two pages. */
const CROWD = 2_100

eachDatabase((open) => {
  const world = new TestWorld()
  const audit = () => new AuditLog(open().db, world)
  const list = () => new UserList(open().db, audit(), world)
  let ids: readonly UserId[]

  beforeAll(async () => {
    const { db } = open()
    await seedDistricts(db)
    const names = ['Ann', 'Zoë 100%', ...Array.from({ length: CROWD }, (_, n) => `Guest ${n}`)]
    ids = (await new Users(db, world).createSyntheticMany(names)).map(({ user }) => user.id)
  })

  it('users are found by any part of a name, in any case, literally, or by id', async () => {
    const found = async (search: string) => {
      const { users, total } = await list().search({ search, limit: 3, offset: 0 })
      return [users.map(({ username }) => username), total]
    }
    expect(await found(' ANN ')).toEqual([['ann'], 1])
    expect(await found('ZOË')).toEqual([['zoe_100'], 1])
    expect(await found('100%')).toEqual([['zoe_100'], 1])
    expect(await found('guest_7@')).toEqual([['guest_7'], 1])
    expect(await found('%')).toEqual([['zoe_100'], 1])
    expect(await found(String.raw`\ `)).toEqual([[], 0])
    expect(await found(present(ids[0], 'Ann').toUpperCase())).toEqual([['ann'], 1])
    expect(await found('')).toEqual([['guest_2099', 'guest_2098', 'guest_2097'], CROWD + 2])
    expect((await list().search({ search: '', limit: 2, offset: CROWD })).users).toMatchObject([
      { username: 'zoe_100', name: 'Zoë 100%', balance: STARTING_BALANCE, synthetic: true },
      { username: 'ann' },
    ])
  })

  it('all users are read page by page, oldest first, each once', async () => {
    const sizes: number[] = []
    const read: UserId[] = []
    for await (const page of list().pages()) {
      sizes.push(page.length)
      read.push(...page.map(({ id }) => id))
    }
    expect(sizes).toEqual([1_000, 1_000, 102])
    expect(read).toEqual([...ids].toSorted())
  })

  it('[H9] a role is changed with its audit row, and admins cannot remove their own', async () => {
    const [ann, zoe] = [present(ids[0], 'Ann'), present(ids[1], 'Zoë')]
    expect(await list().setRole({ id: zoe, role: 'admin', by: ann })).toEqual({ kind: 'forbidden' })
    await open().db.updateTable('users').set({ role: 'admin' }).where('id', '=', ann).execute()
    expect(await list().setRole({ id: zoe, role: 'admin', by: ann, reason: 'on call' })).toMatchObject({
      kind: 'changed',
      user: { id: zoe, role: 'admin' },
    })
    expect(await list().setRole({ id: zoe, role: 'user', by: zoe })).toEqual({ kind: 'own_role' })
    const nobody = userId('00000000-0000-7000-8000-0000000fffff')
    expect(await list().setRole({ id: nobody, role: 'user', by: ann })).toEqual({ kind: 'unknown' })
    expect(await new Users(open().db, world).find(zoe)).toMatchObject({ role: 'admin' })
    const change = { action: 'user.role', subject: zoe, after: 'admin' }
    expect(await audit().list(5, null)).toMatchObject([
      { subject: nobody, outcome: 'NOT_FOUND' },
      { actor: zoe, subject: zoe, after: 'user', outcome: 'OWN_ROLE' },
      { ...change, actor: ann, before: 'user', reason: 'on call', outcome: 'ok', subjectName: 'zoe_100' },
      { ...change, actor: ann, outcome: 'FORBIDDEN' },
    ])
    // Of two who demote each other at once, one comes first.
    const both = await Promise.all([
      list().setRole({ id: zoe, role: 'user', by: ann }),
      list().setRole({ id: ann, role: 'user', by: zoe }),
    ])
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['changed', 'forbidden'])
  })

  it('[D5] a balance that was changed from outside is shown as its user sees it', async () => {
    const { db } = open()
    const fast = new FastMemory(world)
    const cache = new WalletCache(fast, (error) => expect(error).toBeUndefined())
    cache.timeline = await timelineOf(db)
    const seen = new UserList(db, audit(), world, { cache })
    const [ann, zoe] = [present(ids[0], 'Ann'), present(ids[1], 'Zoë')]
    const balance = async () => (await seen.find(ann))?.balance
    expect(await balance()).toBe(STARTING_BALANCE)
    await fast.putIfNewer(keys.wallet(ann), { balance: '777.5', timeline: await timelineOf(db) }, 0, 60_000)
    expect(await balance()).toBe(777_500_000)
    const { users } = await seen.search({ search: ann, limit: 1, offset: 0 })
    expect(users).toMatchObject([{ id: ann, balance: 777_500_000 }])
    const [first, second] = (await seen.pages().next()).value ?? []
    expect([first, second]).toMatchObject([{ balance: 777_500_000 }, { id: zoe, balance: STARTING_BALANCE }])
    expect(await seen.setStatus({ id: ann, status: 'active', reason: 'a test', by: zoe })).toMatchObject({
      user: { balance: 777_500_000 },
    })
  })

  it('users are found by their names as they are written, however the letters were composed', async () => {
    const names = ['İbrahim Ünal', 'ΣΊΣΥΦΟΣ']
    const made = await new Users(open().db, world).createSyntheticMany(names)
    for (const { user } of made) {
      const found = async (search: string) => (await list().search({ search, limit: 3, offset: 0 })).users
      expect(await found(user.name)).toMatchObject([{ id: user.id }])
      expect(await found(user.name.normalize('NFD'))).toMatchObject([{ id: user.id }])
    }
  })
})
