/** The table of a match. */
import { type Kysely, sql } from 'kysely'
import { expect, it } from 'vitest'
import { compareStandings, type PageStart, rankAll, rankKey } from '../../actors/community/ranking.ts'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, fixtureId, type FixtureId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { hideFromBoards } from '../../db/board-changes.ts'
import { Deletions } from '../../db/deletions.ts'
import { Departed } from '../../db/departed.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { PersonalKeys } from '../../db/personal-keys.ts'
import { UserList } from '../../db/user-list.ts'
import { matchBoard } from '../../src/features/match-board/index.ts'
import { MatchBoardKeeper, STEP } from '../../src/features/match-board/keeper.ts'
import { type Group, MatchBoards, type MatchTable } from '../../src/features/match-board/store.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { systemWorld } from '../../src/system-world.ts'
import { crowd, eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

/** Rows of one statement, which has ten seconds. */
const PORTION = 10_000

const EVERYBODY = { kind: 'everybody' } as const

/** Rows of places that this connection has read. */
async function rowsRead(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (idx_tup_fetch + seq_tup_read)::integer as read from pg_stat_xact_user_tables
     where relname = 'match_board_places'`.execute(db)
  return present(rows[0], 'statistics').read
}

eachDatabase((open) => {
  const rules = () => ({ roiFloor: money(0), ranksBots: false })
  const boards = () => new MatchBoards(open().db, rules)
  const keep = () => new MatchBoardKeeper(open().db, rules).run()
  const rig = seasonOn(open, systemWorld())
  const rerankers = matchBoard.rerank === undefined ? [] : [matchBoard.rerank]

  const table = (match: FixtureId, user: UserId, group: Group = EVERYBODY, limit = 100) =>
    boards().table({ match, user, group, limit, after: null })
  /** The places of all pages, one after the other. */
  const walked = async (match: FixtureId, user: UserId, group: Group, limit: number) => {
    const found = []
    let after: PageStart | null = null
    do {
      const { page, end }: MatchTable = await boards().table({ match, user, group, limit, after })
      expect(page.length).toBeLessThanOrEqual(limit)
      found.push(...page)
      after = end
    } while (after !== null)
    return found
  }
  const ranksOf = (rows: readonly { rank: number; standing: { userId: UserId } }[]) =>
    rows.map(({ rank, standing }) => [rank, standing.userId])

  it('[R27] ranks what was closed in the match as the board by ROI does, for random lives', async () => {
    const chance = chanceFrom(27)
    const match = await rig.match()
    const users = await Promise.all(Array.from({ length: 15 }, (_, n) => rig.user(`Table ${n}`)))
    for (let n = 0; n < 40; n++) {
      const user = present(chance.pick(users, () => 1) ?? undefined, 'a user')
      const position = await match.open(user, { lots: 1 + chance.below(3) })
      if (chance.happens(0.2)) continue
      const by = chance.pick(['user', 'washout', 'void'] as const, (one) => (one === 'user' ? 5 : 1)) ?? 'user'
      // The crowd has made another price of it than the match.
      await match.close(position, 190 + chance.below(20), by, 190 + chance.below(20))
      if (n % 20 === 0) await keep()
    }
    await Promise.all([keep(), keep()])
    await rig.reactor.drain()
    const standings = await rig.careers.standings(users, 'main')
    const known = standings.filter(({ closed }) => closed > 0).toSorted((a, b) => compareStandings('roi', a, b))
    const [one] = users
    const { page: top, total, isFinal } = await table(match.id, present(one, 'a user'))
    expect(ranksOf(top)).toEqual(ranksOf(rankAll('roi', known)))
    expect(total).toBe(known.length)
    expect(top.map(({ standing }) => standing)).toEqual(known.map((standing) => ({ ...standing, version: 0 })))
    expect(isFinal).toBe(false)
    for (const group of [EVERYBODY, { kind: 'users', users }] as const)
      for (const limit of [1, 3, known.length, known.length + 1])
        expect(ranksOf(await walked(match.id, present(one, 'a user'), group, limit))).toEqual(ranksOf(top))
    await match.settle()
    await keep()
    expect(await table(match.id, present(one, 'a user'))).toMatchObject({ isFinal: true, total: known.length })
  })

  it('[R27] ranks all by one floor, also when that changes while the match is played', async () => {
    let floor = money(10_000_000_000)
    const keeper = new MatchBoardKeeper(open().db, () => ({ ...rules(), roiFloor: floor }))
    const match = await rig.match()
    const users = [await rig.player(), await rig.player(), await rig.player()] as const
    const [ada, bob, cyd] = users
    await match.close(await match.open(ada, { lots: 10 }), 210, 'user', 210)
    await match.close(await match.open(cyd, { lots: 2 }), 200, 'user', 200)
    await match.close(await match.open(cyd, { lots: 1 }), 199, 'user', 199)
    await keeper.run()
    floor = money(0)
    await match.close(await match.open(bob, { lots: 1 }), 205, 'user', 205)
    await match.settle()
    await keeper.run()
    await rig.reactor.drain()
    const standings = await rig.careers.standings(users, 'main')
    const known = standings.toSorted((a, b) => compareStandings('roi', a, b)).map((one) => ({ ...one, version: 0 }))
    const { page } = await table(match.id, ada)
    expect(page.map(({ standing }) => standing)).toEqual(known)
    const { rows } = await sql<{ key: unknown }>`
      select p.key::text[] as key from match_board_places p where match_id = ${match.id}::bigint order by p.key`.execute(
      open().db,
    )
    expect(rows.map(({ key }) => key)).toEqual(known.map((standing) => rankKey('roi', standing).map(String)))
  })

  it('[R27] counts the match alone, in its own purse', async () => {
    const [ada, bob] = [await rig.user('Ada'), await rig.user('Bob')]
    const [match, practice] = [await rig.match(), await rig.match({ purse: 'practice' })]
    await match.close(await match.open(ada), 210)
    await practice.close(await practice.open(ada), 190)
    await practice.close(await practice.open(bob), 200)
    await keep()
    expect(ranksOf((await table(match.id, ada)).page)).toEqual([[1, ada]])
    expect(ranksOf((await table(practice.id, ada)).page)).toEqual([
      [1, bob],
      [2, ada],
    ])
    const none = await table(match.id, bob)
    expect([none.me, none.around]).toEqual([null, []])
  })

  it('[R27] ranks a district and friends among themselves; hidden users are in no table', async () => {
    const [ada, bob, cyd, dan] = (await Promise.all(['Ada T', 'Bob T', 'Cyd T', 'Dan T'].map((n) => rig.user(n)))) as [
      UserId,
      UserId,
      UserId,
      UserId,
    ]
    await sql`update users set district_id = 2 where id = ${bob}::uuid or id = ${dan}::uuid`.execute(open().db)
    const match = await rig.match()
    for (const [user, at] of [
      [ada, 204],
      [bob, 203],
      [cyd, 202],
      [dan, 201],
    ] as const) {
      await match.close(await match.open(user), at)
    }
    await keep()
    const district: Group = { kind: 'district', districtId: districtId(2) }
    expect(ranksOf((await table(match.id, dan, district)).around)).toEqual([
      [1, bob],
      [2, dan],
    ])
    const friends: Group = { kind: 'users', users: [ada, dan] }
    expect(await table(match.id, dan, friends)).toMatchObject({ total: 2, me: { rank: 2 } })
    await sql`update users set hidden_from_boards = true where id = ${bob}::uuid`.execute(open().db)
    expect(ranksOf((await table(match.id, cyd)).page)).toEqual([
      [1, ada],
      [3, cyd],
      [4, dan],
    ])
    expect((await table(match.id, bob)).me).toBeNull()
    await open()
      .db.transaction()
      .execute(async (tx) => matchBoard.erase?.(tx, ada))
    expect(ranksOf((await table(match.id, dan)).page)).toEqual([
      [2, cyd],
      [3, dan],
    ])
    // The next close counts the places again.
    await sql`update match_boards set stepped_at = '-infinity'`.execute(open().db)
    await match.close(await match.open(dan), 200)
    await keep()
    expect(await table(match.id, dan)).toMatchObject({ total: 2, me: { rank: 2 } })
  })

  it('[R27] ranks again after a step by a clock that was ahead, not after one of just now', async () => {
    const [ada, bob] = [await rig.player(), await rig.player()]
    const match = await rig.match()
    const isRankedAfter = async (step: string) => {
      await match.close(await match.open(bob), 201)
      await sql`update match_boards set stepped_at = clock_timestamp() + ${step}::interval
                 where match_id = ${match.id}::bigint`.execute(open().db)
      await keep()
      const { rows } = await sql<{ is_stepped: boolean }>`
        select is_stepped from match_boards where match_id = ${match.id}::bigint`.execute(open().db)
      return rows[0]?.is_stepped
    }
    await match.close(await match.open(ada), 202)
    await keep()
    expect([await isRankedAfter('0 hours'), await isRankedAfter('1 hour')]).toEqual([false, true])
  })

  it('[R27] ranks again when a user is frozen, and when they are active again, also after full time', async () => {
    const [ada, bob, cyd] = [await rig.player(), await rig.player(), await rig.player()]
    const match = await rig.match()
    for (const [n, user] of [ada, bob, cyd].entries()) await match.close(await match.open(user), 203 - n)
    await match.settle()
    await keep()
    const world = systemWorld()
    const list = new UserList(open().db, new AuditLog(open().db, world), world, { rerankers })
    const set = async (status: 'active' | 'frozen') => {
      await list.setStatus({ id: ada, status, reason: 'a test', by: cyd })
      expect((await table(match.id, bob)).isFinal).toBe(false)
      await sql`update match_boards set stepped_at = '-infinity'`.execute(open().db)
      await keep()
      const { page, total, isFinal } = await table(match.id, bob)
      return { ranks: ranksOf(page), total, isFinal }
    }
    const without = [
      [1, bob],
      [2, cyd],
    ]
    expect(await set('frozen')).toEqual({ ranks: without, total: 2, isFinal: true })
    expect(await set('active')).toMatchObject({ ranks: [[1, ada], expect.anything(), [3, cyd]], total: 3 })
  })

  it('[R27] ranks again when a user hides, wishes to leave, and comes back, also after full time', async () => {
    const [ada, bob] = [await rig.player(), await rig.player()]
    const match = await rig.match()
    const world = systemWorld()
    const { db } = open()
    const deletions = new Deletions({
      db,
      world,
      audit: new AuditLog(db, world),
      departed: new Departed('a secret'),
      ended: { add: async () => {} },
      graceDays: () => 7,
      erasers: [],
      rerankers,
    })
    const ranks = async () => {
      await sql`update match_boards set stepped_at = '-infinity'`.execute(db)
      await keep()
      return ranksOf((await table(match.id, bob)).page)
    }
    const both = [
      [1, ada],
      [2, bob],
    ]
    await hideFromBoards(db, ada, true, rerankers)
    for (const [n, user] of [ada, bob].entries()) await match.close(await match.open(user), 203 - n)
    await match.settle()
    expect(await ranks()).toEqual([[1, bob]])
    await hideFromBoards(db, ada, false, rerankers)
    expect(await ranks()).toEqual(both)
    await deletions.request(ada)
    expect(await ranks()).toEqual([[1, bob]])
    await deletions.cancel(ada)
    expect(await ranks()).toEqual(both)
  })

  it('[R27] ranks again when a user becomes a bot, also after full time', async () => {
    const [bot, bob] = [await rig.player(), await rig.player()]
    const match = await rig.match()
    for (const [n, user] of [bot, bob].entries()) await match.close(await match.open(user), 203 - n)
    await match.settle()
    await keep()
    const { db } = open()
    const world = systemWorld()
    const ended = { add: async () => undefined }
    await new PersonalKeys({ db, world, audit: new AuditLog(db, world), ended, rerankers }).markBot(bot)
    await sql`update match_boards set stepped_at = '-infinity'`.execute(db)
    await keep()
    const { page, total, isFinal } = await table(match.id, bob)
    expect({ ranks: ranksOf(page), total, isFinal }).toEqual({ ranks: [[1, bob]], total: 1, isFinal: true })
  })

  it('[R27] a table that says that it is final has every close', async () => {
    const user = await rig.player()
    const friends: Group = { kind: 'users', users: [user] }
    for (let n = 0; n < 40; n++) {
      const match = await rig.match()
      await match.close(await match.open(user), 201)
      await match.settle()
      let isFinal = false
      const read = async () => {
        while (!isFinal) {
          const found = await table(match.id, user, friends)
          if (found.isFinal) expect(found.total).toBe(1)
          isFinal ||= found.isFinal
        }
      }
      await Promise.all([keep(), read(), read(), read()])
    }
  })

  it('[R27] the table of a match that was void is not final while the match is played again', async () => {
    const [ada, bob] = [await rig.player(), await rig.player()]
    const match = await rig.match()
    const finals = () =>
      Promise.all([table(match.id, ada), table(match.id, ada, { kind: 'users', users: [ada] })]).then((tables) =>
        tables.map(({ isFinal }) => isFinal),
      )
    await match.close(await match.open(ada), 200, 'void')
    await match.settle()
    await keep()
    expect(await finals()).toEqual([true, true])
    await match.playAgain()
    expect(await finals()).toEqual([false, false])
    await match.close(await match.open(bob), 210)
    await keep()
    expect(await finals()).toEqual([false, false])
    await match.settle()
    expect(await finals(), 'its end is not counted yet').toEqual([false, false])
    await keep()
    expect(await finals()).toEqual([true, true])
  })

  it('[R27] ranks the members of a league that has not ended, while they are in it', async () => {
    const [ada, bob, cyd] = (await Promise.all(['Ada L', 'Bob L', 'Cyd L'].map((n) => rig.user(n)))) as [
      UserId,
      UserId,
      UserId,
    ]
    const world = systemWorld()
    const leagues = new Leagues(open().db, world, open().db)
    const [now, endsAt] = [world.now(), instant(world.now() + 60_000)]
    expect(await boards().leagueMates(ada, now)).toEqual([ada])
    const terms = { name: 'Harbour', startsAt: now, endsAt, matches: 'all', startingBalance: money(1_000_000) } as const
    const founded = await leagues.found(ada, terms)
    if (founded.kind !== 'joined') throw new Error(founded.kind)
    const { code } = await open()
      .db.selectFrom('leagues')
      .select('code')
      .where('id', '=', founded.league)
      .executeTakeFirstOrThrow()
    await leagues.join(bob, code)
    expect(new Set(await boards().leagueMates(bob, now))).toEqual(new Set([ada, bob]))
    expect(await boards().leagueMates(cyd, now)).toEqual([cyd])
    expect(await boards().leagueMates(bob, endsAt)).toEqual([bob])
    await leagues.leave(ada, founded.league)
    expect(await boards().leagueMates(bob, now)).toEqual([bob])
    expect(await boards().leagueMates(ada, now)).toEqual([ada])
  })

  it('[R28] a place among 100,000 is found by counting 64 at most, the rank of equals by the first of them', async () => {
    const { db } = open()
    const count = crowd(open(), 100_000)
    const match = fixtureId(28)
    for (let from = 1; from <= count; from += PORTION) {
      await sql`
        with made as (
          insert into users (id, email, name, username, first_name, district_id, referral_code, synthetic, created_at)
            select gen_random_uuid(), 'c' || n || '@synthetic.invalid', '', 'c' || n, '', 1, 'c' || n, true, now()
              from generate_series(${from}::integer, ${from + PORTION - 1}::integer) n returning id, substr(username, 2)::bigint as n)
        insert into match_board_places (user_id, match_id, district_id, closed, wins, pnl_micros, base_moves_micros,
                                        margin_micros, stake_micros, first_trade_at, key, shown)
          select id, ${match}::bigint, 1, 1, 0, -(n / 2), -(n / 2), 1000000, 1000000, to_timestamp(0),
                 array[n / 2, 0, n / 2, 0], true from made`.execute(db)
    }
    await sql`insert into match_boards (match_id, is_stepped) values (${match}::bigint, false)`.execute(db)
    await keep()
    await sql`analyze match_board_places`.execute(db)
    const { rows } = await sql<{ user_id: string }>`
      select p.user_id from match_board_places p where p.match_id = ${match}::bigint
       order by p.key, p.user_id`.execute(db)
    const [first] = rows
    const reader = userId(present(first, 'a place').user_id)
    for (const group of [EVERYBODY, { kind: 'district', districtId: districtId(1) }] as const) {
      const found = await walked(match, reader, group, 7_000)
      expect(found.map(({ standing }) => standing.userId)).toEqual(rows.map((row) => row.user_id))
      // All but the first have an equal.
      const ranks = rows.map((_, place) => Math.max(0, place - ((place + 1) % 2)) + 1)
      expect(found.map(({ rank }) => rank)).toEqual(ranks)
    }
    for (const place of [0, 1, STEP - 1, STEP, STEP + 1, 2_500, count / 2, count - 1]) {
      const { user_id: id = '' } = rows[place] ?? {}
      const { me, around, total } = await table(match, userId(id), EVERYBODY, 10)
      const pair = place - ((place + 1) % 2)
      expect([total, me?.rank], `place ${place}`).toEqual([count, Math.max(0, pair) + 1])
      expect(around.map(({ standing }) => standing.userId)).toEqual(
        rows.slice(Math.max(0, place - 2), place + 3).map((row) => row.user_id),
      )
      for (const group of [EVERYBODY, { kind: 'district', districtId: districtId(1) }] as const) {
        const seen = await db.transaction().execute(async (tx) => {
          const before = await rowsRead(tx)
          await new MatchBoards(tx, rules).table({ match, group, user: userId(id), limit: 10, after: null })
          return (await rowsRead(tx)) - before
        })
        expect(seen, `place ${place}`).toBeGreaterThan(10)
        // The total, those ahead, and those better than their equals.
        expect(seen, `place ${place}`).toBeLessThanOrEqual(3 * STEP + 20)
      }
    }
  })
})
