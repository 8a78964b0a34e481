/** Freezing a user: what it stops, and what it leaves. */
import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import { ADOPTION_MAX } from '../../actors/kernel/limits.ts'
import type { Batch } from '../../actors/match/store.ts'
import { ActivityFeed } from '../../db/activity.ts'
import { money } from '../../actors/kernel/micros.ts'
import { AdoptionGuard } from '../../db/adoption-guard.ts'
import { AuditChain } from '../../db/audit-chain.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { UserList } from '../../db/user-list.ts'
import { systemWorld } from '../../src/system-world.ts'
import { codeOf } from '../support/actor-rig.ts'
import { eachDatabase } from '../support/databases.ts'
import { closeOrder } from '../support/fixtures.ts'
import { runningMatch } from '../support/running-match.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)
  let admin: UserId
  let matches = 88_000

  beforeAll(async () => {
    admin = await season.user('Freezing admin')
  })
  beforeEach(async () => {
    await season.settle()
  })

  const audit = () => new AuditLog(open().db, world)
  const set = (id: UserId, status: 'active' | 'frozen') =>
    new UserList(open().db, audit(), world).setStatus({ id, status, reason: 'a test', by: admin })

  const running = (before?: (batch: Batch) => Promise<void>) => runningMatch(open(), world, ++matches, { before })

  it('[C1] an erased account is nobody: its status and role stay, and its wallets stay shut', async () => {
    const user = await season.player()
    await sql`update users set erased_at = now() where id = ${user}`.execute(open().db)
    await sql`update wallets set frozen = true where user_id = ${user}`.execute(open().db)
    expect(await set(user, 'active')).toEqual({ kind: 'unknown' })
    const list = new UserList(open().db, audit(), world)
    expect(await list.setRole({ id: user, role: 'admin', by: admin })).toEqual({ kind: 'unknown' })
    const { rows } = await sql<{ role: string; frozen: boolean }>`
      select role, bool_and(frozen) as frozen from users join wallets on user_id = id where id = ${user} group by role`.execute(
      open().db,
    )
    expect(rows).toEqual([{ role: 'user', frozen: true }])
  })

  it('[D5] a user for whom more is adopted on a day than may be is frozen, once', async () => {
    const [user, other] = [await season.player(), await season.player()]
    const adopts = (subject: UserId, micros: number, outcome = 'ok') => {
      const entry = { actor: null, action: 'wallet.adopt', subject, before: null, outcome }
      return audit().record({ ...entry, after: { purse: 'main', byMicros: micros } })
    }
    const users = new UserList(open().db, audit(), world)
    const guard = new AdoptionGuard({ db: open().db, world, audit: audit(), users, dayMax: () => money(100) })
    const look = async () => guard.freeze((await new AuditChain(open().db).seal()).entries)
    await adopts(user, 60)
    expect(await look()).toEqual([])
    clock.now += 86_400_000
    await adopts(user, 60)
    await adopts(user, -60)
    await adopts(other, 1_000, 'ADOPTION_TOO_LARGE')
    expect(await look()).toEqual([])
    await adopts(user, 41)
    expect(await look()).toEqual([user])
    expect((await users.find(user))?.status).toBe('frozen')
    await adopts(user, 41)
    expect(await look()).toEqual([])
    const [frozen] = (await audit().list(50, null)).filter(({ action }) => action === 'wallet.adopt_freeze')
    expect(frozen).toMatchObject({ subject: user, after: { byMicros: 101 } })
  })

  it('[D5] one whom a process that died or a look that failed has missed is frozen by the next look, but not again', async () => {
    const user = await season.player()
    const users = new UserList(open().db, audit(), world)
    const setStatus = vi.fn<UserList['setStatus']>(users.setStatus.bind(users))
    const guardOf = () => {
      const options = { db: open().db, world, audit: audit(), dayMax: () => money(100) }
      return new AdoptionGuard({ ...options, users: { setStatus } })
    }
    const after = { purse: 'main', byMicros: 101 }
    await audit().record({ actor: null, action: 'wallet.adopt', subject: user, before: null, after })
    await new AuditChain(open().db).seal() // by a process that dies
    const guard = guardOf()
    setStatus.mockRejectedValueOnce(new Error('away'))
    await expect(guard.freeze([])).rejects.toThrow('away')
    expect(await guard.freeze([])).toEqual([user])
    await set(user, 'active')
    expect([await guard.freeze([]), await guardOf().freeze([])]).toEqual([[], []])
    expect((await users.find(user))?.status).toBe('active')
  })

  it('[D5] what was adopted at the end of a day is seen after midnight, and each day has a sum of its own', async () => {
    const [late, missed, spread] = [await season.player(), await season.player(), await season.player()]
    const users = new UserList(open().db, audit(), world)
    const guardOf = () => new AdoptionGuard({ db: open().db, world, audit: audit(), users, dayMax: () => money(500) })
    const adopts = (subject: UserId, byMicros: number) => {
      const entry = { actor: null, action: 'wallet.adopt', subject, before: null }
      return audit().record({ ...entry, after: { purse: 'main', byMicros } })
    }
    const seal = async () => (await new AuditChain(open().db).seal()).entries
    const guard = guardOf()
    expect(await guard.freeze(await seal())).toEqual([])
    const midnight = Math.ceil(clock.now / 86_400_000) * 86_400_000
    clock.now = midnight - 100
    for (const [user, micros] of [
      [late, 501],
      [spread, 300],
    ] as const)
      await adopts(user, micros)
    clock.now = midnight + 400
    await adopts(spread, 300)
    expect(await guard.freeze(await seal())).toEqual([late])
    clock.now = midnight - 100
    await adopts(missed, 501)
    await seal() // by a process that dies
    clock.now = midnight + 3_000
    expect([await guardOf().freeze([]), await guardOf().freeze([])]).toEqual([[missed], []])
    expect((await users.find(spread))?.status).toBe('active')
  })

  it('[D5] by default no sum of a day is too much', async () => {
    const user = await season.player()
    const users = new UserList(open().db, audit(), world)
    const guard = new AdoptionGuard({ db: open().db, world, audit: audit(), users, dayMax: () => ADOPTION_MAX })
    for (let n = 0; n < 3; n++) {
      const after = { purse: 'main', byMicros: ADOPTION_MAX }
      await audit().record({ actor: null, action: 'wallet.adopt', subject: user, before: null, after })
      expect(await guard.freeze((await new AuditChain(open().db).seal()).entries)).toEqual([])
    }
    expect((await users.find(user))?.status).toBe('active')
  })

  it('[C1] a frozen user closes and opens nothing, until made active again', async () => {
    const [user, other] = [await season.player(), await season.player()]
    const { actor, order } = await running()
    const held = await actor.submit(order(user))
    if (!held.ok) throw new Error(held.refusal.code)
    expect(await set(user, 'frozen')).toMatchObject({ kind: 'changed', user: { status: 'frozen' } })
    const [refused, allowed] = await Promise.all([actor.submit(order(user)), actor.submit(order(other))])
    expect([codeOf(refused), allowed.ok]).toEqual(['account_frozen', true])
    const means = {
      ...order(user),
      stopLoss: null,
      takeProfit: null,
      means: { main: { available: held.value.wallet.balance, openPositions: 1, frozen: true } },
    }
    expect(actor.quote(means)).toMatchObject({ ok: true, value: { refusal: { code: 'account_frozen' } } })
    expect((await actor.submit({ ...closeOrder(held.value.position.id), userId: user })).ok).toBe(true)
    await set(user, 'active')
    expect((await actor.submit(order(user))).ok).toBe(true)
  })

  it('[C1] an order whose commit is under way when the freezing is committed does not pass', async () => {
    const user = await season.player()
    const frozen = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const { actor, order } = await running(async ({ events }) => {
      if (!events.some(({ kind }) => kind === 'position_opened')) return
      reached.resolve()
      await frozen.promise
    })
    const answer = actor.submit(order(user))
    await reached.promise
    await set(user, 'frozen')
    frozen.resolve()
    expect(codeOf(await answer)).toBe('account_frozen')
    const { rows } = await sql`select from positions where user_id = ${user}`.execute(open().db)
    expect(rows).toEqual([])
  })

  it('[C1] a wallet that is summed up again stays frozen', async () => {
    const user = await season.player()
    const { actor, order } = await running()
    const held = await actor.submit(order(user))
    if (!held.ok) throw new Error(held.refusal.code)
    await set(user, 'frozen')
    await sql`delete from wallets where user_id = ${user} and purse = 'main'`.execute(open().db)
    expect((await actor.submit({ ...closeOrder(held.value.position.id), userId: user })).ok).toBe(true)
    expect(codeOf(await actor.submit(order(user)))).toBe('account_frozen')
  })

  it('[C1] freezing ends the sessions, is audited with its reason, and is not for oneself', async () => {
    const user = await season.player()
    await sql`insert into sessions (id, user_id, created_at, rotated_at, expires_at, address_prefix)
      values (${world.newId()}, ${user}, now(), now(), now() + interval '1 day', '192.0.2.0/24')`.execute(open().db)
    await set(user, 'frozen')
    const { rows } = await sql<{ living: number }>`
      select count(*) filter (where ended_at is null) as living from sessions where user_id = ${user}`.execute(
      open().db,
    )
    expect(rows).toEqual([{ living: 0 }])
    expect(await audit().list(1, null)).toMatchObject([
      {
        actor: admin,
        action: 'user.status',
        subject: user,
        before: { status: 'active' },
        after: { status: 'frozen', reason: 'a test' },
        outcome: 'ok',
      },
    ])
    expect(await set(admin, 'frozen')).toEqual({ kind: 'own_status' })
    expect(await audit().list(1, null)).toMatchObject([{ subject: admin, outcome: 'OWN_STATUS' }])
  })

  it('[C2] a frozen user leaves the boards and the activity, and comes back', async () => {
    const user = await season.player()
    const match = await season.match()
    const [first, second] = [await match.open(user, { lots: 5 }), await match.open(user, { lots: 5 })]
    await match.close(first, 230)
    await season.settle()
    const roi = { by: 'roi', districtId: null } as const
    expect(await season.boards.main.place(roi, user)).not.toBeNull()
    const feed = async () => (await new ActivityFeed(open().db).list(100, null)).filter((one) => one.userId === user)
    const before = await feed()
    expect(before.length).toBeGreaterThan(0)
    await set(user, 'frozen')
    await season.settle()
    expect([await season.boards.main.place(roi, user), await feed()]).toEqual([null, []])
    await match.close(second, 230)
    await season.settle()
    await season.keeper.rebuild()
    expect(await season.boards.main.place(roi, user)).toBeNull()
    await set(user, 'active')
    await season.settle()
    expect(await season.boards.main.place(roi, user)).toMatchObject({ standing: { closed: 2 } })
    expect(await feed(), 'what a frozen user did is no headline').toEqual(before)
  })

  it('[C2] the frozen earn no referral reward and cause none', async () => {
    for (const who of ['referrer', 'referee'] as const) {
      const [referrer, referee] = [await season.player(), await season.player()]
      await season.refer(referrer, referee)
      await set(who === 'referrer' ? referrer : referee, 'frozen')
      const match = await season.match()
      const closes = async () => {
        for (let n = 0; n < 3; n++) {
          const position = match.position(referee)
          await match.commit([{ kind: 'position_opened', position }, match.closed(position, 201)])
        }
        clock.now += 24 * 3_600_000
        await season.settle()
      }
      if (who === 'referee') await sql`update wallets set frozen = false where user_id = ${referee}`.execute(open().db)
      for (let day = 0; day < 3; day++) await closes()
      const credited = async () =>
        (
          await sql<{
            paid: boolean
          }>`select credited_at is not null as paid from referrals where referee_id = ${referee}`.execute(open().db)
        ).rows
      expect([who, await credited()]).toEqual([who, [{ paid: false }]])
      await set(who === 'referrer' ? referrer : referee, 'active')
      await closes()
      expect([who, await credited()]).toEqual([who, [{ paid: true }]])
    }
  })
})
