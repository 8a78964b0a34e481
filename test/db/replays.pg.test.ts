import { afterEach, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { REPLAYS_MAX } from '../../actors/kernel/limits.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { emptyAuditLog } from '../support/audit-rows.ts'
import { eachDatabase } from '../support/databases.ts'
import { info, U } from '../support/fixtures.ts'
import { insertMatch } from '../support/rows.ts'
import { TestWorld } from '../support/test-world.ts'

const PLAN = { recording: 'goal-feast', speed: 10, traders: 5, lossless: false, practice: false, demo: false, by: U(1) }

eachDatabase((open) => {
  const world = new TestWorld()
  const audit = () => new AuditLog(open().db, world)
  const runs = () => new ReplayRuns(open().db, world, audit())

  afterEach(async () => {
    await open().db.deleteFrom('replays').execute()
    await open().db.deleteFrom('matches').execute()
    await emptyAuditLog(open().db)
  })

  it('concurrent replays have separate casts and fixture numbers', async () => {
    const begun = await Promise.all(Array.from({ length: REPLAYS_MAX + 3 }, () => runs().begin(PLAN)))
    const played = begun.filter((run) => run !== null)
    expect(played).toHaveLength(REPLAYS_MAX)
    expect(new Set(played.map(({ slot }) => slot)).size).toBe(REPLAYS_MAX)
    expect(new Set(played.map(({ matchId }) => matchId)).size).toBe(REPLAYS_MAX)
    expect(played.every(({ matchId }) => matchId > 4_000_000_000)).toBe(true)
    const [first] = await runs().unfinished()
    expect(first).toMatchObject({ recording: 'goal-feast', speed: 10, traders: 5, ending: null, match: null })
    await runs().finish(present(first, 'a run').id)
    const next = await runs().begin(PLAN)
    expect(next).toMatchObject({ slot: first?.slot, matchId: Math.max(...played.map(({ matchId }) => matchId)) + 1 })
  })

  it('of demos started at the same time only one runs', async () => {
    const demo = { ...PLAN, demo: true, by: null }
    const begun = await Promise.all([runs().begin(demo), runs().begin(demo), runs().begin(PLAN)])
    expect(begun.filter((run) => run?.demo === true)).toHaveLength(1)
    expect(begun[2]).toMatchObject({ demo: false })
    expect(await runs().latestDemo()).toMatchObject({ demo: true, ending: null })
  })

  it('[V6] a replay is unfinished while its match has not settled, even if another process began that late', async () => {
    const { id, matchId, slot } = present(await runs().begin(PLAN), 'a run')
    await runs().end(id, 'void', U(1))
    await runs().finish(id)
    expect(await runs().unfinished()).toEqual([])
    await insertMatch(open().db, info({ matchId, replay: true }))
    expect(await runs().unfinished()).toMatchObject([{ id, ending: 'void', match: { settled: false } }])
    expect((await runs().begin(PLAN))?.slot).not.toBe(slot)
  })

  it('[V6] a replay whose match has begun is finished only when the match has settled', async () => {
    const { id, matchId } = present(await runs().begin(PLAN), 'a run')
    const row = { id: matchId, phase: 'live', replay: true, starts_at: new Date(world.now()), pricing: '{}' }
    const begun = { ...info({ matchId, minute: 12, feedSeq: 80 }) }
    await open()
      .db.insertInto('matches')
      .values({ ...row, info: JSON.stringify(begun) })
      .execute()
    expect(await runs().end(id, 'void', U(1))).toEqual([id])
    expect(await runs().end(id, 'void', U(1))).toEqual([id])
    expect(await runs().end(id, 'full_time', U(1))).toBe('over')
    expect(await runs().end(null, 'full_time', U(1))).toEqual([])
    await runs().finish(id)
    const match = { minute: 12, frames: 80, settled: false }
    expect(await runs().unfinished()).toMatchObject([{ id, ending: 'void', match }])
    await open()
      .db.updateTable('matches')
      .set({ settled_at: new Date(world.now()) })
      .execute()
    await runs().finish(id)
    expect(await runs().unfinished()).toEqual([])
    expect(await runs().end(id, 'void', U(1))).toEqual([])
    const deeds = await audit().list(10, null)
    expect(deeds.map(({ action, subject, outcome }) => [action, subject, outcome])).toEqual([
      ['replay.stop', id, 'NOT_FOUND'],
      ['replay.stop', id, 'MATCH_OVER'],
      ['replay.stop', id, 'ok'],
      ['replay.start', id, 'ok'],
    ])
  })

  it('a replay whose match settles by itself ends that way alone, and is no other end in the audit log', async () => {
    const [settling, other] = [present(await runs().begin(PLAN), 'a run'), present(await runs().begin(PLAN), 'a run')]
    await insertMatch(open().db, info({ matchId: settling.matchId, replay: true, settling: 'full_time' }))
    expect(await runs().end(settling.id, 'void', U(1))).toBe('over')
    expect(await runs().end(null, 'void', U(1))).toEqual([other.id])
    expect(await runs().end(settling.id, 'full_time', U(1))).toEqual([settling.id])
    const [settled, voided, refused] = await audit().list(3, null)
    expect(settled).toMatchObject({ subject: settling.id, after: { ending: 'full_time' }, outcome: 'ok' })
    expect(voided).toMatchObject({ subject: other.id, after: { ending: 'void' }, outcome: 'ok' })
    expect(refused).toMatchObject({ subject: settling.id, after: { ending: 'void' }, outcome: 'MATCH_OVER' })
  })
})
