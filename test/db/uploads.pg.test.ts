import { expect, it } from 'vitest'
import { AuditLog } from '../../db/audit-log.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { type RecordingSummary, Uploads, UPLOADS_MAX } from '../../src/features/uploads/store.ts'
import { U } from '../support/fixtures.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

const SUMMARY: RecordingSummary = {
  title: 'The derby',
  fixtureName: 'Harbour vs Mill',
  home: { name: 'Harbour', goals: 2 },
  away: { name: 'Mill', goals: null },
  events: 31,
  minutes: 95,
  players: 44,
  updates: 571,
  chart: [{ name: 'A. Striker', prices: [200, 204.5] }],
}
const DATA = Buffer.from('packed')

eachDatabase((open) => {
  const world = new TestWorld()
  const stage = () => {
    const { db } = open()
    const audit = new AuditLog(db, world)
    return { uploads: new Uploads(db, world, audit), runs: new ReplayRuns(db, world, audit) }
  }

  it('[J12] keeps one recording of a name, however many bring it at once, and gives it back as it was', async () => {
    const { uploads } = stage()
    const all = await Promise.all(Array.from({ length: 8 }, () => uploads.add('derby', SUMMARY, DATA, U(1))))
    expect(all.map(({ kind }) => kind).toSorted()).toEqual([...Array.from({ length: 7 }, () => 'exists'), 'kept'])
    expect(await uploads.list()).toEqual([
      { ...SUMMARY, name: 'derby', id: expect.any(String), bytes: DATA.length, at: world.now() },
    ])
    expect(Buffer.from((await uploads.find('derby'))?.data ?? [])).toEqual(DATA)
    expect(await uploads.find('other')).toBeNull()
  })

  it('[J12] keeps as many as fit, and removes none that is being played', async () => {
    const { uploads, runs } = stage()
    for (let n = (await uploads.list()).length; n < UPLOADS_MAX; n++) {
      expect(await uploads.add(`upload-${n}`, SUMMARY, DATA, U(1))).toMatchObject({ kind: 'kept' })
    }
    expect(await uploads.add('one-more', SUMMARY, DATA, U(1))).toEqual({ kind: 'full', max: UPLOADS_MAX })
    const plan = { recording: 'upload-7', speed: 1, traders: 0, demo: false, lossless: true, practice: false, by: U(1) }
    const run = await runs.begin(plan)
    expect(await uploads.remove('upload-7', U(1))).toBe('playing')
    await runs.end(run?.id ?? '', 'full_time', U(1))
    await runs.finish(run?.id ?? '')
    expect(await uploads.remove('upload-7', U(1))).toBe('removed')
    expect(await uploads.remove('upload-7', U(1))).toBe('unknown')
    const before = await uploads.find('upload-8')
    expect(await uploads.remove('upload-8', U(1), 'a test')).toBe('removed')
    expect(await uploads.add('upload-8', SUMMARY, DATA, U(1))).toMatchObject({ kind: 'kept' })
    expect((await uploads.find('upload-8'))?.id).not.toBe(before?.id)
    const acts = await new AuditLog(open().db, new TestWorld()).list(3, null, { subject: 'upload-8' })
    expect(acts.map(({ action, reason }) => [action, reason])).toEqual([
      ['recording.upload', null],
      ['recording.delete', 'a test'],
      ['recording.upload', null],
    ])
  })
})
