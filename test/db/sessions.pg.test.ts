import { expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, sessionId, type UserId } from '../../actors/kernel/ids.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { type FastStore, keys } from '../../db/fast/fast-store.ts'
import { seedDistricts } from '../../db/seed.ts'
import { EndedSessions } from '../../db/ended-sessions.ts'
import { type Device, endSessionsOf, type Session, Sessions } from '../../db/sessions.ts'
import { instant } from '../../actors/kernel/world.ts'
import { Users } from '../../db/users.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const HOUR = 3_600_000

/** A fast store that can be made unavailable. */
class MortalStore extends FastMemory {
  away = false
  override async marked(...args: Parameters<FastMemory['marked']>): Promise<readonly boolean[]> {
    if (this.away) throw new Error('Command timed out')
    return super.marked(...args)
  }
  override async mark(...args: Parameters<FastMemory['mark']>): Promise<boolean> {
    if (this.away) throw new Error('Command timed out')
    return super.mark(...args)
  }
  /** As a restart or `FLUSHALL` does, or the eviction of the one key that there is. */
  empty(): Promise<void> {
    return this.del(keys.ended('here'))
  }
}

const PHONE: Device = { userAgent: 'Phone', addressPrefix: '203.0.113.0/24' }

eachDatabase((open) => {
  const world = new TestWorld()
  let maxDays = 60
  /** One process: its own view of the fast store that all share. */
  const process = (fast: FastStore) => {
    const { db } = open()
    const ended = new EndedSessions({
      db,
      ask: fastOrElse(fast, world),
      installation: 'here',
      world,
      tokenLifeMs: 900_000,
    })
    const sessions = new Sessions({
      db,
      ended,
      world,
      sessionLifeMs: HOUR,
      maxDays: () => maxDays,
      keep: async () => true,
    })
    return { ended, sessions }
  }
  const settle = () => {
    const fast = new MortalStore(world)
    return { fast, ...process(fast) }
  }
  const user = async (name: string): Promise<UserId> => {
    await seedDistricts(open().db)
    const made = await new Users(open().db, world).signInSynthetic({ displayName: name, districtId: districtId(1) })
    return present(made, 'user').user.id
  }
  const begin = async (sessions: Sessions, name: string): Promise<Session> =>
    present((await sessions.start([await user(name)], PHONE))[0], 'session')

  const rotate = (sessions: Sessions, { id }: Session, generation: number, key: string | null = null) =>
    sessions.rotate({ id, generation, key })

  it('[W20] of many sessions those live that have neither ended nor expired', async () => {
    const { sessions } = settle()
    const [living, ended] = [await begin(sessions, 'Ada W20'), await begin(sessions, 'Bob W20')]
    await sessions.end(ended.id)
    const unknown = Array.from({ length: 2_500 }, () => sessionId(world.newId()))
    expect(await sessions.livingAmong([ended.id, ...unknown, living.id])).toEqual(new Set([living.id]))
    world.pass(living.expiresAt - world.now())
    expect(await sessions.livingAmong([living.id])).toEqual(new Set())
  })

  it('[S2] of a hundred concurrent uses of a generation one rotates, and those under its key get the same', async () => {
    const { sessions, ended } = settle()
    const session = await begin(sessions, 'Ada S12')
    const rotations = await Promise.all(Array.from({ length: 100 }, () => rotate(sessions, session, 1, 'lost')))
    for (const rotation of rotations) {
      expect(rotation).toEqual({ kind: 'rotated', session: { ...session, generation: 2 } })
    }
    const kinds = await Promise.all(Array.from({ length: 100 }, async () => (await rotate(sessions, session, 2)).kind))
    expect(kinds.filter((kind) => kind === 'rotated')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'superseded')).toHaveLength(99)
    expect(await ended.has(session.id)).toBe(false)
  })

  it('[S3] a rotation repeated under its key within a minute gets the same session; later it ends it', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Ada S13')
    const first = await rotate(sessions, session, 1, 'lost')
    world.pass(60_000)
    expect(await rotate(sessions, session, 1, 'lost')).toEqual(first)
    world.pass(1)
    expect(await rotate(sessions, session, 1, 'lost')).toEqual({ kind: 'reused' })
    expect(await rotate(sessions, session, 2)).toEqual({ kind: 'ended' })
  })

  it('[S3] without the key a rotated generation is refused, and after ten seconds ends the session', async () => {
    const { sessions, ended } = settle()
    const session = await begin(sessions, 'Bea S13')
    await rotate(sessions, session, 1, 'hers')
    for (const key of [null, 'another']) {
      expect(await rotate(sessions, session, 1, key)).toEqual({ kind: 'superseded' })
    }
    world.pass(10_000)
    expect(await rotate(sessions, session, 1)).toEqual({ kind: 'superseded' })
    world.pass(1)
    expect(await rotate(sessions, session, 1)).toEqual({ kind: 'reused' })
    expect(await rotate(sessions, session, 2)).toEqual({ kind: 'ended' })
    expect(await ended.has(session.id)).toBe(true)
  })

  it('[S3] a generation that was replaced twice ends the session at once', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Bob S13')
    await rotate(sessions, session, 1)
    await rotate(sessions, session, 2)
    expect(await rotate(sessions, session, 1)).toEqual({ kind: 'reused' })
    expect(await rotate(sessions, session, 3)).toEqual({ kind: 'ended' })
  })

  it('[S2] a session lasts as long as it is rotated, and no longer', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Cem S12')
    world.pass(HOUR - 1)
    expect(await rotate(sessions, session, 1)).toMatchObject({ kind: 'rotated' })
    world.pass(HOUR - 1)
    expect(await rotate(sessions, session, 2)).toMatchObject({ kind: 'rotated' })
    world.pass(HOUR)
    expect(await rotate(sessions, session, 3)).toEqual({ kind: 'ended' })
    const unknown = { ...session, id: sessionId(world.newId()) }
    expect(await rotate(sessions, unknown, 1)).toEqual({ kind: 'ended' })
  })

  it('[S10] a session ends after the most days it may last, however often it is rotated', async () => {
    maxDays = 1
    const { sessions } = settle()
    const session = await begin(sessions, 'Dag S10')
    const endsAt = world.now() + 24 * HOUR
    for (let generation = 1; generation <= 24; generation++) {
      world.pass(HOUR - 1)
      const rotated = await rotate(sessions, session, generation)
      expect(rotated).toMatchObject({ kind: 'rotated' })
      if (rotated.kind === 'rotated') expect(rotated.session.expiresAt).toBeLessThanOrEqual(endsAt)
    }
    world.pass(24)
    expect(await rotate(sessions, session, 25)).toEqual({ kind: 'ended' })
    maxDays = 60
  })

  it('[S10] a lower setting ends older sessions at once, though they were rotated under the former one', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Dot S10')
    for (let generation = 1; generation <= 30; generation++) {
      world.pass(HOUR - 1)
      expect(await rotate(sessions, session, generation)).toMatchObject({ kind: 'rotated' })
    }
    expect(await sessions.livingAmong([session.id])).toEqual(new Set([session.id]))
    maxDays = 1
    expect(await sessions.livingAmong([session.id])).toEqual(new Set())
    expect(await sessions.list(session.userId)).toEqual([])
    maxDays = 60
  })

  it('[S4] every process knows at once that a session has ended, and no other session ends', async () => {
    const { fast, sessions, ended } = settle()
    const [mine, other] = [await begin(sessions, 'Ada S14'), await begin(sessions, 'Ada S14')]
    await sessions.end(mine.id)
    await sessions.end(mine.id)
    for (const each of [ended, process(fast).ended]) {
      expect([await each.has(mine.id), await each.has(other.id)]).toEqual([true, false])
    }
    expect(await rotate(sessions, mine, 1)).toEqual({ kind: 'ended' })
  })

  it('[S4] a store that is emptied under running processes revives no session, in none of them', async () => {
    const { fast, sessions, ended } = settle()
    const { ended: elsewhere } = process(fast)
    const [mine, other] = [await begin(sessions, 'Eda S14'), await begin(sessions, 'Eda S14')]
    expect([await ended.has(other.id), await elsewhere.has(other.id)]).toEqual([false, false]) // both use the store
    await sessions.end(mine.id)
    await fast.empty()
    for (const each of [elsewhere, ended]) {
      expect([await each.has(mine.id), await each.has(other.id)]).toEqual([true, false])
    }
    // One of them has told the store again.
    expect(await fast.marked(keys.ended('here'), [mine.id, other.id])).toEqual([true, false])
    await fast.empty()
    expect(await process(fast).ended.has(mine.id)).toBe(true)
  })

  it('[S4] a store that is emptied while it is told is not taken for one that knows everything', async () => {
    const { fast, sessions } = settle()
    const mine = await begin(sessions, 'Fay S14')
    await sessions.end(mine.id)
    await fast.empty()
    const elsewhere = process(fast)
    const mark = fast.mark.bind(fast)
    let empties = 2
    fast.mark = async (...args) => {
      const isMarked = await mark(...args)
      if (empties-- > 0) await fast.empty()
      return isMarked
    }
    for (let n = 0; n < 4; n++) expect(await elsewhere.ended.has(mine.id)).toBe(true)
    expect(await fast.marked(keys.ended('here'), [mine.id])).toEqual([true])
  })

  it('[S4] while the fast store is unavailable the database answers, and the store is updated when it returns', async () => {
    const { fast, sessions, ended } = settle()
    const [mine, other] = [await begin(sessions, 'Bob S14'), await begin(sessions, 'Bob S14')]
    fast.away = true
    await sessions.end(mine.id)
    expect([await ended.has(mine.id), await ended.has(other.id)]).toEqual([true, false])
    expect(await ended.has(sessionId(world.newId()))).toBe(false) // never started
    fast.away = false
    world.pass(1_000)
    expect(await ended.has(other.id)).toBe(false) // the first question writes it back to the store
    expect(await process(fast).ended.has(mine.id)).toBe(true)
  })

  it('[S4] the ends of a long absence of the fast store are written a thousand at once at most', async () => {
    const { fast, ended } = settle()
    const ids = Array.from({ length: 2_500 }, () => sessionId(world.newId()))
    fast.away = true
    await ended.add(ids)
    fast.away = false
    world.pass(1_000)
    const mark = vi.spyOn(fast, 'mark')
    await ended.has(sessionId(world.newId()))
    expect(mark.mock.calls.map(([, marks]) => marks.length).slice(0, 4)).toEqual([1_000, 1_000, 500, 1])
    expect(await fast.marked(keys.ended('here'), ids)).toEqual(ids.map(() => true))
  })

  it('[S4] an end that the fast store was never told of is found by every process that looks', async () => {
    const { fast, sessions, ended } = settle()
    const [mine, other] = [await begin(sessions, 'Gil S14'), await begin(sessions, 'Gil S14')]
    await ended.has(other.id) // the store says that it was told everything
    await ended.look()
    const cutOff = new MortalStore(world)
    cutOff.away = true
    await process(cutOff).sessions.end(mine.id)
    expect(await ended.look()).toEqual([{ id: mine.id, userId: mine.userId }])
    expect([await ended.has(mine.id), await ended.has(other.id)]).toEqual([true, false])
    expect(await ended.look()).toEqual([])
    expect(await process(fast).ended.look()).toContainEqual({ id: mine.id, userId: mine.userId }) // after a restart
  })

  it.each([-86_400_000, -600_000, 600_000, 86_400_000])(
    '[X15] a process whose clock is %d ms off ends sessions for the others, and takes no rotation for a copy',
    async (jump) => {
      const { sessions, ended } = settle()
      const [mine, other] = [await begin(sessions, 'Hal X15'), await begin(sessions, 'Hal X15')]
      await ended.look()
      maxDays = 100_000
      await rotate(sessions, other, 1, 'hers')
      world.pass(jump)
      try {
        await sessions.end(mine.id)
        expect(await process(new MortalStore(world)).ended.look()).toContainEqual({ id: mine.id, userId: mine.userId })
        if (jump < 0) expect(await rotate(sessions, other, 1)).toEqual({ kind: 'superseded' })
      } finally {
        world.pass(-jump)
        maxDays = 60
      }
    },
  )

  it('[S23] a session is fresh for 15 minutes from the proof of who its user is, whatever it is rotated', async () => {
    const { sessions } = settle()
    const [now] = [await begin(sessions, 'Hal S23')]
    const [before] = await sessions.start([now.userId], PHONE, instant(world.now() - 600_000))
    const fresh = () => Promise.all([now.id, present(before, 'session').id].map((id) => sessions.isFresh(id)))
    expect(await fresh()).toEqual([true, true])
    world.pass(300_000)
    await rotate(sessions, now, 1)
    expect(await fresh()).toEqual([true, false])
    world.pass(600_000)
    expect(await fresh()).toEqual([false, false])
  })

  it("[S11] a user sees their sessions, and ends one or all of them, and no other user's", async () => {
    const { sessions, ended } = settle()
    const [mine, other] = [await begin(sessions, 'Hal S11'), await begin(sessions, 'Hal S11')]
    const stranger = await begin(sessions, 'Ida S11')
    world.pass(1_000)
    await rotate(sessions, mine, 1)
    expect((await sessions.list(mine.userId)).map(({ id }) => id)).toEqual([mine.id, other.id])
    expect((await sessions.list(mine.userId))[0]).toMatchObject({
      ...PHONE,
      createdAt: world.now() - 1_000,
      lastSeenAt: world.now(),
    })
    expect(await sessions.endOne(mine.userId, stranger.id)).toBe(false)
    expect(await sessions.endOne(mine.userId, other.id)).toBe(true)
    expect(await sessions.endOne(mine.userId, other.id)).toBe(false)
    expect(await sessions.endAll(mine.userId)).toBe(1)
    expect(await sessions.list(mine.userId)).toEqual([])
    expect(await Promise.all([mine, other, stranger].map(({ id }) => ended.has(id)))).toEqual([true, true, false])
    expect(await sessions.devices(mine.userId)).toEqual([PHONE])
  })

  it('[S11] what ends all sessions of a user inside a transaction is found by every process that looks', async () => {
    const { sessions, ended } = settle()
    const mine = await begin(sessions, 'Jan S11')
    await ended.look()
    await open()
      .db.transaction()
      .execute((tx) => endSessionsOf(mine.userId, tx, world))
    expect(await ended.look()).toEqual([{ id: mine.id, userId: mine.userId }])
  })

  it('starting sessions removes expired ones, as fast as new ones begin', async () => {
    const { sessions } = settle()
    const ada = await user('Ada S15')
    await sessions.start(
      Array.from({ length: 40 }, () => ada),
      PHONE,
    )
    world.pass(HOUR + 1)
    const count = async () => {
      const rows = await open().db.selectFrom('sessions').select('id').where('user_id', '=', ada).execute()
      return rows.length
    }
    const before = await count()
    await sessions.start(
      Array.from({ length: 100 }, () => ada),
      PHONE,
    )
    expect([before, await count()]).toEqual([40, 100])
    expect(await sessions.start([], PHONE)).toEqual([])
  })
})
