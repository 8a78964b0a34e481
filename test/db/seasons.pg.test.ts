import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { DIVISIONS, GROUP_MAX, seasonAt } from '../../src/features/seasons/seasons.ts'
import { present } from '../../actors/kernel/assert.ts'
import type { LeagueId, UserId } from '../../actors/kernel/ids.ts'
import { instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { LeagueResults } from '../../src/features/leagues/results.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { seasonKind, Seasons } from '../../src/features/seasons/store.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const real = systemWorld()
  let ahead = 0
  const world = { ...real, now: () => instant(real.now() + ahead) }
  const rig = seasonOn(open, world)
  const seasons = () => new Seasons(open().db, world)
  const leagues = () => new Leagues(open().db, world)
  const results = () => new LeagueResults(open().db, world, seasonKind(world))
  const enter = async (user: UserId): Promise<LeagueId> => {
    const entered = await seasons().enter(user)
    if (entered.kind !== 'entered') throw new Error(entered.kind)
    return entered.league
  }
  const leagueOf = async (user: UserId, id: LeagueId) => present(await leagues().find(user, id), 'league')
  /** The moment after the end of the season of now, when its groups rest. */
  const nextMonth = (): void => {
    ahead = seasonAt(world.now()).endsAt + 2 * MINUTE_MS - real.now()
  }

  beforeAll(async () => {
    // In the middle of a month: no test runs over its end by chance.
    ahead = seasonAt(real.now()).endsAt + 10 * 86_400_000 - real.now()
  })

  it('[G5] a user enters once a season, in the last division, with a wallet of their own', async () => {
    const fan = await rig.player()
    expect(await seasons().entry(fan)).toBeNull()
    const places = await Promise.all([enter(fan), enter(fan), enter(fan)])
    expect(new Set(places).size).toBe(1)
    expect(await enter(fan)).toBe(places[0])
    expect(await seasons().entry(fan)).toBe(places[0])
    const [id] = places
    const league = await leagueOf(fan, present(id, 'place'))
    expect(league).toMatchObject({
      kind: 'season',
      founder: null,
      matches: 'all',
      season: { id: seasons().current().id, division: DIVISIONS },
      startsAt: seasons().current().startsAt,
      endsAt: seasons().current().endsAt,
    })
    expect((await rig.wallets.find(fan, league.id))?.balance).toBe(u(10_000))
    expect(await leagues().join(await rig.player(), league.code), 'by no code').toEqual({ kind: 'unknown' })
    expect(await leagues().byCode(league.code)).toBeNull()
    expect(await leagues().leave(fan, league.id), 'nobody leaves').toBe(false)
    await rig.booksBalance()
  })

  it('[G5] groups fill up one after another, also when all enter at once', async () => {
    const fans = await Promise.all(Array.from({ length: 2 * GROUP_MAX + 5 }, () => rig.player()))
    await Promise.all(fans.map(enter))
    const { rows } = await sql<{ season_group: number; members: number }>`
      select season_group, members from leagues where season = ${seasons().current().id} order by season_group`.execute(
      open().db,
    )
    expect(Math.max(...rows.map(({ members }) => members))).toBe(GROUP_MAX)
    expect(rows.slice(0, -1).every(({ members }) => members === GROUP_MAX)).toBe(true)
    expect(rows.map((row) => row.season_group)).toEqual(rows.map((_, n) => n + 1))
  })

  describe('when a month is over', () => {
    it('[G5] who has traded is placed in the next season by their result, once; others enter again', async () => {
      ahead = seasonAt(world.now()).endsAt + 10 * 86_400_000 - real.now()
      const fans = await Promise.all(Array.from({ length: 10 }, () => rig.player()))
      for (const fan of fans) await enter(fan)
      const [winner, runnerUp, loser, idle] = fans as [UserId, UserId, UserId, UserId, ...UserId[]]
      const id = present((await seasons().entry(winner)) ?? undefined, 'entry')
      const match = await rig.match()
      await match.close(await match.open(winner, { league: id }), 220)
      await match.close(await match.open(runnerUp, { league: id }), 210)
      await match.close(await match.open(loser, { league: id }), 190)
      await match.settle()
      nextMonth()
      expect(await seasons().enter(winner), 'while the last is not decided').toEqual({ kind: 'undecided' })
      // Two processes at once.
      const told = (await Promise.all([results().decide(), results().decide()])).flat()
      const notice = (user: UserId) => told.filter((one) => one.userId === user && one.data['league'] === id)
      expect(notice(winner)).toHaveLength(1)
      expect(notice(winner)[0]?.body).toContain('You go up to division 4.')
      expect(notice(loser)[0]?.body).toContain('You stay in division 5.')
      const next = async (user: UserId) => {
        const entry = await seasons().entry(user)
        return entry === null ? null : (await leagueOf(user, entry)).season
      }
      const now = seasons().current().id
      expect(await next(winner)).toMatchObject({ id: now, division: 4 })
      expect(await next(runnerUp)).toMatchObject({ id: now, division: 4 })
      expect(await next(loser)).toMatchObject({ id: now, division: 5 })
      expect(await next(idle), 'who has not traded is not placed').toBeNull()
      expect((await leagueOf(idle, await enter(idle))).season).toMatchObject({ id: now, division: 5 })
      expect(await seasons().past(winner, 10)).toMatchObject([
        { league: id, rank: 1, members: 10, value: u(10_100), outcome: 'promoted', season: { division: 5 } },
      ])
      expect((await results().decide()).filter(({ data }) => data['league'] === id)).toEqual([])
      await rig.booksBalance()
    })

    it('[G5] the last fifth of a higher division goes down', async () => {
      ahead = seasonAt(world.now()).endsAt + 10 * 86_400_000 - real.now()
      const fans = await Promise.all(Array.from({ length: 5 }, () => rig.player()))
      for (const fan of fans) await enter(fan)
      const [id] = await Promise.all(fans.map((fan) => seasons().entry(fan)))
      const league = present(id ?? undefined, 'entry')
      await sql`update leagues set division = 3, season_group = 700 where id = ${league}::uuid`.execute(open().db)
      const match = await rig.match()
      for (const [n, fan] of fans.entries()) await match.close(await match.open(fan, { league }), 205 - 2 * n)
      await match.settle()
      nextMonth()
      await results().decide()
      const divisions = await Promise.all(
        fans.map(async (fan) => {
          const entry = present((await seasons().entry(fan)) ?? undefined, 'entry')
          return (await leagueOf(fan, entry)).season?.division
        }),
      )
      expect(divisions).toEqual([2, 3, 3, 3, 4])
      expect((await seasons().past(present(fans[4], 'fan'), 10))[0]).toMatchObject({ rank: 5, outcome: 'relegated' })
    })
  })
})
