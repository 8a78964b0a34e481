import { expect, it } from 'vitest'
import { districtId, userId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { Departed } from '../../db/departed.ts'
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
  const crowds: string[] = []
  const options = {
    departed: new Departed('a test'),
    deletions: { cancel: async () => true },
    perNetworkDay: () => 0,
    onCrowd: (network: string) => void crowds.push(network),
  }
  const registrations = (admins: readonly string[] = []) => new Registrations(open().db, world, admins, options)
  const account = (sub: string) => ({ sub, email: `${sub}@example.com`, name: `The ${sub}`, picture: null })
  const registration = (name: string, over: Partial<Registration> = {}): Registration => ({
    identity: account(name),
    username: name,
    firstName: 'Ada',
    lastName: 'L.',
    districtId: districtId(2),
    referralCode: null,
    ticket: { id: world.newId(), expiresAt: instant(world.now() + 300_000) },
    network: '192.0.2.0/24',
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
      name: 'The ada',
      firstName: 'Ada',
      lastName: 'L.',
      email: 'ada@example.com',
      picture: null,
      role: 'user',
      districtId: 2,
      xp: 0,
      referralCode: expect.stringMatching(/^[0-9a-f]{10}$/),
      status: 'active',
      hiddenFromBoards: false,
      deletionDue: null,
      createdAt: world.now(),
    })
    expect(await wallets().find(user.id)).toMatchObject({ balance: STARTING_BALANCE })
    expect(await wallets().auditLedger()).toMatchObject(BALANCED)
    expect(await registrations().signIn(account('ada'))).toEqual({ kind: 'user', user })
    expect(await registrations().signIn(account('nobody'))).toEqual({ kind: 'unknown' })
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
    expect([await count('users'), await count('ledger_entries')]).toEqual([users + 1, grants + 4])
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
      steady: world,
      secret: (bytes: number) => world.secret(bytes),
      randomInt: (below: number) => world.randomInt(below),
      newId: () => {
        ids.push(world.newId())
        if (ids.length === 2) throw new Error('half-way') // the user is written, their ledger entry is not
        return ids.at(-1) ?? ''
      },
    }
    const halfWay = new Registrations(open().db, broken, [], options)
    await expect(halfWay.register(registration('phoenix'))).rejects.toThrow('half-way')
    expect(await Promise.all([count('users'), count('wallets'), count('ledger_entries')])).toEqual(before)
    expect((await register('phoenix')).username).toBe('phoenix')
  })

  it('[S9] a registration that only signs in promotes, too', async () => {
    await register('hedy')
    const again = await registrations(['hedy@example.com']).register(registration('hedy'))
    expect(again).toMatchObject({ kind: 'registered', isNew: false, user: { role: 'admin' } })
  })

  it('[S8] a sign-in changes only what its token says', async () => {
    const picture = 'https://pictures.example/lise.png'
    const user = await register('lise', { identity: { ...account('lise'), picture } })
    const bare = { sub: 'lise', email: 'lise@new.example', name: undefined, picture: undefined }
    expect(await registrations().signIn(bare)).toEqual({ kind: 'user', user: { ...user, email: 'lise@new.example' } })
  })

  it('[S9] every sign-in updates the user from the provider, and promotes admins', async () => {
    const user = await register('grace')
    const changed = { ...account('grace'), email: 'Grace@Navy.example', picture: 'https://pictures.example/g.png' }
    expect(await registrations().signIn(changed)).toMatchObject({ user: { email: 'Grace@Navy.example', role: 'user' } })
    const listed = registrations(['grace@navy.example', 'root@navy.example'])
    expect(await listed.signIn(changed)).toEqual({
      kind: 'user',
      user: { ...user, email: 'Grace@Navy.example', picture: changed.picture, role: 'admin' },
    })
    expect(await listed.signIn({ ...changed, email: 'grace@home.example' })).toMatchObject({ user: { role: 'user' } })
    expect(await listed.signIn(changed)).toMatchObject({ user: { role: 'admin' } })
    expect(await registrations().signIn(changed)).toMatchObject({ user: { role: 'user' } }) // no longer listed
    expect(await listed.signIn(changed)).toMatchObject({ user: { role: 'admin' } })
    const root = { ...account('root1'), email: 'root@navy.example' }
    expect(await listed.register(registration('root1', { identity: root }))).toMatchObject({ user: { role: 'admin' } })
    expect(await new Users(open().db, world).find(user.id)).toMatchObject({ role: 'admin' })
  })

  it('[S9] addresses compare in ASCII: a letter that only looks alike makes no admin', async () => {
    const listed = registrations(['kate@boss.example'])
    const kelvin = { ...account('kelvin'), email: '\u212Aate@boss.example' }
    expect(await listed.register(registration('kelvin', { identity: kelvin }))).toMatchObject({
      user: { role: 'user' },
    })
    const kate = { ...account('kate'), email: 'KATE@Boss.example' }
    expect(await listed.signIn(kate)).toEqual({ kind: 'unknown' })
    expect(await listed.register(registration('kate', { identity: kate }))).toMatchObject({ user: { role: 'admin' } })
    expect(await listed.signIn(kelvin)).toMatchObject({ user: { username: 'kelvin', role: 'user' } })
  })

  it('[S13] accounts are told apart by their subject alone: several may have one address, and each is its own', async () => {
    const first = await register('first')
    const second = { ...account('second'), email: 'FIRST@example.com' }
    expect(await registrations().signIn(second)).toEqual({ kind: 'unknown' })
    const made = await register('second', { identity: second })
    expect(made).toMatchObject({ email: 'FIRST@example.com' })
    expect(made.id).not.toBe(first.id)
    await register('third')
    const moved = { ...account('third'), email: 'first@example.com' }
    expect(await registrations().signIn(moved)).toMatchObject({ kind: 'user', user: { username: 'third' } })
    for (const [identity, username] of [
      [account('first'), 'first'],
      [second, 'second'],
    ] as const) {
      expect(await registrations().signIn(identity)).toMatchObject({ user: { username } })
    }
    // Whoever has a listed address is an admin, with each account.
    await new Users(open().db, world, ['first@example.com']).applyAdminEmails()
    const roles = await Promise.all(
      [first.id, made.id].map(async (id) => (await new Users(open().db, world).find(id))?.role),
    )
    expect(roles).toEqual(['admin', 'admin'])
    await new Users(open().db, world).applyAdminEmails()
  })

  it('[Y7] any number may register from one network by default; every fifty of a day are noted', async () => {
    crowds.length = 0
    const network = '198.51.100.0/24'
    for (let n = 1; n <= 100; n++) await register(`pupil_${n}`, { network })
    expect(crowds).toEqual([network, network])
  })

  it('[S8] a ticket registers once, also if it is sent many times at once; a refused try leaves it unused', async () => {
    await seedDistricts(open().db)
    const once = registration('ticketed')
    expect(await registrations().register({ ...once, districtId: districtId(999) })).toEqual({
      kind: 'unknown_district',
    })
    const kinds = await Promise.all(Array.from({ length: 8 }, async () => (await registrations().register(once)).kind))
    expect(kinds.toSorted()).toEqual(['registered', ...Array.from({ length: 7 }, () => 'ticket_used')])
    expect(await registrations().register(once)).toEqual({ kind: 'ticket_used' })
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
    expect(await registrations().inviterOf('Bobs-Invite')).toBe('host')
    expect(await registrations().inviterOf(host.referralCode)).toBe('host')
    expect(await registrations().inviterOf('nobodys')).toBeNull()

    const guests = await Promise.all(
      ['guest_1', 'guest_2'].map((name) => register(name, { referralCode: 'BOBS-invite' })),
    )
    const third = await register('guest_3', { referralCode: host.referralCode })
    const rows = await open().db.selectFrom('referrals').selectAll().where('referrer_id', '=', host.id).execute()
    expect(rows.filter(({ id, name }) => id === invite && name === 'For Bob')).toHaveLength(1)
    expect(new Set(rows.map(({ referee_id: id }) => id))).toEqual(new Set([...guests, third].map(({ id }) => id)))
    expect(rows.every(({ registered_at: at }) => at !== null)).toBe(true)
    expect(userId(third.id)).not.toBe(host.id)
  })
})
