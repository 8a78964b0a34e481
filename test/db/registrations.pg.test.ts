import { expect, it } from 'vitest'
import { districtId, userId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { type Registration, Registrations } from '../../db/registrations.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { eachDatabase } from '../support/databases.ts'
import { BALANCED } from '../support/books.ts'
import { TestWorld } from '../support/test-world.ts'

eachDatabase((open) => {
  const world = new TestWorld()
  const registrations = (admins: readonly string[] = []) => new Registrations(open().db, world, admins)
  const account = (sub: string) => ({ sub, email: `${sub}@example.com`, name: `The ${sub}`, picture: null })
  const registration = (name: string, over: Partial<Registration> = {}): Registration => ({
    identity: account(name),
    username: name,
    firstName: 'Ada',
    lastName: 'L.',
    districtId: districtId(2),
    referralCode: null,
    ...over,
  })
  const wallets = () => new Wallets(open().db, new WalletCache(null, () => {}))
  /** A newly registered user. */
  const register = async (name: string, over: Partial<Registration> = {}) => {
    await seedDistricts(open().db)
    const registered = await registrations().register(registration(name, over))
    if (registered.kind !== 'registered') throw new Error(registered.kind)
    return registered.user
  }
  const count = async (table: 'users' | 'wallets' | 'ledger_entries' | 'referrals') =>
    (await open().db.selectFrom(table).selectAll().execute()).length

  it("[S8] a new user has a wallet and the provider's details", async () => {
    const user = await register('ada')
    expect(user).toEqual({
      id: expect.any(String),
      username: 'ada',
      firstName: 'Ada',
      lastName: 'L.',
      email: 'ada@example.com',
      picture: null,
      role: 'user',
      districtId: 2,
      xp: 0,
      referralCode: expect.stringMatching(/^[0-9a-f]{10}$/),
      createdAt: world.now(),
    })
    expect(await wallets().find(user.id)).toMatchObject({ balance: STARTING_BALANCE })
    expect(await wallets().auditLedger()).toMatchObject(BALANCED)
    expect(await registrations().signIn(account('ada'))).toEqual(user)
    expect(await registrations().signIn(account('nobody'))).toBeNull()
  })

  it('[S8] of concurrent registrations of one account one creates the user, and all return them', async () => {
    await seedDistricts(open().db)
    const [users, grants] = [await count('users'), await count('ledger_entries')]
    const registered = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        registrations().register(registration(`twin_${n % 3}`, { identity: account('twin') })),
      ),
    )
    const made = registered.filter((each) => each.kind === 'registered')
    expect(made).toHaveLength(20)
    expect(made.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(new Set(made.map(({ user }) => user.id)).size).toBe(1)
    expect([await count('users'), await count('ledger_entries')]).toEqual([users + 1, grants + 2])
  })

  it('[S8] of concurrent registrations of one username one succeeds', async () => {
    await seedDistricts(open().db)
    const registered = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        registrations().register(registration('wanted', { identity: account(`rival${n}`) })),
      ),
    )
    expect(registered.map(({ kind }) => kind).toSorted()).toEqual([
      'registered',
      ...Array.from({ length: 9 }, () => 'username_taken'),
    ])
    expect(await registrations().isUsernameTaken('wanted')).toBe(true)
    expect(await registrations().isUsernameTaken('unwanted')).toBe(false)
  })

  it('[S8] an invalid registration creates nothing', async () => {
    const ada = await register('careful')
    const before = await Promise.all([count('users'), count('wallets'), count('ledger_entries'), count('referrals')])
    const bad = [
      [registration('bob', { districtId: districtId(999) }), 'unknown_district'],
      [registration('bob', { referralCode: 'nobody' }), 'unknown_referral'],
      [registration('bob', { username: ada.username }), 'username_taken'],
      [registration('bob', { username: ada.username, referralCode: ada.referralCode }), 'username_taken'],
    ] as const
    for (const [each, kind] of bad) expect(await registrations().register(each)).toEqual({ kind })
    const after = await Promise.all([count('users'), count('wallets'), count('ledger_entries'), count('referrals')])
    expect(after).toEqual(before)
  })

  it('[S8] a fault half-way leaves nothing behind, and the next try works', async () => {
    await seedDistricts(open().db)
    const before = await Promise.all([count('users'), count('wallets'), count('ledger_entries')])
    const ids: string[] = []
    const broken = {
      now: () => world.now(),
      secret: (bytes: number) => world.secret(bytes),
      randomInt: (below: number) => world.randomInt(below),
      newId: () => {
        ids.push(world.newId())
        if (ids.length === 2) throw new Error('half-way') // the user is written, their ledger entry is not
        return ids.at(-1) ?? ''
      },
    }
    const halfWay = new Registrations(open().db, broken, [])
    await expect(halfWay.register(registration('phoenix'))).rejects.toThrow('half-way')
    expect(await Promise.all([count('users'), count('wallets'), count('ledger_entries')])).toEqual(before)
    expect((await register('phoenix')).username).toBe('phoenix')
  })

  it('[S9] every sign-in updates the user from the provider, and promotes admins', async () => {
    const user = await register('grace')
    const changed = { ...account('grace'), email: 'Grace@Navy.example', picture: 'https://pictures.example/g.png' }
    expect(await registrations().signIn(changed)).toMatchObject({ email: 'Grace@Navy.example', role: 'user' })
    const listed = registrations(['grace@navy.example', 'root@navy.example'])
    expect(await listed.signIn(changed)).toEqual({
      ...user,
      email: 'Grace@Navy.example',
      picture: changed.picture,
      role: 'admin',
    })
    expect(await registrations().signIn(changed)).toMatchObject({ role: 'admin' }) // an admin stays an admin
    const root = { ...account('root1'), email: 'root@navy.example' }
    expect(await listed.register(registration('root1', { identity: root }))).toMatchObject({ user: { role: 'admin' } })
    expect(await new Users(open().db, world).find(user.id)).toMatchObject({ role: 'admin' })
  })

  it('an invite is filled by the first user who comes with it, and counts for each later one', async () => {
    const host = await register('host')
    const invite = world.newId()
    await open()
      .db.insertInto('referrals')
      .values({
        id: invite,
        referrer_id: host.id,
        name: 'For Bob',
        code: 'bobs-invite',
        referee_id: null,
        created_at: new Date(world.now()),
        registered_at: null,
        credited_at: null,
      })
      .execute()
    expect(await registrations().inviterOf('bobs-invite')).toBe('host')
    expect(await registrations().inviterOf(host.referralCode)).toBe('host')
    expect(await registrations().inviterOf('nobodys')).toBeNull()

    const guests = await Promise.all(
      ['guest_1', 'guest_2'].map((name) => register(name, { referralCode: 'bobs-invite' })),
    )
    const third = await register('guest_3', { referralCode: host.referralCode })
    const rows = await open().db.selectFrom('referrals').selectAll().where('referrer_id', '=', host.id).execute()
    expect(rows.filter(({ id, name }) => id === invite && name === 'For Bob')).toHaveLength(1)
    expect(new Set(rows.map(({ referee_id: id }) => id))).toEqual(new Set([...guests, third].map(({ id }) => id)))
    expect(rows.every(({ registered_at: at }) => at !== null)).toBe(true)
    expect(userId(third.id)).not.toBe(host.id)
  })
})
