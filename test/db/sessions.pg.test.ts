import { expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, sessionId, type UserId } from '../../actors/kernel/ids.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import type { FastStore } from '../../db/fast/fast-store.ts'
import { seedDistricts } from '../../db/seed.ts'
import { type Session, Sessions } from '../../db/sessions.ts'
import { Users } from '../../db/users.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const HOUR = 3_600_000

/** A fast store that can be made unavailable. */
class MortalStore extends FastMemory {
  away = false
  override async get(key: string): Promise<string | null> {
    if (this.away) throw new Error('Command timed out')
    return super.get(key)
  }
  override async set(...args: Parameters<FastMemory['set']>): Promise<void> {
    if (this.away) throw new Error('Command timed out')
    return super.set(...args)
  }
}

eachDatabase((open) => {
  const world = new TestWorld()
  /** One process: its own view of the fast store that all share. */
  const process = (fast: FastStore) =>
    new Sessions({
      db: open().db,
      ask: fastOrElse(fast, world),
      world,
      tokenLifeMs: 900_000,
      sessionLifeMs: HOUR,
    })
  const settle = () => {
    const fast = new MortalStore(world)
    return { fast, sessions: process(fast) }
  }
  const user = async (name: string): Promise<UserId> => {
    await seedDistricts(open().db)
    const made = await new Users(open().db, world).signInSynthetic({ displayName: name, districtId: districtId(1) })
    return present(made, 'user').user.id
  }
  const begin = async (sessions: Sessions, name: string): Promise<Session> =>
    present((await sessions.start([await user(name)]))[0], 'session')

  it('[S2] of a hundred concurrent uses of a generation one rotates, and all get the next', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Ada S12')
    const rotations = await Promise.all(Array.from({ length: 100 }, () => sessions.rotate(session)))
    for (const rotation of rotations) {
      expect(rotation).toEqual({ kind: 'rotated', session: { ...session, generation: 2 } })
    }
    expect(await sessions.isEnded(session.id)).toBe(false)
  })

  it('[S3] a generation counts ten seconds longer than its successor is old; then it ends the session', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Ada S13')
    await sessions.rotate(session)
    world.pass(10_000)
    expect(await sessions.rotate(session)).toMatchObject({ kind: 'rotated', session: { generation: 2 } })
    world.pass(1)
    expect(await sessions.rotate(session)).toEqual({ kind: 'reused' })
    expect(await sessions.rotate({ ...session, generation: 2 })).toEqual({ kind: 'ended' })
    expect(await sessions.isEnded(session.id)).toBe(true)
  })

  it('[S3] an older generation ends the session at once', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Bob S13')
    await sessions.rotate(session)
    await sessions.rotate({ ...session, generation: 2 })
    expect(await sessions.rotate(session)).toEqual({ kind: 'reused' })
    expect(await sessions.rotate({ ...session, generation: 3 })).toEqual({ kind: 'ended' })
  })

  it('[S2] a session lasts as long as it is rotated, and no longer', async () => {
    const { sessions } = settle()
    const session = await begin(sessions, 'Cem S12')
    world.pass(HOUR - 1)
    expect(await sessions.rotate(session)).toMatchObject({ kind: 'rotated' })
    world.pass(HOUR - 1)
    expect(await sessions.rotate({ ...session, generation: 2 })).toMatchObject({ kind: 'rotated' })
    world.pass(HOUR)
    expect(await sessions.rotate({ ...session, generation: 3 })).toEqual({ kind: 'ended' })
    expect(await sessions.rotate({ id: sessionId(world.newId()), generation: 1 })).toEqual({ kind: 'ended' })
  })

  it('[S4] every process knows at once that a session has ended, and no other session ends', async () => {
    const { fast, sessions } = settle()
    const [mine, other] = [await begin(sessions, 'Ada S14'), await begin(sessions, 'Ada S14')]
    await sessions.end(mine.id)
    await sessions.end(mine.id)
    for (const each of [sessions, process(fast)]) {
      expect([await each.isEnded(mine.id), await each.isEnded(other.id)]).toEqual([true, false])
    }
    expect(await sessions.rotate(mine)).toEqual({ kind: 'ended' })
  })

  it('[S4] while the fast store is unavailable the database answers, and the store is updated when it returns', async () => {
    const { fast, sessions } = settle()
    const [mine, other] = [await begin(sessions, 'Bob S14'), await begin(sessions, 'Bob S14')]
    fast.away = true
    await sessions.end(mine.id)
    expect([await sessions.isEnded(mine.id), await sessions.isEnded(other.id)]).toEqual([true, false])
    expect(await sessions.isEnded(sessionId(world.newId()))).toBe(true) // never started
    fast.away = false
    world.pass(1_000)
    expect(await sessions.isEnded(other.id)).toBe(false) // the first read writes it back to the store
    expect(await process(fast).isEnded(mine.id)).toBe(true)
  })

  it('[S4] after a restart with an empty fast store an ended session is still ended', async () => {
    const { sessions } = settle()
    const [mine, other] = [await begin(sessions, 'Cem S14'), await begin(sessions, 'Cem S14')]
    await sessions.end(mine.id)
    const { sessions: later } = settle()
    await later.recall()
    expect([await later.isEnded(mine.id), await later.isEnded(other.id)]).toEqual([true, false])
  })

  it('starting sessions removes expired ones, as fast as new ones begin', async () => {
    const { sessions } = settle()
    const ada = await user('Ada S15')
    await sessions.start(Array.from({ length: 40 }, () => ada))
    world.pass(HOUR + 1)
    const count = async () => {
      const rows = await open().db.selectFrom('sessions').select('id').where('user_id', '=', ada).execute()
      return rows.length
    }
    const before = await count()
    await sessions.start(Array.from({ length: 100 }, () => ada))
    expect([before, await count()]).toEqual([40, 100])
    expect(await sessions.start([])).toEqual([])
  })
})
