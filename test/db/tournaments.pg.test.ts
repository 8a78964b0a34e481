import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { type LeagueId, leagueId, type UserId } from '../../actors/kernel/ids.ts'
import { REPLAYS_MAX, TOURNAMENTS_MAX } from '../../actors/kernel/limits.ts'
import { money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { LeagueResults } from '../../src/features/leagues/results.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { UnnamedPurses } from '../../src/features/leagues/unnamed.ts'
import { UserList } from '../../db/user-list.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { type NewTournament, tournamentKind, Tournaments } from '../../src/features/tournaments/store.ts'
import { tournamentJson } from '../../src/features/tournaments/schema.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const real = systemWorld()
  let ahead = 0
  const world = { ...real, now: () => instant(real.now() + ahead) }
  const rig = seasonOn(open, world)
  let operator: UserId
  const audit = () => new AuditLog(open().db, world)
  const runs = () => new ReplayRuns(open().db, world, audit())
  const tournaments = () => new Tournaments(open().db, { world, audit: audit(), runs: runs() })
  const leagues = () => new Leagues(open().db, world)
  const terms = (over: Partial<NewTournament> = {}): NewTournament => ({
    name: 'Cup',
    startsAt: instant(world.now() + MINUTE_MS),
    endsAt: instant(world.now() + HOUR_MS),
    speed: 10,
    startingBalance: money(u(5_000)),
    ...over,
  })
  const scheduled = async (over: Partial<NewTournament> = {}): Promise<LeagueId> =>
    present((await tournaments().schedule(terms(over), operator)) ?? undefined, 'tournament')
  const found = async (id: LeagueId) => present((await tournaments().find(id)) ?? undefined, 'tournament')
  const clear = async () => {
    await sql`update leagues set decided_at = now() where kind = 'tournament' and decided_at is null`.execute(open().db)
    await sql`update replays set state = 'finished'`.execute(open().db)
  }

  beforeAll(async () => {
    operator = await rig.user('Operator')
  })

  it('[G6] is entered once, by anybody, with the same purse', async () => {
    const id = await scheduled()
    const fan = await rig.user('Fan')
    const entries = await Promise.all([1, 2, 3].map(() => tournaments().enter(fan, id)))
    expect(entries.every(({ kind }) => kind === 'entered')).toBe(true)
    expect((await rig.wallets.find(fan, id))?.balance).toBe(u(5_000))
    expect(await found(id)).toMatchObject({ entrants: 1, match: null, decidedAt: null })
    expect(await tournaments().entered(fan, [id])).toEqual(new Set([id]))
    expect(await tournaments().enter(fan, leagueId(real.newId()))).toEqual({ kind: 'unknown' })
    expect((await tournaments().list(5)).map((one) => one.id)).toContain(id)
    await rig.booksBalance()
    await clear()
  })

  it('[C1] a user who enters while they are frozen has no wallet that is not', async () => {
    const id = await scheduled()
    const users = new UserList(open().db, audit(), world)
    const fans = await Promise.all(Array.from({ length: 40 }, () => rig.player()))
    await Promise.all(
      fans.flatMap((fan) => [
        users.setStatus({ id: fan, status: 'frozen', reason: 'a test', by: operator }),
        tournaments().enter(fan, id),
      ]),
    )
    const { rows } = await sql`
      select from wallets where user_id = any(${fans}::uuid[]) and not frozen`.execute(open().db)
    expect(rows).toEqual([])
    expect((await found(id)).entrants).toBe(40)
    await clear()
  })

  it('[G6] begins once, at its time, in one of several processes, and plays without loss a match from its seed', async () => {
    const id = await scheduled()
    expect(await tournaments().begin(), 'before its time').toEqual([])
    ahead += 2 * MINUTE_MS
    const begun = (await Promise.all([1, 2, 3, 4].map(() => tournaments().begin()))).flat()
    expect(begun).toEqual([id])
    const { match, seed, startsAt } = await found(id)
    const run = (await runs().unfinished()).find(({ matchId }) => matchId === match)
    expect(run).toMatchObject({
      recording: 'tournament',
      lossless: true,
      practice: true,
      traders: 0,
      tournament: { seed, startsAt },
    })
    const fan = await rig.user('Late fan')
    await tournaments().enter(fan, id)
    const practice = { id: present(match ?? undefined, 'match'), purse: 'practice' } as const
    expect((await leagues().trading(fan, id, practice)).kind).toBe('open')
    await clear()
  })

  it('[G6] one that finds too many replays running begins when one has ended', async () => {
    const plan = {
      recording: 'goal-feast',
      speed: 10,
      traders: 0,
      lossless: false,
      practice: false,
      demo: false,
      by: null,
    }
    const others = await Promise.all(Array.from({ length: REPLAYS_MAX }, () => runs().begin(plan)))
    const id = await scheduled()
    ahead += 2 * MINUTE_MS
    expect(await tournaments().begin()).toEqual([])
    await runs().finish(present(others[0] ?? undefined, 'a run').id)
    expect(await tournaments().begin()).toEqual([id])
    await clear()
  })

  it('[G3] that could not begin before its end is won by no one', async () => {
    const id = await scheduled()
    const fan = await rig.user('In vain')
    await tournaments().enter(fan, id)
    ahead += HOUR_MS + 2 * MINUTE_MS
    expect(await tournaments().begin()).toEqual([])
    const told = await new LeagueResults(open().db, world, tournamentKind).decide()
    expect(told.map(({ userId, title }) => [userId, title])).toEqual([[fan, 'Cup was not played']])
    const { rows } = await sql`select rank from league_members where league_id = ${id}::uuid`.execute(open().db)
    expect(rows).toEqual([{ rank: null }])
    expect((await found(id)).decidedAt).not.toBeNull()
  })

  it('[G3] whose replay was stopped before its first update is won by no one, at once', async () => {
    const id = await scheduled()
    const fan = await rig.user('Stopped')
    await tournaments().enter(fan, id)
    ahead += 2 * MINUTE_MS
    await tournaments().begin()
    const decide = () => new LeagueResults(open().db, world, tournamentKind).decide()
    expect(await decide(), 'while its first update may come').toEqual([])
    const { match } = await found(id)
    const run = present(
      (await runs().unfinished()).find(({ matchId }) => matchId === match),
      'a run',
    )
    await runs().end(run.id, 'full_time', operator)
    await runs().finish(run.id)
    expect((await decide()).map(({ userId, title }) => [userId, title])).toEqual([[fan, 'Cup was not played']])
    const shown = tournamentJson(await found(id), { now: world.now(), isEntered: true })
    expect(shown.state).toBe('cancelled')
  })

  it('[G3] is decided with its match, however long its time would be', async () => {
    const id = await scheduled({ endsAt: instant(world.now() + 24 * HOUR_MS) })
    const [winner, idle] = [await rig.user('Winner'), await rig.user('Idle')]
    for (const user of [winner, idle]) await tournaments().enter(user, id)
    ahead += 2 * MINUTE_MS
    await tournaments().begin()
    const { match, isMatchKnown } = await found(id)
    expect(isMatchKnown, 'before its first update').toBe(false)
    const played = await rig.match({ purse: 'practice' })
    // Its replay plays in the match of the rig.
    await sql`update replays set match_id = ${played.id}::bigint where match_id = ${match}::bigint`.execute(open().db)
    expect((await found(id)).isMatchKnown).toBe(true)
    const position = await played.open(winner, { league: id })
    const unnamed = (user: UserId) => new UnnamedPurses(open().db).of(user, position.instrumentId)
    expect(await unnamed(winner), 'its entrants need not name it').toBe(id)
    expect(await unnamed(await rig.user('Not entered'))).toBeNull()
    await played.close(position, 210)
    const decide = () => new LeagueResults(open().db, world, tournamentKind).decide()
    await decide()
    expect((await found(id)).decidedAt, 'while it is played').toBeNull()
    await played.settle()
    const told = (await Promise.all([decide(), decide()])).flat().filter(({ data }) => data['league'] === id)
    expect((await found(id)).decidedAt).not.toBeNull()
    expect(await unnamed(winner), 'a late order is paid with no other money').toBe(id)
    expect(told.map(({ userId, title }) => [userId, title])).toEqual([
      [winner, 'Cup: you have won'],
      [idle, 'Cup: you are number 2 of 2'],
    ])
    expect(await tournaments().enter(await rig.user('Too late'), id)).toEqual({ kind: 'over' })
    await clear()
  })

  it('[G6] the seed is of 256 bits, its own, and told when the table is final and the match is over', async () => {
    const id = await scheduled({ endsAt: instant(world.now() + 10 * MINUTE_MS) })
    const other = await found(await scheduled())
    const { seed } = await found(id)
    expect(seed).toMatch(/^[0-9a-f]{64}$/)
    expect(seed).not.toBe(other.seed)
    ahead += 2 * MINUTE_MS
    await tournaments().begin()
    const { match } = await found(id)
    const played = await rig.match({ purse: 'practice' })
    await sql`update replays set match_id = ${played.id}::bigint where match_id = ${match}::bigint`.execute(open().db)
    ahead += HOUR_MS // its time is over, and its match still plays
    await new LeagueResults(open().db, world, tournamentKind).decide()
    const late = await found(id)
    expect([late.decidedAt !== null, late.isSeedPublic]).toEqual([true, false])
    await played.settle()
    expect(await found(id)).toMatchObject({ seed, isSeedPublic: true })
    const entries = JSON.stringify(await open().db.selectFrom('audit_log').selectAll().execute())
    expect(entries).not.toContain(seed)
    await clear()
  })

  it('[G6] that has not begun is cancelled or changed by an operator, and those who have entered are told', async () => {
    const [id, moved] = [await scheduled(), await scheduled()]
    const fan = await rig.user('Told')
    for (const one of [id, moved]) await tournaments().enter(fan, one)
    const why = { by: operator, reason: 'the wrong evening' }
    expect(await tournaments().change(leagueId(real.newId()), { kind: 'cancel' }, why)).toBe('unknown')
    const later = { name: 'Late Cup', startsAt: instant(world.now() + 30 * MINUTE_MS), speed: 20 }
    const endsAt = instant(world.now() + 2 * HOUR_MS)
    const set = ({ name, ...when }: Partial<typeof later>) =>
      tournaments().change(
        moved,
        { kind: 'set', terms: name === undefined ? when : { name }, endOf: () => endsAt },
        why,
      )
    // Of two operators each changes what they name.
    expect(
      await Promise.all([set({ name: later.name }), set({ startsAt: later.startsAt, speed: later.speed })]),
    ).toEqual(['changed', 'changed'])
    const cancel = () => tournaments().change(id, { kind: 'cancel' }, why)
    expect((await Promise.all([cancel(), cancel()])).toSorted()).toEqual(['begun', 'changed'])
    expect(await found(moved)).toMatchObject({ ...later, endsAt, decidedAt: null })
    ahead += 2 * MINUTE_MS
    expect(await tournaments().begin()).toEqual([])
    expect(await tournaments().enter(await rig.user('Late'), id)).toEqual({ kind: 'over' })
    const told = await open().db.selectFrom('notifications').select('title').where('user_id', '=', fan).execute()
    // Whichever of the two operators was first.
    expect(told.map(({ title }) => title.replace('Late ', '')).toSorted()).toEqual([
      'Cup begins at another time',
      'Cup is cancelled',
    ])
    expect(await audit().list(2, null, { action: 'tournament' })).toMatchObject([
      { action: 'tournament.cancel', subject: id, subjectName: 'Cup', after: null, reason: 'the wrong evening' },
      { action: 'tournament.change', subject: moved, subjectName: 'Late Cup', reason: 'the wrong evening' },
    ])
    await rig.booksBalance()
    await clear()
  })

  it('[G6] either begins or is cancelled, when both happen at once', async () => {
    for (let n = 0; n < 10; n++) {
      const id = await scheduled()
      ahead += 2 * MINUTE_MS
      const cancel = () => tournaments().change(id, { kind: 'cancel' }, { by: operator })
      const [cancelled, ...begun] = await Promise.all([cancel(), tournaments().begin(), tournaments().begin()])
      const { match, decidedAt } = await found(id)
      const isCancelled = cancelled === 'changed'
      expect([begun.flat().includes(id), match !== null, decidedAt === null]).toEqual(Array(3).fill(!isCancelled))
      await clear()
    }
  })

  it('there are so many at a time, and each is audited', async () => {
    const made = await Promise.all(
      Array.from({ length: TOURNAMENTS_MAX + 3 }, () => tournaments().schedule(terms(), operator)),
    )
    expect(made.filter((id) => id !== null)).toHaveLength(TOURNAMENTS_MAX)
    const entries = await open()
      .db.selectFrom('audit_log')
      .select('subject')
      .where('action', '=', 'tournament.schedule')
      .execute()
    expect(entries.map(({ subject }) => subject)).toEqual(expect.arrayContaining(made.filter((id) => id !== null)))
    await clear()
  })
})
