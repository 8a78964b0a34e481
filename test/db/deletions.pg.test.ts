/** Deleting accounts: what happens at once, what after the grace, and what is left. */
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { type DistrictId, districtId, type SessionId, type UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { refused } from '../../actors/kernel/outcome.ts'
import { DAY_MS, HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { hideFromBoards } from '../../db/board-changes.ts'
import { Deletions } from '../../db/deletions.ts'
import { Departed } from '../../db/departed.ts'
import { EndedSessions } from '../../db/ended-sessions.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Inbox } from '../../src/features/notifications/store.ts'
import { OwnLimitsStore } from '../../db/own-limits.ts'
import { type Registration, Registrations } from '../../db/registrations.ts'
import { Sessions } from '../../db/sessions.ts'
import { Users } from '../../db/users.ts'
import { Erasures } from '../../src/auth/erasures.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { BALANCED } from '../support/books.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'
import { FEATURES } from '../../src/features/index.ts'

const DISTRICT: DistrictId = districtId(1)

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const departed = new Departed('a test')
  let perNetwork = 1_000
  const season = seasonOn(open, world)
  let ended: EndedSessions
  /** The sessions that a request has ended. */
  const told: SessionId[] = []
  let deletions: Deletions
  let registrations: Registrations
  let users: Users
  const lines: string[] = []

  beforeAll(async () => {
    const { db } = open()
    const erasers = FEATURES.flatMap(({ erase = [] }) => erase)
    const audit = new AuditLog(db, world)
    ended = new EndedSessions({
      db,
      ask: (_fast, otherwise) => otherwise(),
      installation: 'test',
      world,
      tokenLifeMs: HOUR_MS,
    })
    const tells = {
      add: async (ids: readonly SessionId[]) => {
        told.push(...ids)
        await ended.add(ids)
      },
    }
    deletions = new Deletions({ db, world, audit, departed, ended: tells, graceDays: () => 7, erasers, rerankers: [] })
    registrations = new Registrations(db, world, [], {
      departed,
      deletions,
      perNetworkDay: () => perNetwork,
      onCrowd: () => {},
    })
    users = new Users(db, world, [], { departed, deletions })
  })

  const account = (name: string) => ({
    sub: `subject-of-${name}`,
    email: `${name}@mail.example`,
    name: `The Real ${name}`,
    picture: `https://pictures.example/${name}.jpg`,
  })
  const registration = (name: string, over: Partial<Registration> = {}): Registration => ({
    identity: account(name),
    username: name,
    firstName: `First ${name}`,
    lastName: `Last ${name}`,
    districtId: DISTRICT,
    referralCode: null,
    ticket: { id: world.newId(), expiresAt: instant(world.now() + 300_000) },
    network: '192.0.2.0/24',
    ...over,
  })
  const register = async (name: string, over: Partial<Registration> = {}) => {
    const registered = await registrations.register(registration(name, over))
    if (registered.kind !== 'registered') throw new Error(registered.kind)
    return registered.user
  }
  const balance = async (user: UserId) => (await season.wallets.find(user))?.balance
  const erasures = (submit: (id: string) => Promise<void>) =>
    new Erasures({
      deletions,
      desk: {
        submit: async ({ positionId }) => {
          await submit(positionId)
          return refused({ code: 'market_closed', window: { status: 'CLOSED', reason: null } })
        },
      },
      log: createLog({ level: 'debug', world, write: (line) => lines.push(line) }),
    })
  const nothingCloses = () => erasures(async () => undefined)

  /** Every row of every table, as text. */
  async function dump(): Promise<string> {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(
      open().db,
    )
    const texts: string[] = []
    for (const { name } of rows) {
      const { rows: found } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(
        open().db,
      )
      texts.push(...found.map(({ row }) => `${name}: ${row}`))
    }
    return texts.join('\n')
  }
  const rowsWith = async (...words: string[]) =>
    (await dump()).split('\n').filter((row) => words.some((word) => row.toLowerCase().includes(word.toLowerCase())))

  it('[Y2] a wish signs out, leaves the boards, and is not put off by repeating it', async () => {
    const user = (await register('leaver')).id
    const match = await season.match()
    await match.close(await match.open(user), 230)
    await season.settle()
    const roi = { by: 'roi', districtId: null } as const
    expect(await season.boards.main.place(roi, user)).not.toBeNull()
    await sql`insert into sessions (id, user_id, created_at, rotated_at, expires_at, address_prefix)
      values (${world.newId()}, ${user}, now(), now(), now() + interval '1 day', '192.0.2.0/24')`.execute(open().db)
    const due = clock.now + 7 * DAY_MS
    expect(await deletions.request(user)).toBe(due)
    clock.now += HOUR_MS
    expect(await deletions.request(user)).toBe(due)
    const { rows } = await sql`select 1 from sessions where user_id = ${user} and ended_at is null`.execute(open().db)
    expect(rows).toEqual([])
    await season.settle()
    expect(await season.boards.main.place(roi, user)).toBeNull()
    expect(await deletions.erase(user), 'before it is due').toBe(false)

    const back = await registrations.signIn(account('leaver'))
    expect(back).toMatchObject({ kind: 'user', kept: true, user: { id: user } })
    expect(await registrations.signIn(account('leaver'))).not.toHaveProperty('kept')
    expect(await new Inbox(open().db).list(user, { limit: 1, unreadOnly: true, before: null })).toMatchObject({
      notifications: [{ type: 'account', title: 'Your account stays' }],
    })
    clock.now = due
    await nothingCloses().look()
    expect((await users.find(user))?.username).toBe('leaver')
    await season.settle()
    expect(await season.boards.main.place(roi, user)).not.toBeNull()
  })

  it('[Y2] a session that begins while its account is being deleted keeps the account, or is none', async () => {
    const { db } = open()
    const keep = (one: UserId, session: SessionId) => deletions.cancel(one, session)
    const options = { db, ended, world, sessionLifeMs: 30 * DAY_MS, maxDays: () => 60 }
    const sessions = new Sessions({ ...options, keep })
    const device = { userAgent: null, addressPrefix: '192.0.2.0/24' }
    const [early] = await sessions.start([(await register('hasty')).id], device)
    const user = present(early, 'session').userId
    const { id: first } = present(early, 'session')
    await deletions.request(user)
    expect(told).toContain(first)
    for (let round = 0; round < 20; round++) {
      await Promise.all([deletions.request(user), sessions.start([user], device)])
      const living = await sessions.list(user)
      const { deletion_due: due } = await db
        .selectFrom('users')
        .select('deletion_due')
        .where('id', '=', user)
        .executeTakeFirstOrThrow()
      expect([living.length, due === null]).toEqual(due === null ? [1, true] : [0, false])
      await deletions.cancel(user)
      await sessions.endAll(user)
    }
    await deletions.request(user)
    await Promise.all([1, 2].map(() => sessions.start([user], device)))
    expect(await sessions.list(user), 'of two at once each lasts').toHaveLength(2)
    await deletions.request(user)
    // The wish is repeated between the sign-in's look and its taking back.
    const overtaken = async (one: UserId, session: SessionId) => {
      await deletions.request(one)
      return keep(one, session)
    }
    await new Sessions({ ...options, keep: overtaken }).start([user], device)
    expect(await sessions.list(user)).toEqual([])
    clock.now += 8 * DAY_MS
    expect(await deletions.erase(user)).toBe(true)
    await sessions.start([user], device)
    expect(await sessions.list(user)).toEqual([])
  })

  it('[Y2] nobody is invited by the code of an account that is due', async () => {
    const user = await users.find((await register('inviter')).id)
    const code = present(user?.referralCode, 'code')
    expect(await registrations.inviterOf(code)).toBe('inviter')
    await deletions.request(present(user, 'user').id)
    expect(await registrations.inviterOf(code)).toBeNull()
    await registrations.signIn(account('inviter'))
    expect(await registrations.inviterOf(code)).toBe('inviter')
  })

  it('[Y3] an erased user leaves no trace of who they were, and the books balance', async () => {
    const friend = (await register('hostess')).id
    const host = await users.find(friend)
    const user = (await register('vanisher', { referralCode: host?.referralCode ?? null })).id
    const match = await season.match()
    for (let day = 0; day < 3; day++) {
      for (let n = 0; n < 3; n++) await match.close(await match.open(user, { lots: 3 }), 230)
      clock.now += DAY_MS
      await season.settle()
    }
    const { db } = open()
    await sql`update spinner_weeks set candidates = null`.execute(db)
    await sql`
      insert into spinner_weeks (week, starts_at, candidates, winner_id, decided_at)
        values ('2026-W01', now(), ${JSON.stringify([
          { userId: user, username: 'vanisher' },
          { userId: friend, username: 'hostess' },
        ])}::jsonb, ${friend}, now())`.execute(db)
    await sql`
      insert into referrals (id, referrer_id, name, code, created_at)
        values (${world.newId()}, ${user}, 'My Cousin Vera', 'veracode', now()),
               (${world.newId()}, ${friend}, 'Vanisher from work', 'workcode', now())`.execute(db)
    await sql`
      update referrals set name = 'Vanisher the friend', code = 'friendcode' where referee_id = ${user}`.execute(db)
    await sql`
      insert into email_codes (subject, code_id, digest, guesses, expires_at, verified_email)
        values ('subject-of-vanisher', gen_random_uuid(), 'x', 0, now(), 'vanisher@mail.example')`.execute(db)
    await new OwnLimitsStore(db, world, new AuditLog(db, world)).change(user, { dailyLoss: 1_000_000_000 })
    const lost = await match.open(user)
    await match.close(lost, 190)
    const voids = new PositionVoids(db, season.cache, world)
    await voids.begin({ positionId: lost.id, commandId: null, by: friend, reason: 'Vanisher knew the price was wrong' })
    expect(await voids.rebook(lost.id)).toBe(true)
    // Of a month that is detached the audit log alone knows whose it was.
    const [away, reason] = [world.newId(), 'Vanisher was there']
    await sql`insert into position_voids (position_id, by_id, reason, at) values (${away}, ${friend}, ${reason}, now())`.execute(
      db,
    )
    const said = { before: { userId: user, realizedPnl: null }, after: { shortfall: 0 } }
    const note = { field: 'reason', about: user, words: reason } as const
    await new AuditLog(db, world).record({
      actor: friend,
      action: 'position.void',
      subject: away,
      ...said,
      words: note,
    })
    await season.settle()
    const code = (await users.find(user))?.referralCode ?? ''
    const words = ['vanisher', 'Vera', code]
    expect((await rowsWith(...words)).length).toBeGreaterThan(6)
    await deletions.request(user)
    clock.now += 7 * DAY_MS
    lines.length = 0
    await Promise.all([nothingCloses().look(), nothingCloses().look()])
    // The friend's own note about someone who has not come is theirs.
    expect((await rowsWith(...words)).map((row) => row.slice(0, 12))).toEqual(['referrals: ('])
    expect(lines.filter((line) => line.includes('account_erased'))).toHaveLength(1)
    expect(lines.join('').toLowerCase()).not.toContain('vanisher')
    expect(await season.wallets.auditLedger()).toMatchObject(BALANCED)
    expect(await users.find(user)).toMatchObject({ name: 'Deleted user', username: expect.stringMatching(/^deleted_/) })
    const { notifications } = await new Inbox(db).list(friend, { limit: 50, unreadOnly: false, before: null })
    expect(notifications.find(({ type }) => type === 'referral_credited')).toMatchObject({
      body: expect.stringMatching(/^A friend has started trading/),
    })
    const late = { action: 'user.note', subject: user, before: null, after: {}, outcome: 'ok' }
    const noted = { field: 'text', about: user, words: 'Vanisher wrote once more' } as const
    await new AuditLog(db, world).record({ actor: friend, ...late, words: noted })
    expect(await rowsWith('wrote once more')).toEqual([])
    // Nothing is opened by it any more.
    await expect(match.open(user)).rejects.toThrow('rejected')
  })

  it('[Y4] open positions live on, are closed when the account is due, and the account waits for them', async () => {
    const user = (await register('holder')).id
    const match = await season.match()
    const position = await match.open(user)
    await deletions.request(user)
    clock.now += 7 * DAY_MS
    const asked: string[] = []
    await erasures(async (id) => void asked.push(id)).look()
    expect(asked).toEqual([position.id])
    expect((await users.find(user))?.username).toBe('holder')
    // The market is open now. A process that dies in between has closed or not: the next look goes on.
    await erasures(() => match.close(position, 210)).look()
    expect((await users.find(user))?.username).toMatch(/^deleted_/)
    const { rows } = await sql`select closed_by from positions where user_id = ${user}`.execute(open().db)
    expect(rows).toEqual([{ closed_by: 'user' }])
  })

  it('[Y5] a user who comes back is new, limited as they were, and a referral like any', async () => {
    const host = await register('matron')
    const user = (await register('phoenix')).id
    const match = await season.match()
    await match.close(await match.open(user, { lots: 10 }), 190)
    expect(await balance(user)).toBeLessThan(STARTING_BALANCE)
    const until = clock.now + 300 * DAY_MS
    await new OwnLimitsStore(open().db, world, new AuditLog(open().db, world)).change(user, { excludedUntil: until })
    await deletions.request(user)
    clock.now += 7 * DAY_MS
    await nothingCloses().look()
    expect(await registrations.signIn(account('phoenix'))).toEqual({ kind: 'unknown' })
    expect(await registrations.isUsernameTaken('phoenix')).toBe(true)
    expect(await registrations.register(registration('impostor', { username: 'phoenix' }))).toEqual({
      kind: 'username_taken',
    })
    const again = await register('phoenix', { referralCode: host.referralCode })
    expect(again.id).not.toBe(user)
    expect(await balance(again.id)).toBe(STARTING_BALANCE)
    const limits = await new OwnLimitsStore(open().db, world, new AuditLog(open().db, world)).find(again.id)
    expect(limits?.bounds.until).toBe(until)
    await expect(match.open(again.id)).rejects.toThrow('rejected')
    const { rows } = await sql`select referrer_id from referrals where referee_id = ${again.id}`.execute(open().db)
    expect(rows).toEqual([{ referrer_id: host.id }])
    expect(await season.wallets.auditLedger()).toMatchObject(BALANCED)
  })

  it('[Y5] a user comes back with the starting balance, and a frozen one frozen', async () => {
    for (const name of ['Lucky', 'Cheat']) {
      const user = (await users.signInSynthetic({ displayName: name, districtId: null }))?.user.id
      if (user === undefined) throw new Error('no user')
      const match = await season.match()
      if (name === 'Lucky') await match.close(await match.open(user, { lots: 10 }), 250)
      else await sql`update users set status = 'frozen' where id = ${user}`.execute(open().db)
      await deletions.request(user)
      clock.now += 7 * DAY_MS
      await nothingCloses().look()
      const again = await users.signInSynthetic({ displayName: name, districtId: null })
      expect(again).toMatchObject({ isNew: true })
      if (again === null) throw new Error('no user')
      expect([name, await balance(again.user.id)]).toEqual([name, STARTING_BALANCE])
      const opening = match.open(again.user.id)
      if (name === 'Lucky') await opening
      else await expect(opening).rejects.toThrow('rejected')
    }
  })

  it('[Y6] hidden users leave the boards and the activity, and come back', async () => {
    const user = (await register('hider')).id
    const match = await season.match()
    await match.close(await match.open(user), 230)
    await season.settle()
    const roi = { by: 'roi', districtId: DISTRICT } as const
    const members = async () =>
      season.boards.main.top(roi, 100).then(({ entries }) => entries.map(({ standing }) => standing.userId))
    expect(await season.boards.main.place(roi, user)).not.toBeNull()
    expect(await hideFromBoards(open().db, user, true)).toBe(true)
    await season.settle()
    expect(await season.boards.main.place(roi, user)).toBeNull()
    expect(await members()).not.toContain(user)
    await hideFromBoards(open().db, user, false)
    await season.settle()
    expect(await season.boards.main.place(roi, user)).not.toBeNull()
  })

  it('[Y7] of many registrations at once a network has its number a day, and no more', async () => {
    perNetwork = 5
    const from = (network: string) => (name: string) => registrations.register(registration(name, { network }))
    const names = Array.from({ length: 12 }, (_, n) => `crowd${n}`)
    const kinds = await Promise.all(names.map(from('198.51.100.0/24')))
    expect(kinds.filter(({ kind }) => kind === 'registered')).toHaveLength(5)
    expect(kinds.filter(({ kind }) => kind === 'network_full')).toHaveLength(7)
    expect((await from('198.51.101.0/24')('elsewhere')).kind).toBe('registered')
    const full = kinds.find((each) => each.kind === 'network_full')
    clock.now += (full?.retryAfterSecs ?? 0) * 1_000
    expect((await from('198.51.100.0/24')('tomorrow')).kind).toBe('registered')
    perNetwork = 1_000
  })
})
