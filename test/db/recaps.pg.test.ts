import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { recapOf } from '../../src/features/recaps/recap.ts'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import type { Purse } from '../../actors/kernel/purse.ts'
import { HOUR_MS, instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { Recaps } from '../../src/features/recaps/store.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { p, u } from '../support/fixtures.ts'
import { insertTick } from '../support/rows.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const real = systemWorld()
  let ahead = 0
  const world = { ...real, now: () => instant(real.now() + ahead) }
  const rig = seasonOn(open, world)
  const recaps = () => new Recaps(open(), world, () => ({ roiFloor: money(0), ranksBots: false }))
  const worth = async (user: UserId, purse: Purse = 'main') => {
    const wallet = present((await rig.wallets.find(user, purse)) ?? undefined, 'wallet')
    return wallet.balance + wallet.marginUsed
  }
  const stretch = (match: FixtureId | null, purse: Purse = 'main') => ({
    purse,
    match,
    from: instant(world.now() - HOUR_MS),
    to: instant(world.now() + 1),
  })
  const closesOf = async (user: UserId, match: FixtureId | null, purse: Purse = 'main') =>
    present((await recaps().closes(user, stretch(match, purse))) ?? undefined, 'a wallet')

  const hide = (user: UserId, hidden: boolean) =>
    open().db.updateTable('users').set({ hidden_from_boards: hidden }).where('id', '=', user).execute()

  it('[R23] marks are the last prices of each part of the time a position was open', async () => {
    const match = await rig.match()
    const user = await rig.user('Marks')
    await match.close(await match.open(user, { lots: 1, direction: 'long' }), 210, 'user')
    const { closes } = await closesOf(user, match.id)
    const [one] = closes
    const { openedAt, instrumentId } = present(one, 'the close')
    const long = {
      ...present(one, 'the close'),
      close: { ...present(one, 'the close').close, at: instant(openedAt + 120_000) },
    }
    for (const [after, units] of [
      [100, 201],
      [900, 202],
      [60_500, 203],
    ] as const) {
      await insertTick(open().db, { instrument_id: instrumentId, at: openedAt + after, price_micros: p(units) })
    }
    const marks = (await recaps().marks([long], 'main')).filter(({ at }) => at > openedAt)
    expect(marks.map(({ at, price }) => [at - openedAt, price]).slice(-2)).toEqual([
      [1_000, p(202)],
      [61_000, p(203)],
    ])
    expect(await recaps().marks([], 'main')).toEqual([])
  })

  it('[R23] adds up to what the ledger has booked, for random lives', async () => {
    const chance = chanceFrom(23)
    const [one, other] = [await rig.match(), await rig.match()]
    const users = await Promise.all(Array.from({ length: 12 }, (_, n) => rig.user(`Life ${n}`)))
    for (let n = 0; n < 120; n++) {
      const user = present(chance.pick(users, () => 1) ?? undefined, 'a user')
      const match = chance.happens(0.6) ? one : other
      const position = await match.open(user, {
        lots: 1 + chance.below(3),
        direction: chance.happens(0.5) ? 'long' : 'short',
      })
      if (chance.happens(0.9))
        await match.close(position, 185 + chance.below(30), chance.happens(0.1) ? 'washout' : 'user')
      if (n === 60) ahead += MINUTE_MS
    }
    for (const user of users) {
      for (const match of [one.id, null]) {
        const { start, closes } = await closesOf(user, match)
        const { rows } = await sql<{ booked: number }>`
          select coalesce(sum(e.amount_micros), 0)::bigint as booked from ledger_entries e
            join positions p on p.id = e.reference
           where e.user_id = ${user}::uuid and e.account = 'user' and p.closed_at is not null
             and (${match}::bigint is null or p.match_id = ${match}::bigint)`.execute(open().db)
        const recap = recapOf(start, closes)
        expect(recap.result).toBe(rows[0]?.booked)
        if (match === null) expect(recap.start + recap.result).toBe(await worth(user))
      }
    }
  })

  it('[R23] begins with what the purse was worth, whatever it was given since', async () => {
    const user = await rig.user('Gifted')
    const match = await rig.match()
    await match.close(await match.open(user), 210)
    ahead += MINUTE_MS
    const later = await rig.match()
    await later.close(await later.open(user), 190)
    await sql`
      with given as (insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
        values (gen_random_uuid(), 'user', ${user}::uuid, 'main', 7000000, 'refill', gen_random_uuid(), now() + interval '1 day'))
      update wallets set balance_micros = balance_micros + 7000000, version = version + 1
       where user_id = ${user}::uuid and purse = 'main'`.execute(open().db)
    expect(await closesOf(user, later.id)).toMatchObject({ start: u(10_050) })
    expect(await closesOf(user, match.id)).toMatchObject({ start: u(10_000) })
    expect((await closesOf(user, null)).closes).toHaveLength(2)
    const nothing = await rig.match()
    expect(await closesOf(user, nothing.id)).toMatchObject({ closes: [] })
    expect(await recaps().closes(user, { ...stretch(null), purse: 'practice' }), 'practice is its own').toMatchObject({
      closes: [],
    })
  })

  it('[R23] begins with what the purse was worth, whatever the house bore of a void since', async () => {
    const user = await rig.user('Emptied')
    const match = await rig.match()
    const won = await match.open(user, { lots: 10 })
    await match.close(won, 220)
    await match.close(await match.open(user, { lots: 100 }), 180)
    expect(await worth(user)).toBe(u(1_000))
    await match.close(await match.open(user, { lots: 10 }), 182)
    const store = new PositionVoids(open().db, rig.cache, world)
    const reason = 'seen beside the pitch'
    await store.begin({ positionId: won.id, commandId: null, by: await rig.user('Voider'), reason })
    expect(await store.rebook(won.id)).toBe(true)
    expect(await store.done(won.id)).toMatchObject({ pnl: u(1_000), shortfall: u(900) })
    for (const about of [match.id, null]) {
      const { start, closes } = await closesOf(user, about)
      expect(recapOf(start, closes)).toMatchObject({ start: u(10_000), result: -u(10_900) })
    }
  })

  it('[R23] finds old closes behind thousands of newer ones', async () => {
    const user = await rig.user('Busy')
    const first = await rig.match()
    await first.close(await first.open(user), 202)
    const later = await rig.match()
    for (let n = 0; n < 13; n++) {
      const batch = Array.from({ length: 40 }, () => later.position(user, { lots: 0.01 }))
      await later.commit(batch.map((position) => ({ kind: 'position_opened', position })))
      await later.commit(batch.map((position) => later.closed(position, 201)))
    }
    expect((await closesOf(user, first.id)).closes).toHaveLength(1)
    expect((await closesOf(user, later.id)).closes).toHaveLength(520)
    expect((await closesOf(user, later.id)).start).toBe(u(10_010))
  })

  it('[R23] reads 20,000 positions at most', async ({ skip }) => {
    // The embedded database takes as long for these rows as for all the rest of the file.
    skip(open().kind !== 'postgres')
    const user = await rig.user('Machine')
    const match = await rig.match()
    await match.close(await match.open(user), 202)
    const { closes, since } = await closesOf(user, match.id)
    expect(closes).toHaveLength(1)
    const { instrumentId: id } = present(closes[0], 'a close')
    const add = (from: number, to: number) =>
      sql`
      with made as (
        insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                               margin_micros, opened_at, closable_at, opened_marker)
          select gen_random_uuid(), ${user}::uuid, 'main', 1, ${id}::uuid, 1, 10000, 200000000, 200000000, 0,
                 ${new Date(since)}::timestamptz, now(), n
            from generate_series(${from}::bigint, ${to}::bigint) n returning id, opened_marker)
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
        select id, 'user', ${user}::uuid, 'main', 0, 'margin', id, ${new Date(since)}::timestamptz, opened_marker
          from made`.execute(open().db)
    await add(3, 20_000)
    expect((await closesOf(user, match.id)).closes, 'behind 19,998 newer ones').toHaveLength(1)
    await add(20_001, 20_002)
    expect(await recaps().closes(user, stretch(match.id))).toBeNull()
  })

  it('[R23] ranks are those of the board without the match and with it', async () => {
    const names = ['Ada', 'Bob', 'Cyd', 'Dan']
    const [ada, bob, cyd, dan] = (await Promise.all(names.map((name) => rig.user(name)))) as [
      UserId,
      UserId,
      UserId,
      UserId,
    ]
    await sql`update users set hidden_from_boards = true where id <> all (${`{${[ada, bob, cyd, dan].join(',')}}`}::uuid[])`.execute(
      open().db,
    )
    const [before, match] = [await rig.match(), await rig.match()]
    await before.close(await before.open(ada), 220)
    await before.close(await before.open(bob), 210)
    await before.close(await before.open(cyd), 205)
    const lost = await match.open(ada)
    await match.close(lost, 190)
    // Opened under a key: such an id is a digest, and says nothing of its time.
    const keyed = { ...match.position(cyd), id: positionId(commandId(cyd, 'open', 'a key')) }
    await match.commit([{ kind: 'position_opened', position: keyed }])
    await match.close(keyed, 240)
    await match.close(await match.open(dan), 230)
    await match.settle()
    expect(await recaps().rank(ada, stretch(match.id)), 'too early').toBeNull()
    ahead += 3 * MINUTE_MS
    expect(await recaps().rankMatches(), 'careers have not counted it').toBe(0)
    await rig.reactor.drain()
    expect((await Promise.all([recaps().rankMatches(), recaps().rankMatches()])).reduce((a, b) => a + b)).toBe(1)
    const board = [...(await rig.careers.standings([ada, bob, cyd, dan], 'main'))]
    expect(board).toHaveLength(4)
    const rank = (user: UserId) => recaps().rank(user, stretch(match.id))
    expect(await rank(ada)).toEqual({ before: 1, after: 4, passed: [] })
    expect(await rank(cyd), 'Bob has not played').toEqual({ before: 3, after: 2, passed: [ada] })
    expect(await rank(dan), 'was on no board before').toEqual({ before: null, after: 1, passed: [] })
    expect(await rank(bob), 'has not played').toBeNull()
    expect(await recaps().rank(ada, stretch(null)), 'the week').toEqual({ before: 1, after: 4, passed: [] })
    expect(await recaps().rankMatches(), 'once').toBe(0)
    await hide(ada, true)
    expect((await rank(cyd))?.passed, '[Y6] Ada has hidden since').toEqual([])
    await hide(ada, false)

    await sql`insert into position_voids (position_id, by_id, reason, at, pnl_micros)
      values (${lost.id}::uuid, ${bob}::uuid, 'A wrong price', ${new Date(world.now())}::timestamptz, -50000000)`.execute(
      open().db,
    )
    expect(await rank(ada), '[R14] an operator began to void it, and failed').not.toBeNull()
    await sql`update positions set closed_by = 'void', void_reason = 'operator', void_note = 'A wrong price', pnl_micros = 0
       where id = ${lost.id}::uuid`.execute(open().db)
    expect(await rank(ada), '[R14] counts what is void').toBeNull()
    expect((await rank(cyd))?.passed, 'and so does a place that was passed').toEqual([])
  })

  it('[R23] a match that was void is ranked again when it has been played again', async () => {
    const [ada, bob] = [await rig.user('Again Ada'), await rig.user('Again Bob')]
    const others = `{${[ada, bob].join(',')}}`
    await sql`update users set hidden_from_boards = true where id <> all (${others}::uuid[])`.execute(open().db)
    const match = await rig.match()
    const ranked = async () => {
      await match.settle()
      await rig.reactor.drain()
      ahead += 3 * MINUTE_MS
      await recaps().rankMatches()
      return Promise.all([ada, bob].map((user) => recaps().rank(user, stretch(match.id))))
    }
    await match.close(await match.open(ada), 210)
    await match.close(await match.open(bob), 200, 'void')
    expect(await ranked()).toEqual([{ before: null, after: 1, passed: [] }, null])
    await match.playAgain()
    await recaps().rankMatches()
    await match.close(await match.open(bob), 230)
    expect(await ranked()).toMatchObject([{ after: 2 }, { before: null, after: 1 }])
  })

  it('matches are ranked by one process at a time, for which no timeout of a statement counts', async () => {
    let patient = 0
    const connection: Pick<Connection, 'db' | 'withoutTimeout'> = {
      db: open().db,
      withoutTimeout: (work) => (patient++, open().withoutTimeout(work)),
    }
    const store = new Recaps(connection, world, () => ({ roiFloor: money(0), ranksBots: false }))
    expect([await store.rankMatches(), patient], 'nothing to rank takes no connection').toEqual([0, 0])
    const match = await rig.match()
    await match.close(await match.open(await rig.player()), 210)
    await match.settle()
    await rig.reactor.drain()
    ahead += 3 * MINUTE_MS
    const whileAnotherRanks = () =>
      open().withoutTimeout((db) =>
        db.transaction().execute(async (tx) => {
          await sql`select pg_advisory_xact_lock(hashtextextended('touchline match ranks', 0))`.execute(tx)
          return store.rankMatches()
        }),
      )
    // PGlite has one connection.
    expect(open().kind === 'postgres' ? await whileAnotherRanks() : 0).toBe(0)
    const tried = patient
    expect([await store.rankMatches(), patient - tried]).toEqual([1, 1])
  })

  it('[R23] in a league the rank is that among its members', async () => {
    const leagues = new Leagues(open().db, world)
    const [founder, friend] = [await rig.user('Founder'), await rig.user('Friend')]
    const made = await leagues.found(founder, {
      name: 'Friends',
      startsAt: instant(world.now() - 1),
      endsAt: instant(world.now() + HOUR_MS),
      startingBalance: money(u(1_000)),
      matches: 'all',
    })
    if (made.kind !== 'joined') throw new Error(made.kind)
    const { league } = made
    await leagues.join(friend, present((await leagues.find(founder, league)) ?? undefined, 'league').code)
    const [one, two] = [await rig.match(), await rig.match()]
    await one.close(await one.open(founder, { league }), 210)
    ahead += MINUTE_MS
    await two.close(await two.open(friend, { league }), 230)
    expect(await recaps().rank(founder, stretch(two.id, league))).toEqual({ before: 1, after: 2, passed: [] })
    expect(await recaps().rank(friend, stretch(two.id, league))).toEqual({ before: 2, after: 1, passed: [founder] })
    await hide(founder, true)
    expect(await recaps().rank(friend, stretch(two.id, league))).toEqual({ before: 2, after: 1, passed: [] })
    expect(await closesOf(friend, two.id, league)).toMatchObject({ start: u(1_000) })
    expect(await worth(founder), 'main is untouched').toBe(u(10_000))
    await hide(founder, false)
    await open().db.updateTable('users').set({ status: 'frozen' }).where('id', '=', founder).execute()
    expect(await recaps().rank(friend, stretch(two.id, league)), 'frozen users come last').toMatchObject({ before: 1 })
    expect(await recaps().rank(founder, stretch(two.id, league))).toMatchObject({ before: 2, after: 2 })
  })
})
