import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { beforeEach, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { FLAGS_MAX } from '../../actors/kernel/settings.ts'
import { fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { numberSetting } from '../../actors/kernel/setting.ts'
import { type AuditFilter, AuditLog } from '../../db/audit-log.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Settings } from '../../db/settings.ts'
import { Users } from '../../db/users.ts'
import { present } from '../../actors/kernel/assert.ts'
import { emptyAuditLog } from '../support/audit-rows.ts'
import { eachDatabase } from '../support/databases.ts'
import { MATCH, P, u } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'

const DECLARED = { 'quiz.questions_max': numberSetting(5, [1, 9, 0], 'How many questions a quiz may have.') } as const

eachDatabase((open) => {
  const world = new TestWorld()
  const reports: string[] = []
  const audit = () => new AuditLog(open().db, world)
  let admin: UserId

  /** The settings of another process. */
  const settings = (db = open().db) =>
    Settings.open({
      db,
      world,
      audit: audit(),
      declared: DECLARED,
      report: (event, error, facts) =>
        reports.push([event, String(error), ...(facts === undefined ? [] : [JSON.stringify(facts)])].join(' ')),
    })

  beforeEach(async () => {
    const { db } = open()
    await seedDistricts(db)
    admin = present(await new Users(db, world).signInSynthetic({ displayName: 'Ann', districtId: null }), 'Ann').user.id
    await db.deleteFrom('settings').execute()
    await emptyAuditLog(db)
    await db
      .updateTable('settings_version')
      .set((row) => ({ version: row('version', '+', 1) }))
      .execute()
    reports.length = 0
  })

  it('[H17] a draft reads several values together, beside what is in force, and changes nothing', async () => {
    const here = await settings()
    await here.set({ key: 'scoring.base.goal', value: 5, by: admin })
    const draft = here.draft({ 'scoring.base.assist': 4, 'trading.hold_secs': 60 })
    expect(draft).toMatchObject({
      kind: 'valid',
      was: { rules: { holdMs: 180_000 }, model: { base: { goal: 5 } } },
      would: { rules: { holdMs: 60_000 }, model: { base: { goal: 5, assist: 4 } } },
    })
    expect(here.rules.holdMs).toBe(180_000)
    // Each is valid alone.
    expect(here.draft({ 'trading.lot_min': 0.5, 'trading.lot_step': 0.3 })).toMatchObject({ kind: 'invalid' })
    expect(here.draft({ 'trading.lot_min': 0.6, 'trading.lot_step': 0.3 })).toMatchObject({ kind: 'valid' })
    expect(here.draft({ 'trading.hold_secs': 60, 'trading.luck': 1 })).toEqual({ kind: 'unknown', key: 'trading.luck' })
    expect(here.draft({ 'trading.hold_secs': -1 })).toMatchObject({ kind: 'invalid', key: 'trading.hold_secs' })
    expect(here.draft({ 'flags.coming_soon': true })).toMatchObject({ kind: 'unknown' })
  })

  it('[N8] with protection on goals count in full, in a preview too', async () => {
    const here = await settings()
    const inFull = { ...here.model.review, share: 0, stand: 1 }
    expect(here.preview('trading.protection', 'on')).toMatchObject({ kind: 'valid', model: { review: inFull } })
    await here.set({ key: 'trading.protection', value: 'on', by: admin })
    expect(here.model).toEqual({ ...DEFAULT_MODEL, review: inFull })
    expect(here.preview('trading.protection', 'off')).toMatchObject({ kind: 'valid', model: DEFAULT_MODEL })
  })

  it('[H17] a preview reads a value as a change would, and changes nothing', async () => {
    const here = await settings()
    const before = here.list()
    expect(here.preview('scoring.base.goal', 5)).toMatchObject({ kind: 'valid', model: { base: { goal: 5 } } })
    expect(here.preview('trading.impact_cap_pct', 1)).toMatchObject({ kind: 'valid', rules: { impactCapPpm: 10_000 } })
    expect(here.preview('trading.lot_max', 0.001)).toMatchObject({ kind: 'invalid' })
    expect(here.preview('scoring.base.goal', 1_000)).toMatchObject({ kind: 'invalid' })
    expect(here.preview('flags.coming_soon', true)).toEqual({ kind: 'unknown' })
    expect(here.list()).toEqual(before)
  })

  it('[Q14] a change is in force at once in its own process, and in every other at the next refresh', async () => {
    const [here, there] = [await settings(), await settings()]
    expect([here.rules, there.rules]).toEqual([DEFAULT_RULES, DEFAULT_RULES])
    const before = there.rules
    await there.refresh()
    expect(there.rules).toBe(before)
    await here.set({ key: 'trading.lot_max', value: 5, by: admin })
    await here.set({ key: 'scoring.multiplier.FWD.goal', value: 2.5, by: admin })
    await here.setFlag({ key: 'coming_soon', enabled: true, by: admin })
    for (const each of [here, there]) {
      await each.refresh()
      expect(each.rules.lotMax).toBe(lots(u(5)))
      expect(each.model.multiplier.FWD.goal).toBe(2.5)
      expect(each.flags).toEqual({ coming_soon: true })
      expect(each.value('trading.lot_max')).toBe(5)
    }
    expect((await settings()).rules).toEqual(here.rules)
  })

  it('[Q14] a failed refresh keeps the known settings, and the next one catches up', async () => {
    const { db } = open()
    let isAway = false
    const unreliable = new Proxy(db, {
      get: (target, name) => {
        if (isAway && name === 'selectFrom') throw new Error('the database is away')
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const there = await settings(unreliable)
    isAway = true
    await (await settings()).set({ key: 'trading.hold_secs', value: 60, by: admin })
    await expect(there.refresh()).rejects.toThrow('away')
    expect(there.rules.holdMs).toBe(DEFAULT_RULES.holdMs)
    isAway = false
    await there.refresh()
    expect(there.rules.holdMs).toBe(60_000)
  })

  it('[H10] operators create flags, up to a number, and delete them; the built-in one stays', async () => {
    const [here, there] = [await settings(), await settings()]
    for (let n = 1; n <= FLAGS_MAX; n++) {
      expect((await here.setFlag({ key: `new.thing-${n}`, enabled: n % 2 === 1, by: admin })).kind).toBe('set')
    }
    const rows = (await audit().list(1_000, null)).length
    expect(await here.setFlag({ key: 'one-more', enabled: true, by: admin })).toEqual({ kind: 'full', max: FLAGS_MAX })
    expect(await here.setFlag({ key: 'new.thing-1', enabled: false, by: admin })).toMatchObject({ kind: 'set' })
    expect(await here.setFlag({ key: 'coming_soon', enabled: false, by: admin })).toMatchObject({ kind: 'set' })
    await there.refresh()
    expect(there.flags).toMatchObject({ coming_soon: false, 'new.thing-1': false, 'new.thing-3': true })
    expect(await there.removeFlag('new.thing-3', admin)).toBe('removed')
    expect(await there.removeFlag('new.thing-3', admin)).toBe('unknown')
    expect(await there.removeFlag('coming_soon', admin)).toBe('built_in')
    expect(there.flags).not.toHaveProperty('new.thing-3')
    // Of what was refused there is no row.
    expect((await audit().list(1_000, null)).length).toBe(rows + 3)
    expect(await audit().list(1, null)).toMatchObject([
      { action: 'flag.remove', subject: 'flags.new.thing-3', before: true, after: null },
    ])
    expect(await here.setFlag({ key: 'one-more', enabled: true, by: admin })).toMatchObject({
      entry: { key: 'one-more', value: true, updatedBy: 'ann' },
    })
  })

  it('[H10] no more flags than may be, however many are created at once', async () => {
    const here = await settings()
    for (let n = 1; n < FLAGS_MAX; n++) await here.setFlag({ key: `flag-${n}`, enabled: true, by: admin })
    const kinds = await Promise.all(
      ['a', 'b', 'c', 'd'].map(async (key) => (await here.setFlag({ key, enabled: true, by: admin })).kind),
    )
    expect(kinds.toSorted()).toEqual(['full', 'full', 'full', 'set'])
  })

  it('[H10] the setting of a feature is read and set like any other', async () => {
    const [here, there] = [await settings(), await settings()]
    const valueOf = there.reader(DECLARED)
    expect(valueOf('quiz.questions_max')).toBe(5)
    expect(await here.set({ key: 'quiz.questions_max', value: 10, by: admin })).toMatchObject({ kind: 'invalid' })
    expect(await here.set({ key: 'quiz.questions_max', value: 7, by: admin })).toMatchObject({ kind: 'set' })
    await there.refresh()
    expect(valueOf('quiz.questions_max')).toBe(7)
  })

  it('[H10] a change is stored with its author, time and previous value', async () => {
    const here = await settings()
    world.pass(1_000)
    const outcome = await here.set({ key: 'trading.hold_secs', value: 60, by: admin })
    const { setting } = present(
      here.list().find(({ key }) => key === 'trading.hold_secs'),
      'setting',
    )
    const entry = { key: 'trading.hold_secs', setting, value: 60, updatedAt: world.now(), updatedBy: 'ann' }
    expect(outcome).toEqual({ kind: 'set', entry })
    await here.setFlag({ key: 'coming_soon', enabled: true, by: admin, reason: 'not ready' })
    expect(here.listFlags()).toMatchObject([{ key: 'coming_soon', value: true, updatedBy: 'ann' }])
    expect(await audit().list(10, null)).toMatchObject([
      {
        actor: admin,
        actorName: 'ann',
        action: 'setting.set',
        subject: 'flags.coming_soon',
        before: false,
        after: true,
        reason: 'not ready',
      },
      { subject: 'trading.hold_secs', before: 180, after: 60, reason: null, at: world.now() },
    ])
    const [since, key] = [world.now(), 'trading.hold_secs']
    world.pass(60_000)
    await here.set({ key, value: 90, by: admin, reason: 'complaints' })
    const found = async (filter: AuditFilter) => (await audit().list(10, null, filter)).map(({ after }) => after)
    expect(await found({ subject: key })).toEqual([90, 60])
    expect(await found({ subject: key, since: world.now() })).toEqual([90])
    expect(await found({ subject: key, until: world.now(), since })).toEqual([60])
    expect(await found({ actor: 'ann', action: 'match.end,setting' })).toEqual([90, true, 60])
    expect(await found({ action: 'set' })).toEqual([])
    expect(await found({ actor: 'bob' })).toEqual([])
    const [latest] = await audit().list(1, null)
    expect((await audit().list(10, latest?.id ?? 0)).map(({ after }) => after)).toEqual([true, 60])
  })

  it('[H10] a change whose audit row cannot be written is not made', async () => {
    const broken = new AuditLog(open().db, world)
    broken.record = () => Promise.reject(new Error('no audit'))
    const here = await Settings.open({
      db: open().db,
      world,
      audit: broken,
      declared: {},
      report: () => {},
    })
    await expect(here.set({ key: 'trading.hold_secs', value: 60, by: admin })).rejects.toThrow('no audit')
    expect((await settings()).rules).toEqual(DEFAULT_RULES)
  })

  it('an unknown key, an invalid value or a contradiction changes nothing', async () => {
    const here = await settings()
    const refused = [
      await here.set({ key: 'trading.nothing', value: 1, by: admin }),
      await here.set({ key: 'flags.coming_soon', value: true, by: admin }),
      await here.set({ key: '__proto__', value: 1, by: admin }),
      await here.set({ key: 'trading.hold_secs', value: '60', by: admin }),
      await here.set({ key: 'trading.lot_max', value: 0.001, by: admin }),
    ]
    expect(refused.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown', 'invalid', 'invalid'])
    expect(refused[4]).toMatchObject({ problem: expect.stringContaining('must not be above trading.lot_max') })
    expect(here.rules).toEqual(DEFAULT_RULES)
    expect(await audit().list(10, null)).toEqual([])
  })

  it('of two changes at once that contradict each other one is refused', async () => {
    const [here, there] = [await settings(), await settings()]
    const outcomes = await Promise.all([
      here.set({ key: 'trading.lot_min', value: 50, by: admin }),
      there.set({ key: 'trading.lot_max', value: 10, by: admin }),
    ])
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['invalid', 'set'])
  })

  it('[H14] a match and a player have separate modes, which are removed when they are open again', async () => {
    const here = await settings()
    const [match, player] = [`trading.mode.match.${MATCH}`, `trading.mode.instrument.${P(1)}`]
    await here.set({ key: match, value: 'reduce_only', by: admin })
    await here.set({ key: player, value: 'halted', by: admin })
    expect(here.rules.modes).toEqual({
      platform: 'open',
      matches: new Map([[fixtureId(MATCH), 'reduce_only']]),
      instruments: new Map([[P(1), 'halted']]),
    })
    expect(here.list().filter(({ key }) => key === match || key === player)).toHaveLength(2)
    expect(await here.set({ key: match, value: 'open', by: admin })).toMatchObject({ entry: { value: 'open' } })
    await here.set({ key: player, value: 'open', by: admin })
    expect(here.rules).toEqual(DEFAULT_RULES)
    expect(await open().db.selectFrom('settings').selectAll().execute()).toEqual([])
    expect(await here.set({ key: 'trading.mode.match.0', value: 'open', by: admin })).toEqual({ kind: 'unknown' })
  })

  it('[H15] an unreadable stored mode halts trading in its scope; any other unreadable value is its default', async () => {
    const stored = (key: string, value: unknown) => ({
      key,
      value: JSON.stringify(value),
      updated_at: new Date(world.now()),
    })
    const rows = [
      stored('trading.mode', 'maintenance'),
      stored(`trading.mode.match.${MATCH}`, null),
      stored(`trading.mode.instrument.${P(1)}`, 7),
      stored('trading.hold_secs', 'long'),
      stored('a.setting.of.tomorrow', 1),
    ]
    await open().db.insertInto('settings').values(rows).execute()
    const { rules } = await settings()
    const halted = {
      platform: 'halted',
      matches: new Map([[MATCH, 'halted']]),
      instruments: new Map([[P(1), 'halted']]),
    }
    expect(rules).toEqual({ ...DEFAULT_RULES, modes: halted })
    expect(reports).toHaveLength(4)
    expect(reports).toContainEqual(
      expect.stringMatching(/^setting_unreadable .*trading.hold_secs must be a whole number .*"value":"long"/),
    )
  })

  it('listeners are called once with the changed settings, whichever process set them', async () => {
    const [here, there] = [await settings(), await settings()]
    const changes: string[][] = []
    there.onChange(() => {
      throw new Error('deaf')
    })
    const unlisten = there.onChange((changed) => changes.push([...changed]))
    await here.set({ key: 'trading.hold_secs', value: 60, by: admin })
    await here.set({ key: 'trading.lot_max', value: 5, by: admin })
    await there.refresh()
    await there.refresh()
    await there.set({ key: 'trading.hold_secs', value: 90, by: admin })
    unlisten()
    await there.set({ key: 'trading.hold_secs', value: 91, by: admin })
    expect(changes.map((keys) => keys.toSorted())).toEqual([
      ['trading.hold_secs', 'trading.lot_max'],
      ['trading.hold_secs'],
    ])
    expect(reports).toEqual(Array(3).fill('settings_listener_failed Error: deaf'))
  })
})
