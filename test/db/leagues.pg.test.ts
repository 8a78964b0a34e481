import { type KyselyPlugin, sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, leagueId, type UserId } from '../../actors/kernel/ids.ts'
import { LEAGUES_MAX, MEMBERS_MAX } from '../../actors/kernel/limits.ts'
import { type Money, money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { CommonPurse } from '../../actors/kernel/purse.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { eraseFromLeagues } from '../../src/features/leagues/erase.ts'
import { LeagueResults, PRIVATE } from '../../src/features/leagues/results.ts'
import { Leagues, type NewLeague } from '../../src/features/leagues/store.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { Tournaments } from '../../src/features/tournaments/store.ts'
import { OwnLimitsStore } from '../../db/own-limits.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { seasonOn, type Season } from '../support/season.ts'
import { systemWorld } from '../../src/system-world.ts'

const START = money(u(1_000))

eachDatabase((open) => {
  const real = systemWorld()
  let ahead = 0
  const world = { ...real, now: () => instant(real.now() + ahead) }
  const season = seasonOn(open, world)
  const leagues = () => new Leagues(open().db, world)
  const results = () => new LeagueResults(open().db, world, PRIVATE)

  const terms = (over: Partial<NewLeague> = {}): NewLeague => ({
    name: 'Friends',
    startsAt: instant(world.now() - 1),
    endsAt: instant(world.now() + HOUR_MS),
    startingBalance: START,
    matches: 'all',
    ...over,
  })
  const founded = async (over: Partial<NewLeague> = {}) => {
    const founder = await season.player()
    const made = await leagues().found(founder, terms(over))
    if (made.kind !== 'joined') throw new Error(made.kind)
    const { code } = present(await leagues().find(founder, made.league), 'league')
    return { founder, id: made.league, code }
  }
  const joined = async (code: string): Promise<UserId> => {
    const user = await season.player()
    expect((await leagues().join(user, code)).kind).toBe('joined')
    return user
  }
  const balance = async (user: UserId, purse: Parameters<Season['wallets']['find']>[1]): Promise<Money | undefined> =>
    (await season.wallets.find(user, purse))?.balance
  const isBalanced = async () => {
    const audit = await season.wallets.auditLedger()
    expect(audit).toMatchObject({ imbalanceMicros: 0, unbalancedTransactions: 0, mismatchedWallets: 0 })
    expect(audit.purses.map(({ purse, imbalanceMicros }) => [purse, imbalanceMicros])).toEqual([
      ['main', 0],
      ['practice', 0],
      ['leagues', 0],
    ])
  }

  describe('membership', () => {
    it('[G1] founding joins, and each member begins with the balance of the league, booked', async () => {
      const { founder, id, code } = await founded()
      const ada = await joined(code)
      for (const user of [founder, ada]) expect(await balance(user, id)).toBe(START)
      expect(await balance(ada, 'main')).toBe(u(10_000))
      expect(await leagues().find(ada, id)).toMatchObject({
        name: 'Friends',
        members: 2,
        matches: 'all',
        decidedAt: null,
      })
      expect(await leagues().byCode(code)).toMatchObject({ id })
      expect((await leagues().list(ada, 10)).map((one) => one.id)).toEqual([id])
      const stranger = await season.player()
      expect(await leagues().find(stranger, id), 'for members only').toBeNull()
      expect(await leagues().join(stranger, 'unknown')).toEqual({ kind: 'unknown' })
      await isBalanced()
    })

    it('[G1] joins of one user at once make one member with one wallet', async () => {
      const { id, code } = await founded()
      const user = await season.player()
      const answers = await Promise.all(Array.from({ length: 8 }, () => leagues().join(user, code)))
      expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['joined']))
      expect(await balance(user, id)).toBe(START)
      expect(await leagues().find(user, id)).toMatchObject({ members: 2 })
      await isBalanced()
    })

    it('[G2] who leaves is off the table, and who comes back has the wallet they left with', async () => {
      const { id, code } = await founded()
      const user = await joined(code)
      const match = await season.match()
      await match.close(await match.open(user, { league: id }), 180)
      expect(await balance(user, id)).toBe(START - u(100))
      expect(await leagues().leave(user, id)).toBe(true)
      expect(await leagues().leave(user, id)).toBe(false)
      expect((await leagues().table(id)).map(({ userId }) => userId)).not.toContain(user)
      expect(await leagues().trading(user, id, { id: match.id, purse: 'main' })).toEqual({ kind: 'not_member' })
      expect((await leagues().join(user, code)).kind).toBe('joined')
      expect(await balance(user, id), 'no second start').toBe(START - u(100))
      await isBalanced()
    })

    it(`[G1] takes part in ${LEAGUES_MAX} leagues at a time, however many are joined at once`, async () => {
      const user = await season.player()
      const codes: string[] = []
      for (let n = 0; n < LEAGUES_MAX + 2; n++) codes.push((await founded()).code)
      const first = codes.slice(0, LEAGUES_MAX - 1)
      for (const code of first) expect((await leagues().join(user, code)).kind).toBe('joined')
      const rest = await Promise.all(codes.slice(LEAGUES_MAX - 1).map((code) => leagues().join(user, code)))
      expect(rest.map(({ kind }) => kind).toSorted()).toEqual(['joined', 'too_many', 'too_many'])
      expect(await leagues().found(user, terms())).toEqual({ kind: 'too_many' })
    })

    it(`[G1] has at most ${MEMBERS_MAX} members, also when the last come at once`, async () => {
      const { id, code } = await founded()
      await sql`update leagues set members = ${MEMBERS_MAX - 1}::integer where id = ${id}::uuid`.execute(open().db)
      const late = await Promise.all([season.player(), season.player(), season.player()])
      const answers = await Promise.all(late.map((user) => leagues().join(user, code)))
      expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['full', 'full', 'joined'])
    })

    it('[G1] a frozen user has a frozen wallet there, and limits count there, too', async () => {
      const { id, code } = await founded()
      const user = await season.player()
      const limits = new OwnLimitsStore(open().db, world, new AuditLog(open().db, world))
      await limits.change(user, { excludedUntil: instant(world.now() + 48 * HOUR_MS) })
      await sql`update users set status = 'frozen' where id = ${user}::uuid`.execute(open().db)
      expect((await leagues().join(user, code)).kind).toBe('joined')
      const { [id]: means } = await season.wallets.means(user)
      expect(means).toMatchObject({ frozen: true, available: START })
      expect(means?.bounds).toBeDefined()
    })
  })

  it('[G4] a league takes orders while it runs, from its members, in its matches', async () => {
    const main = { id: fixtureId(7), purse: 'main' } as const
    const practice = { id: fixtureId(8), purse: 'practice' } as const
    const seen = async (over: Partial<NewLeague>, match: { id: FixtureId; purse: CommonPurse }) => {
      const { founder, id } = await founded(over)
      return (await leagues().trading(founder, id, match)).kind
    }
    expect(await seen({}, main)).toBe('open')
    expect(await seen({}, practice)).toBe('other_match')
    expect(await seen({ matches: 'practice' }, main)).toBe('other_match')
    expect(await seen({ matches: 'practice' }, practice)).toBe('open')
    expect(await seen({ matches: [fixtureId(8), fixtureId(8)] }, practice)).toBe('open')
    expect(await seen({ matches: [fixtureId(8)] }, main)).toBe('other_match')
    expect(await seen({ matches: 'tournaments' }, practice), 'a recording that everybody can name').toBe('other_match')
    const audit = new AuditLog(open().db, world)
    const runs = new ReplayRuns(open().db, world, audit)
    const tournaments = new Tournaments(open().db, { world, audit, runs })
    const at = { startsAt: instant(world.now() - 1), endsAt: instant(world.now() + HOUR_MS) }
    const cup = { ...at, name: 'Cup', speed: 10, startingBalance: START }
    const cupId = present(await tournaments.schedule(cup, await season.player()), 'tournament')
    await tournaments.begin()
    const { match } = present(await tournaments.find(cupId), 'tournament')
    expect(await seen({ matches: 'tournaments' }, { id: present(match, 'match'), purse: 'practice' })).toBe('open')
    expect((await leagues().byCode((await founded({ matches: 'tournaments' })).code))?.matches).toBe('tournaments')
    expect(await seen({ startsAt: instant(world.now() + MINUTE_MS) }, main)).toBe('not_running')
    expect(await seen({ startsAt: instant(world.now() - 2), endsAt: instant(world.now() - 1) }, main)).toBe(
      'not_running',
    )
    const { id } = await founded()
    expect(await leagues().trading(await season.player(), id, main)).toEqual({ kind: 'not_member' })
    expect(await leagues().trading(await season.player(), leagueId(real.newId()), main)).toEqual({ kind: 'not_member' })
  })

  describe('the table', () => {
    it('[G3] ranks by what leaving everything now would leave; equals share a rank', async () => {
      const { founder, id, code } = await founded()
      const [winner, loser, holder] = [await joined(code), await joined(code), await joined(code)]
      const match = await season.match()
      await match.close(await match.open(winner, { league: id }), 210)
      await match.close(await match.open(loser, { league: id }), 190)
      const held = await match.open(holder, { league: id })
      // The base rises to 204: the holder has won 20 and could leave with it. The price beside it does not matter.
      await sql`update instruments set base_micros = 204000000, imbalance_micros = 90000000, slope_micros = 40000
                 where id = ${held.instrumentId}::uuid`.execute(open().db)
      const table = await leagues().table(id)
      expect(table.map(({ rank, userId, value, openPositions }) => [rank, userId, value, openPositions])).toEqual([
        [1, winner, u(1_050), 0],
        [2, holder, u(1_020), 1],
        [3, founder, u(1_000), 0],
        [4, loser, u(950), 0],
      ])
      const own = present(await season.wallets.find(holder, id), 'wallet')
      expect(own.balance + own.marginUsed + own.unrealizedPnl, 'the wallet says the same').toBe(u(1_020))
      const places = await leagues().matchTable(id, match.id, holder)
      expect(places.map(({ rank, userId, pnl }) => [rank, userId, pnl])).toEqual([
        [1, winner, u(50)],
        [2, loser, u(-50)],
      ])
      await isBalanced()
    })

    it('is read once for all who ask within a second; one who has joined since is on it, and a failure is not kept', async () => {
      let [reads, fails] = [0, true]
      const plugin: KyselyPlugin = {
        transformQuery: ({ node }) => {
          if (JSON.stringify(node).includes('league_table')) reads++
          if (fails) throw new Error('out of order')
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const { founder, id, code } = await founded()
      const shared = new Leagues(open().db.withPlugin(plugin), world)
      const asked = () => Promise.allSettled(Array.from({ length: 20 }, () => shared.table(id, founder)))
      expect((await asked()).every(({ status }) => status === 'rejected')).toBe(true)
      ;[reads, fails] = [0, false]
      expect((await asked()).every(({ status }) => status === 'fulfilled')).toBe(true)
      expect(reads).toBe(1)
      const late = await joined(code)
      expect((await shared.table(id, late)).map(({ userId }) => userId)).toContain(late)
      ahead += 1_000
      expect(await shared.table(id)).toHaveLength(2)
      ahead += HOUR_MS + 2 * MINUTE_MS
      await shared.table(id)
      await sql`update league_members set rank = 7, result_micros = 7 where league_id = ${id}::uuid`.execute(open().db)
      expect(
        (await shared.table(id, founder, true)).map(({ rank }) => rank),
        'final',
      ).toEqual([7, 7])
      await sql`update leagues set decided_at = now() where id = ${id}::uuid`.execute(open().db)
    })

    it('[C2] a frozen member comes last, and who is on no board is not named to others', async () => {
      const { founder, id, code } = await founded()
      const [cheat, shy] = [await joined(code), await joined(code)]
      const match = await season.match()
      await match.close(await match.open(cheat, { league: id }), 220)
      await match.close(await match.open(shy, { league: id }), 210)
      await sql`update users set status = 'frozen' where id = ${cheat}`.execute(open().db)
      await sql`update users set hidden_from_boards = true where id = ${shy}`.execute(open().db)
      const table = async () => (await leagues().table(id)).map(({ rank, userId, isOff }) => [rank, userId, isOff])
      const places = [
        [1, shy, true],
        [2, founder, false],
        [3, cheat, true],
      ]
      expect(await table()).toEqual(places)
      const ofMatch = async (user: UserId) =>
        (await leagues().matchTable(id, match.id, user)).map(({ userId }) => userId)
      expect([await ofMatch(founder), await ofMatch(shy)]).toEqual([[], [shy]])
      ahead += HOUR_MS + 2 * MINUTE_MS
      let told = await results().decide()
      while (told.every(({ data }) => data['league'] !== id)) told = await results().decide()
      const [shyName] = (await leagues().table(id)).map(({ username }) => username)
      expect(told.find(({ userId, data }) => userId === founder && data['league'] === id)?.body).not.toContain(shyName)
      await sql`update users set status = 'active' where id = ${cheat}`.execute(open().db)
      await sql`update users set status = 'frozen' where id = ${shy}`.execute(open().db)
      expect(await table(), 'final').toEqual(places.map(([rank, user]) => [rank, user, user === shy]))
    })

    it('[G3] those who are first together are not told that they have won', async () => {
      const { founder, id, code } = await founded()
      const other = await joined(code)
      ahead += HOUR_MS + 2 * MINUTE_MS
      const told = (await results().decide()).filter(({ data }) => data['league'] === id)
      expect(told.map(({ userId }) => userId).toSorted()).toEqual([founder, other].toSorted())
      for (const { title, body, data } of told) {
        expect(title).toBe('Friends: you are number 1 of 2')
        expect(body).toContain('2 members came first')
        expect(data).toMatchObject({ rank: 1, tied: 2 })
      }
    })

    it('[G3] is final once the league is over and nothing is open, decided by one process, and told once', async () => {
      const { founder, id, code } = await founded()
      const [winner, gone] = [await joined(code), await joined(code)]
      const match = await season.match()
      const position = await match.open(winner, { league: id })
      await leagues().leave(gone, id)
      const late = await season.player()
      ahead += HOUR_MS + 2 * MINUTE_MS
      expect(await leagues().join(late, code)).toEqual({ kind: 'over' })
      const isDecided = async () => present(await leagues().find(founder, id), 'league').decidedAt !== null
      await results().decide()
      expect(await isDecided(), 'while something is open').toBe(false)
      await match.close(position, 210)
      const told = (await Promise.all([results().decide(), results().decide()])).flat()
      expect(await isDecided()).toBe(true)
      const ours = told.filter(({ data }) => data['league'] === id)
      expect(Object.fromEntries(ours.map(({ userId, title }) => [userId, title]))).toEqual({
        [founder]: 'Friends: you are number 2 of 2',
        [winner]: 'Friends: you have won',
      })
      expect((await results().decide()).filter(({ data }) => data['league'] === id)).toEqual([])
      expect((await leagues().table(id)).map(({ rank, userId }) => [rank, userId])).toEqual([
        [1, winner],
        [2, founder],
      ])
      expect(await leagues().leave(winner, id), 'results stay').toBe(false)
      await isBalanced()
    })

    it('[Y3] names none of those who are erased while it is decided', async () => {
      if (open().kind !== 'postgres') return
      const { founder, id, code } = await founded({ name: 'Friends of Ann' })
      const [winner, other] = [await joined(code), await joined(code)]
      const { username } = present(await season.users.find(winner), 'user')
      const match = await season.match()
      await match.close(await match.open(winner, { league: id }), 210)
      await leagues().leave(founder, id)
      ahead += HOUR_MS + 2 * MINUTE_MS
      const { db } = open()
      let erased = 0
      const erasures: Promise<void>[] = []
      const follow = async () => {
        for (const user of [founder, winner])
          erasures.push(
            db
              .transaction()
              .execute((tx) => eraseFromLeagues(tx, user))
              .then(() => void erased++),
          )
        await vi.waitUntil(async () => {
          const { rows } = await sql`
            select from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%founder_id%'`.execute(db)
          return erased + rows.length === erasures.length
        })
      }
      await new LeagueResults(db, world, { ...PRIVATE, follow }).decide()
      await Promise.all(erasures)
      const told = await db
        .selectFrom('notifications')
        .select(['title', 'body', 'data'])
        .where('user_id', 'in', [winner, other])
        .execute()
      expect(told).toHaveLength(2)
      expect(JSON.stringify(told)).not.toContain('Friends of Ann')
      expect(JSON.stringify(told)).not.toContain(username)
    })
  })
})
