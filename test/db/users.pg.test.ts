import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { DISTRICTS, seedDistricts } from '../../db/seed.ts'
import { UserList } from '../../db/user-list.ts'
import { usernameFor, Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

eachDatabase((open) => {
  const world = new TestWorld()
  const users = () => new Users(open().db, world)
  const wallets = () => new Wallets(open().db, new WalletCache(null, () => {}))
  const anyDistrict = (displayName: string) => ({ displayName, districtId: null })
  const sessionOf = (user: UserId) => ({
    id: world.newId(),
    user_id: user,
    rotation_key: null,
    created_at: new Date(world.now()),
    rotated_at: new Date(world.now()),
    expires_at: new Date(world.now() + 60_000),
    ended_at: null,
    user_agent: null,
    address_prefix: '203.0.113.0/24',
  })

  it('districts are seeded once, and keep the name an operator gave them', async () => {
    const { db } = open()
    await seedDistricts(db)
    await db.updateTable('districts').set({ name: 'Docklands' }).where('id', '=', 1).execute()
    await seedDistricts(db)
    const names = DISTRICTS.map(({ name }) => name).with(0, 'Docklands')
    expect((await users().districts()).map((district) => district.name)).toEqual(names)
  })

  it('a synthetic user is created once per name, with a profile and a funded wallet', async () => {
    const first = await users().signInSynthetic({ displayName: 'Zoë Ångström', districtId: districtId(3) })
    expect(first).toEqual({
      isNew: true,
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        username: 'zoe_angstrom',
        firstName: 'Zoë Ångström',
        name: 'Zoë Ångström',
        lastName: null,
        email: 'zoe_angstrom@synthetic.invalid',
        picture: null,
        role: 'user',
        districtId: 3,
        xp: 0,
        referralCode: expect.stringMatching(/^[0-9a-f]{10}$/),
        createdAt: world.now(),
        status: 'active',
        hiddenFromBoards: false,
        deletionDue: null,
      },
    })
    const again = await users().signInSynthetic(anyDistrict('Zoë Ångström'))
    expect(again).toEqual({ user: first?.user, isNew: false })
    expect(await users().find(userId(first?.user.id ?? ''))).toEqual(first?.user)
    expect(await wallets().find(userId(first?.user.id ?? ''))).toEqual({
      purse: 'main',
      balance: STARTING_BALANCE,
      marginUsed: 0,
      unrealizedPnl: 0,
      openPositions: 0,
    })
  })

  it("[S9] a user with an admin's e-mail address is an admin, from creation or from the next start on", async () => {
    const early = await users().signInSynthetic(anyDistrict('Early Admin'))
    const listed = new Users(open().db, world, ['early_admin@synthetic.invalid', 'late_admin@synthetic.invalid'])
    const late = await listed.signInSynthetic(anyDistrict('Late Admin'))
    expect([early?.user.role, late?.user.role]).toEqual(['user', 'admin'])
    await listed.applyAdminEmails()
    expect((await listed.signInSynthetic(anyDistrict('Early Admin')))?.user.role).toBe('admin')
    expect((await listed.signInSynthetic(anyDistrict('Somebody Else')))?.user.role).toBe('user')
  })

  it('[S9] a synthetic sign-in promotes and demotes by the list of now, alone and in a batch', async () => {
    const listed = new Users(open().db, world, ['later_listed@synthetic.invalid'])
    const rolesBy = async (them: Users) => {
      const alone = await them.signInSynthetic(anyDistrict('Later Listed'))
      const [first] = await them.createSyntheticMany(['Later Listed'])
      return [alone?.user.role, first?.user.role]
    }
    expect(await rolesBy(users())).toEqual(['user', 'user'])
    expect(await rolesBy(listed)).toEqual(['admin', 'admin'])
    expect(await rolesBy(users())).toEqual(['user', 'user'])
  })

  it('[S9] who is an admin by address alone stops being one when it is no longer listed, and both are audited', async () => {
    const { db } = open()
    const listed = new Users(db, world, ['Short@synthetic.invalid', 'long@synthetic.invalid'])
    const [short, long] = await listed.createSyntheticMany(['Short', 'Long'])
    const [byEmail, byAdmin] = [present(short, 'short').user.id, present(long, 'long').user.id]
    expect([short?.user.role, long?.user.role]).toEqual(['admin', 'admin'])
    // Another admin takes the role from one, and gives it back.
    const list = new UserList(db, new AuditLog(db, world), world)
    for (const role of ['user', 'admin'] as const) await list.setRole({ id: byAdmin, role, by: byEmail })
    await db.insertInto('sessions').values(sessionOf(byEmail)).execute()
    for (let n = 0; n < 2; n++) await users().applyAdminEmails()
    expect([(await users().find(byEmail))?.role, (await users().find(byAdmin))?.role]).toEqual(['user', 'admin'])
    const ended = await db.selectFrom('sessions').select('ended_at').where('user_id', '=', byEmail).execute()
    expect(ended).toEqual([{ ended_at: expect.any(Date) }]) // by the clock of the database
    await listed.applyAdminEmails()
    const audited = await new AuditLog(db, world).list(2, null)
    expect(audited).toMatchObject([
      { actor: null, action: 'user.role', subject: byEmail, before: 'user', after: 'admin' },
      { actor: null, action: 'user.role', subject: byEmail, before: 'admin', after: 'user' },
    ])
  })

  it('[S9] a listed admin who was demoted, and made an admin again, stops being one when no longer listed', async () => {
    const { db } = open()
    const adminEmails = ['Desk@synthetic.invalid', 'Night@synthetic.invalid']
    const listed = new Users(db, world, adminEmails)
    const made = await listed.createSyntheticMany(['Desk', 'Night'])
    const [desk, night] = made.map(({ user }) => user.id)
    const [by, id] = [present(desk, 'desk'), present(night, 'night')]
    const list = new UserList(db, new AuditLog(db, world), world, { adminEmails })
    for (const role of ['user', 'admin'] as const) {
      expect(await list.setRole({ id, role, by })).toMatchObject({ kind: 'changed', user: { role } })
    }
    await users().applyAdminEmails()
    expect(await users().find(id)).toMatchObject({ role: 'user' })
  })

  it('an unknown user is null, and in an unknown district no user is created', async () => {
    expect(await users().find(userId(world.newId()))).toBe(null)
    expect(await users().signInSynthetic({ displayName: 'Homeless', districtId: districtId(99) })).toBe(null)
    expect(await users().signInSynthetic(anyDistrict('Homeless'))).toMatchObject({ isNew: true })
  })

  it('[L3] different names are different users, in one call or several, and each is the same again', async () => {
    const names = ['Zoe x', 'zoe x', 'Zoe_x', 'Zoë x', 'A name so long that it is cut', 'A name so long that it is CUT']
    const one = await users().signInSynthetic(anyDistrict('Zoe_x'))
    const made = await users().createSyntheticMany(names)
    expect(made.map(({ isNew }) => isNew)).toEqual([true, true, false, true, true, true])
    expect(made.map(({ user }) => user.name)).toEqual(names)
    expect(new Set(made.map(({ user }) => user.id)).size).toBe(names.length)
    expect(made[2]?.user).toEqual(one?.user)
    for (const { user } of made) expect(user.username).toMatch(/^[a-z][a-z0-9_]{2,19}$/)
    const again = await users().createSyntheticMany(names.toReversed())
    expect(again).toEqual(made.toReversed().map(({ user }) => ({ user, isNew: false })))
    const rivals = ['Ida b', 'ida b', 'IDA B', 'ida_b']
    const raced = await Promise.all(rivals.flatMap((name) => [name, name]).map((n) => users().createSyntheticMany([n])))
    expect(new Set(raced.flat().map(({ user }) => user.id)).size).toBe(rivals.length)
    expect(raced.flat().filter(({ isNew }) => isNew)).toHaveLength(rivals.length)
  })

  it('a real user is never returned as a synthetic user', async () => {
    await open()
      .db.insertInto('users')
      .values({
        id: world.newId(),
        email: 'grace@example.com',
        name: 'Grace',
        username: 'grace',
        first_name: 'Grace',
        district_id: 1,
        referral_code: 'gracescode',
        created_at: new Date(world.now()),
      })
      .execute()
    const synthetic = await users().signInSynthetic(anyDistrict('Grace'))
    expect(synthetic).toMatchObject({ isNew: true, user: { name: 'Grace' } })
    expect(synthetic?.user.email).not.toBe('grace@example.com')
  })

  it('[D1] starting balances come from the house: every transaction and all accounts sum to zero', async () => {
    const { db } = open()
    const [made] = await users().createSyntheticMany(['Ledger Test'])
    const entries = await db
      .selectFrom('ledger_entries')
      .select(['account', 'user_id', 'amount_micros', 'kind', 'reference'])
      .where('reference', '=', made?.user.id ?? '')
      .where('purse', '=', 'main')
      .orderBy('account', 'desc')
      .execute()
    expect(entries).toEqual([
      {
        account: 'user',
        user_id: made?.user.id,
        amount_micros: STARTING_BALANCE,
        kind: 'grant',
        reference: made?.user.id,
      },
      {
        account: 'house',
        user_id: null,
        amount_micros: -STARTING_BALANCE,
        kind: 'grant',
        reference: made?.user.id,
      },
    ])
    const audit = await wallets().auditLedger()
    expect(audit).toEqual({
      wallets: audit.wallets,
      imbalanceMicros: 0,
      purses: [
        ...PURSES.map((purse) => ({ purse, wallets: audit.wallets / 2, imbalanceMicros: 0 })),
        { purse: 'leagues', wallets: 0, imbalanceMicros: 0 },
      ],
      unbalancedTransactions: 0,
      mismatchedWallets: 0,
    })
    expect(audit.wallets).toBeGreaterThan(0)
  })

  it('many synthetic users are created in one call, in the order of their names, and only once', async () => {
    const names = Array.from({ length: 500 }, (_, i) => `Trader ${i + 1}`)
    const made = await users().createSyntheticMany(names)
    expect(made.map(({ user }) => user.firstName)).toEqual(names)
    expect(made.every(({ isNew }) => isNew)).toBe(true)
    expect(new Set(made.map(({ user }) => user.districtId)).size).toBe(DISTRICTS.length)

    const again = await users().createSyntheticMany([...names.slice(0, 3), 'Trader X', 'Trader X'])
    expect(again.map(({ isNew }) => isNew)).toEqual([false, false, false, true, false])
    expect(again[4]?.user).toEqual(again[3]?.user)
    expect(await users().createSyntheticMany([])).toEqual([])
  })

  it('concurrent calls with the same names create each user once', async () => {
    const names = ['Racer 1', 'Racer 2', 'Racer 3']
    const all = await Promise.all([names, names.toReversed(), names].map((n) => users().createSyntheticMany(n)))
    const made = all.flat()
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(names.length)
    expect(new Set(made.map(({ user }) => user.id)).size).toBe(names.length)
  })
})

it('a username fits the rules whatever the display name', () => {
  expect(usernameFor('Alice')).toBe('alice')
  expect(usernameFor('  José-María  ')).toBe('jose_maria')
  expect(usernameFor('7 of 9')).toBe('p_7_of_9')
  expect(usernameFor('Al')).toBe('p_al')
  const awkward = ['', '_', '!', '李', '王', '😀', 'x', '9', 'A very long display name 1', 'A very long display name 2']
  const usernames = awkward.map(usernameFor)
  for (const username of usernames) expect(username).toMatch(/^[a-z][a-z0-9_]{2,19}$/)
  expect(new Set(usernames).size).toBe(awkward.length)
})
