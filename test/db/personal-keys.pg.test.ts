import { expect, it } from 'vitest'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, type SessionId, sessionId, type UserId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { EndedSessions } from '../../db/ended-sessions.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { type KeyRow, KEYS_MAX, PersonalKeys } from '../../db/personal-keys.ts'
import { seedDistricts } from '../../db/seed.ts'
import { endSessionsOf, Sessions } from '../../db/sessions.ts'
import { Users } from '../../db/users.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

eachDatabase((open) => {
  const world = new TestWorld()
  let count = 0
  /** One process, with a fast store of its own, so that only the database tells it of others. */
  const process = () => {
    const { db } = open()
    const ask = fastOrElse(new FastMemory(world), world)
    const ended = new EndedSessions({ db, ask, installation: 'here', world, tokenLifeMs: 900_000 })
    const audit = new AuditLog(db, world)
    const keys = new PersonalKeys({ db, ended, audit, world, rerankers: [] })
    const sessions = new Sessions({ db, ended, world, sessionLifeMs: HOUR, maxDays: () => 60, keep: async () => true })
    return { db, ended, keys, sessions, audit }
  }
  const user = async (): Promise<UserId> => {
    await seedDistricts(open().db)
    const made = await new Users(open().db, world).signInSynthetic({
      displayName: `Key ${++count}`,
      districtId: districtId(1),
    })
    return present(made, 'user').user.id
  }
  const signIn = async (owner: UserId) => {
    const device = { userAgent: null, addressPrefix: '203.0.113.0/24' }
    return present((await process().sessions.start([owner], device))[0], 'session').id
  }
  const newKey = (owner: UserId, by: SessionId, digest: string) => ({
    user: owner,
    by,
    name: 'Bot',
    scopes: ['trade'],
    expiresAt: instant(world.now() + 300 * DAY),
    digest,
    addressPrefix: '203.0.113.0/24',
  })

  const make = async (keys: PersonalKeys, owner: UserId, digest: string): Promise<KeyRow> => {
    const made = await keys.create(newKey(owner, await signIn(owner), digest))
    if (made === null || made === 'signed_out') throw new Error(`no key: ${made}`)
    return made
  }

  it('[S17] finds a key by its digest, with its user and role, and notes when it was used', async () => {
    const { keys } = process()
    const owner = await user()
    const made = await make(keys, owner, 'found')
    expect(await keys.find('found')).toMatchObject({ id: made.id, userId: owner, role: 'user', scopes: ['trade'] })
    const noted = world.now()
    world.pass(9 * 60_000)
    await keys.find('found')
    expect((await keys.list(owner)).map(({ lastUsedAt }) => lastUsedAt)).toEqual([noted])
    world.pass(60_000)
    await keys.find('found')
    expect((await keys.list(owner)).map(({ lastUsedAt }) => lastUsedAt)).toEqual([world.now()])
    expect(await keys.find('another')).toBeNull()
    world.pass(301 * DAY)
    expect(await keys.find('found')).toBeNull() // S18
    expect(await keys.list(owner)).toEqual([])
  })

  it('[S19] gives a user at most ten, also when asked concurrently', async () => {
    const { keys } = process()
    const owner = await user()
    const by = await signIn(owner)
    const made = await Promise.all(
      Array.from({ length: KEYS_MAX + 5 }, (_, n) => keys.create(newKey(owner, by, `many ${owner} ${n}`))),
    )
    expect(made.filter((key) => key !== null)).toHaveLength(KEYS_MAX)
    expect(await keys.list(owner)).toHaveLength(KEYS_MAX)
  })

  it('[S18] makes no key for a session that has ended, also when both come at once', async () => {
    const { keys, sessions } = process()
    for (let round = 0; round < 10; round++) {
      const owner = await user()
      const by = await signIn(owner)
      const asked = Array.from({ length: 5 }, (_, n) => keys.create(newKey(owner, by, `late ${owner} ${n}`)))
      await Promise.all([...asked, sessions.endAll(owner)])
      expect(await keys.list(owner)).toEqual([])
      expect(await keys.create(newKey(owner, by, `later ${owner}`))).toBe('signed_out')
    }
  })

  it('[S21] deletes a key once, for its owner alone, and audits it', async () => {
    const { db, keys, ended } = process()
    const other = process()
    const [owner, stranger] = [await user(), await user()]
    const { id } = await make(keys, owner, 'deleted')
    expect(await keys.delete(stranger, id)).toBe(false)
    expect(await Promise.all([keys.delete(owner, id), keys.delete(owner, id)])).toEqual(
      expect.arrayContaining([true, false]),
    )
    expect(await keys.find('deleted')).toBeNull()
    expect(await ended.has(id)).toBe(true)
    await other.ended.look()
    expect(await other.ended.has(id)).toBe(true)
    // So that the process that deleted it closes its sockets, too.
    const found = (await ended.look()).filter((one) => one.id === id)
    expect(found).toHaveLength(1)
    expect((await ended.look()).filter((one) => one.id === id)).toEqual([])
    const { rows } = await sql<{ action: string }>`
      select action from audit_log where subject = ${id} order by id`.execute(db)
    expect(rows.map(({ action }) => action)).toEqual(['key.create', 'key.delete'])
  })

  it('[S21] lists keys for admins, and lets an admin revoke any, for a reason in the audit log', async () => {
    const { db, keys, ended, audit } = process()
    const [owner, admin] = [await user(), await user()]
    const plain = await make(keys, owner, 'plain')
    const wide = { ...newKey(owner, await signIn(owner), 'wide'), scopes: ['read', 'admin:write'] }
    await keys.create(wide)
    const listed = async () =>
      (await keys.listScoped(['admin:read', 'admin:write'])).filter(({ userId }) => userId === owner)
    const [held, ...others] = await listed()
    const { id } = present(held, 'a key')
    expect([held, others]).toMatchObject([{ scopes: ['read', 'admin:write'], username: expect.any(String) }, []])
    for (const key of [id, plain.id]) {
      expect(await keys.revoke({ id: key, by: admin, reason: 'it was in a log' })).toBe(true)
      expect(await keys.revoke({ id: key, by: admin })).toBe(false)
      expect(await ended.has(key)).toBe(true)
    }
    expect([await listed(), await keys.find('wide'), await keys.list(owner)]).toEqual([[], null, []])
    expect(await audit.list(1, null, { subject: id })).toMatchObject([
      { actor: admin, action: 'key.revoke', before: { scopes: ['read', 'admin:write'] }, reason: 'it was in a log' },
    ])
    // [Y3] It goes when the owner does.
    const { rows: about } = await sql`select about, words from audit_words where about = ${owner}::uuid`.execute(db)
    expect(about).toEqual([{ about: owner, words: 'it was in a log' }, expect.anything()])
    const unknown = sessionId('0197f2a0-0000-7000-8000-00000000dead')
    expect(await new PersonalKeys({ db, ended, audit, world, rerankers: [] }).revoke({ id: unknown, by: admin })).toBe(
      false,
    )
  })

  it('[S18] ends keys with the sessions of their user: signing out everywhere, a demotion', async () => {
    const { db, keys, sessions } = process()
    const other = process()
    const owner = await user()
    const first = await make(keys, owner, 'everywhere')
    await sessions.endAll(owner)
    const second = await make(keys, owner, 'demoted')
    await db.transaction().execute((tx) => endSessionsOf(owner, tx, world))
    expect([await keys.find('everywhere'), await keys.find('demoted')]).toEqual([null, null])
    const seen = (await other.ended.look()).map((one) => one.id)
    expect(seen).toEqual(expect.arrayContaining([first.id, second.id]))
    expect(await sessions.livingAmong([first.id, second.id])).toEqual(new Set())
  })

  it('lists no key among sessions, and lets none be ended as one', async () => {
    const { keys, sessions } = process()
    const owner = await user()
    const { id } = await make(keys, owner, 'listed')
    expect(await sessions.list(owner)).toHaveLength(1)
    expect((await sessions.list(owner)).map((session) => session.id)).not.toContain(id)
    expect(await sessions.devices(owner)).toHaveLength(1)
    expect(await sessions.endOne(owner, id)).toBe(false)
    expect(await sessions.livingAmong([id])).toEqual(new Set([id]))
  })

  it('forgets a deleted key after a week, though it might have lasted a year', async () => {
    const { db, keys, sessions } = process()
    const owner = await user()
    const { id } = await make(keys, owner, 'forgotten')
    await keys.delete(owner, id)
    const left = async () => {
      const { rows } = await sql`select 1 from personal_keys where id = ${id}`.execute(db)
      return rows.length
    }
    world.pass(6 * DAY)
    await sessions.start([owner], { userAgent: null, addressPrefix: '203.0.113.0/24' })
    expect(await left()).toBe(1)
    world.pass(2 * DAY)
    for (let n = 0; n < 100; n++) await sessions.start([owner], { userAgent: null, addressPrefix: '203.0.113.0/24' })
    expect(await left()).toBe(0)
    expect(await sessions.endOne(owner, sessionId(id))).toBe(false)
  })
})
