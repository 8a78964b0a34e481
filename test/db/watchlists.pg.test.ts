/** Followed players and price alerts. */
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { fixtureId, type InstrumentId, playerId, type UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { Notification } from '../../db/announcements.ts'
import { Fixtures } from '../../db/fixtures.ts'
import { UserGone } from '../../db/lock-user.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { Pushes } from '../../src/features/push/store.ts'
import { Moves } from '../../src/features/watchlist/moves.ts'
import { Watchlists } from '../../src/features/watchlist/store.ts'
import { Teller } from '../../src/features/watchlist/teller.ts'
import { systemWorld } from '../../src/system-world.ts'
import { crowd, eachDatabase } from '../support/databases.ts'
import { GOAL, info, instrument as instrumentNo, p, player } from '../support/fixtures.ts'
import { type Fixture, seasonOn } from '../support/season.ts'

const GOAL_ROW = { ...GOAL, retracted: false }

eachDatabase((open) => {
  const real = systemWorld()
  let ahead = 0
  const world = { ...real, now: () => instant(real.now() + ahead) }
  const rig = seasonOn(open, world)
  let told: Notification[] = []
  const watchlists = () => new Watchlists(open().db, world)
  const teller = () =>
    new Teller(
      open().db,
      world,
      (notifications) => told.push(...notifications),
      () => Promise.resolve(),
    )
  const titles = () => told.map(({ userId, title }) => [userId, title])

  /** A match with one player, and what its feed says next. */
  async function matchOf(user: UserId) {
    const match = await rig.match()
    const { instrumentId } = match.position(user)
    let feedSeq = 1
    const says = (over: Partial<MatchInfo>) => {
      const squad = [player(1, { playerId: playerId(1), instrumentId, name: 'A. Striker' })]
      const next = info({ matchId: match.id, squad, feedSeq: ++feedSeq, ...over })
      return match.commit([{ kind: 'match_updated', info: next, pricing: EMPTY_PRICING }])
    }
    return { match, instrumentId, says }
  }

  const priced = (match: Fixture, instrument: InstrumentId, units: number) =>
    sql`update instruments set price_micros = ${p(units)}::bigint
         where id = ${instrument}::uuid and match_id = ${match.id}::bigint`.execute(open().db)

  beforeEach(() => {
    told = []
  })

  it('[Y3] an erased user, whose request was on its way, changes nothing any more', async () => {
    const ada = await rig.user('Gone')
    const { instrumentId } = await matchOf(ada)
    const { db } = open()
    await db
      .updateTable('users')
      .set({ erased_at: new Date(world.now()) })
      .where('id', '=', ada)
      .execute()
    const leagues = new Leagues(db, world, db)
    const [startsAt, endsAt] = [world.now(), instant(world.now() + 86_400_000)]
    const league = { name: 'Late', startsAt, endsAt, matches: 'all', startingBalance: money(1_000_000_000) } as const
    const pushes = new Pushes(db, world)
    for (const change of [
      () => watchlists().follow(ada, instrumentId),
      () => watchlists().choose(ada, []),
      () => leagues.found(ada, league),
      () => pushes.subscribe(ada, { endpoint: 'https://push.example/1', p256dh: 'x', auth: 'x' }, []),
    ]) {
      await expect(change()).rejects.toThrow(UserGone)
    }
  })

  it('[R29] followers are told once of what happens from then on, and nobody else is', async () => {
    const [ada, bob] = [await rig.user('Ada'), await rig.user('Bob')]
    const { instrumentId, says } = await matchOf(ada)
    await watchlists().follow(ada, instrumentId)
    await says({ events: [GOAL_ROW] })
    await teller().run()
    expect(titles(), 'it had happened before').toEqual([])
    const second = { ...GOAL_ROW, id: 2, minute: 70 }
    await says({ events: [GOAL_ROW, second], home: { id: 1, name: 'Harbour', goals: 2 } })
    await Promise.all([teller().run(), teller().run()])
    await teller().run()
    expect(titles()).toEqual([[ada, 'Goal: A. Striker']])
    expect(told[0]).toMatchObject({
      type: 'player_news',
      body: 'Harbour 2–0 Mill, 70′.',
      data: { what: 'goal', instrumentId, minute: 70, others: 0 },
    })
    ahead += 1_000
    await watchlists().follow(bob, instrumentId)
    // Taken back; the next one is another.
    await says({ events: [GOAL_ROW, { ...second, retracted: true }] })
    await teller().run()
    await says({ events: [GOAL_ROW, { ...second, retracted: true }, { ...second, id: 3, minute: 80 }] })
    ahead += 1_000
    await teller().run()
    expect(
      new Set(
        titles()
          .slice(1)
          .map(([user]) => user),
      ),
    ).toEqual(new Set([ada, bob]))
    expect(told).toHaveLength(3)
    await watchlists().unfollow(ada, instrumentId)
    await watchlists().unfollow(bob, instrumentId)
    await says({ events: [] })
    await teller().run()
    expect(told).toHaveLength(3)
  })

  it('[R29] what cannot be read holds up the news of no other match, and none for more than an hour', async () => {
    const { db } = open()
    const ada = await rig.user('Ada U')
    const [broken, other] = [await matchOf(ada), await matchOf(ada)]
    for (const { instrumentId, says } of [broken, other]) {
      await watchlists().follow(ada, instrumentId)
      await says({})
    }
    await teller().run()
    await sql`insert into watchlist_news (match_id, at, news)
      values (${broken.match.id}::bigint, ${new Date(world.now() - 3_600_000)}::timestamptz, '{}')`.execute(db)
    await sql`update watchlist_matches set seen = '{"goal:1":"x"}'
               where match_id = ${broken.match.id}::bigint`.execute(db)
    ahead += 1
    for (const { says } of [broken, other]) await says({ events: [GOAL_ROW] })
    await expect(teller().run()).rejects.toThrow(`match ${broken.match.id}: seen`)
    expect(told.map(({ data }) => data['instrumentId'])).toEqual([other.instrumentId])
    await broken.match.settle()
    await other.match.settle()
    ahead += 60_001
    await teller().run()
  })

  it('[R29] tells of kick-offs, cards and substitutions, of one kind only if it is wanted', async () => {
    const [ada, bob] = [await rig.user('Ada C'), await rig.user('Bob C')]
    const { instrumentId, says } = await matchOf(ada)
    for (const user of [ada, bob]) await watchlists().follow(user, instrumentId)
    await watchlists().choose(bob, ['card'])
    expect((await watchlists().list(bob)).kinds).toEqual(['card'])
    ahead += 1_000
    const kickedOffAt = world.now()
    await says({ kickedOffAt, onPitch: [] })
    await teller().run()
    expect(titles()).toEqual([[ada, 'Kick-off: A. Striker is on the bench']])
    const on = { ...GOAL_ROW, id: 5, kind: 'substitution', relatedPlayerId: playerId(99) } as const
    const red = { ...GOAL_ROW, id: 6, kind: 'red' } as const
    await says({ kickedOffAt, events: [on, red] })
    await teller().run()
    expect(
      titles()
        .slice(1)
        .toSorted((a, b) => Number(b[0] === ada) - Number(a[0] === ada)),
      'what happens at once is one notice, of the gravest',
    ).toEqual([
      [ada, 'Sent off: A. Striker'],
      [bob, 'Sent off: A. Striker'],
    ])
    await watchlists().choose(bob, [])
    await says({ kickedOffAt, events: [on, red, { ...red, id: 7, kind: 'yellow' }] })
    await teller().run()
    expect(titles().slice(3)).toEqual([[ada, 'Yellow card: A. Striker']])
  })

  it('[R29] tells of a line-up once both are complete, and of one change', async () => {
    const ada = await rig.user('Ada N')
    const { instrumentId, says } = await matchOf(ada)
    await watchlists().follow(ada, instrumentId)
    const named = (starter: boolean, side: 'home' | 'away' = 'away') => ({
      phase: 'scheduled' as const,
      squad: [
        player(1, { playerId: playerId(1), instrumentId, name: 'A. Striker', starter }),
        ...Array.from({ length: 11 }, (_, n) => player(100 + n, { side: 'home' })),
        ...Array.from({ length: 11 }, (_, n) => player(200 + n, { side })),
      ],
    })
    const hears = async (over: ReturnType<typeof named> | { phase: 'scheduled'; squad: [] }) => {
      told = []
      ahead += 1_000
      await says(over)
      await Promise.all([teller().run(), teller().run()])
      return told.map(({ title }) => title)
    }
    expect(await hears({ phase: 'scheduled', squad: [] })).toEqual([])
    expect(await hears(named(true, 'home')), 'one team alone').toEqual([])
    expect(await hears(named(true))).toEqual(['Line-up: A. Striker starts'])
    expect(await hears({ phase: 'scheduled', squad: [] })).toEqual([])
    expect(await hears(named(true)), 'known again').toEqual([])
    expect(await hears(named(false))).toEqual(['Line-up: A. Striker is on the bench'])
    expect(await hears(named(true)), 'it errs').toEqual([])
    const other = await matchOf(ada)
    await watchlists().follow(ada, other.instrumentId)
    await other.says({
      ...named(true),
      squad: named(true).squad.map((one) => ({ ...one, instrumentId: other.instrumentId })),
    })
    told = []
    await teller().run()
    expect(told, 'known when it was first looked at').toEqual([])
  })

  it('[R29] thousands of followers are told once each, by several processes, a part at a time', async () => {
    const { db } = open()
    const count = crowd(open(), 20_000)
    const first = await rig.user('First')
    const { match, instrumentId, says } = await matchOf(first)
    await watchlists().follow(first, instrumentId)
    await says({})
    await teller().run()
    await sql`
      with made as (
        insert into users (id, email, name, username, first_name, district_id, referral_code, synthetic, created_at)
          select gen_random_uuid(), 'f' || n || '@synthetic.invalid', '', 'f' || n, '', 1, 'f' || n, true, now()
            from generate_series(2, ${count}::integer) n returning id)
      insert into watchlist_players (user_id, instrument_id, since)
        select id, ${instrumentId}::uuid, now() - interval '1 minute' from made`.execute(db)
    await says({ events: [GOAL_ROW] })
    await Promise.all([teller().run(), teller().run(), teller().run()])
    while ((await sql`select from watchlist_news`.execute(db)).rows.length > 0) await teller().run()
    expect(new Set(told.map(({ userId }) => userId)).size).toBe(count)
    expect(told).toHaveLength(count)
    expect(told.every(({ data }) => data['matchId'] === Number(match.id))).toBe(true)
  })

  it('[R30] at most 50 players and 20 alerts, however many requests come at once', async () => {
    const user = await rig.user('Greedy')
    const matches = await Promise.all(Array.from({ length: 51 }, () => matchOf(user)))
    const done = await Promise.all(matches.map(({ instrumentId }) => watchlists().follow(user, instrumentId)))
    expect(done.filter((one) => one === 'full')).toHaveLength(1)
    const [one] = (await watchlists().list(user)).players
    expect(await watchlists().follow(user, one?.instrumentId ?? ('' as InstrumentId)), 'again').toBe('followed')
    expect(await watchlists().follow(user, world.newId() as InstrumentId)).toBe('unknown')
    const { instrumentId } = await matchOf(user)
    const made = await Promise.all(
      Array.from({ length: 21 }, (_, n) => watchlists().alert(user, instrumentId, p(201 + n))),
    )
    expect(made.filter(({ kind }) => kind === 'full')).toHaveLength(1)
    const { alerts } = await watchlists().list(user)
    expect(alerts).toHaveLength(20)
    const [alert] = alerts
    expect(await watchlists().alert(user, instrumentId, alert?.level ?? p(1))).toEqual({ kind: 'made', alert })
    expect(await watchlists().removeAlert(await rig.user('Thief'), alert?.id ?? '')).toBe(false)
    expect(await watchlists().removeAlert(user, alert?.id ?? '')).toBe(true)
  })

  it('[R31] an alert fires once, when the price is at its level or beyond', async () => {
    const user = await rig.user('Patient')
    const { match, instrumentId } = await matchOf(user)
    expect(await watchlists().alert(user, instrumentId, p(200))).toEqual({ kind: 'reached', price: p(200) })
    for (const level of [190, 210, 220]) await watchlists().alert(user, instrumentId, p(level))
    await teller().judge([])
    expect(told).toEqual([])
    await priced(match, instrumentId, 210.5)
    await Promise.all([teller().judge([]), teller().judge([])])
    expect(titles()).toEqual([[user, 'A. Striker at 210.50']])
    expect(told[0]).toMatchObject({ body: 'The price has risen to your alert at 210.00.', data: { level: 210 } })
    await priced(match, instrumentId, 190)
    await teller().judge([])
    expect(told[1]).toMatchObject({ type: 'price_reached', data: { level: 190, price: 190, direction: 'below' } })
    expect((await watchlists().list(user)).alerts).toMatchObject([{ level: p(220), isAbove: true }])
    await match.settle()
    await priced(match, instrumentId, 230)
    await teller().judge([])
    expect(told, 'its match is settled').toHaveLength(2)
  })

  it('[R31] a price that was there for a moment after the alert was set fires it, one from before does not', async () => {
    const user = await rig.user('Momentary')
    const { match, instrumentId } = await matchOf(user)
    const moves = new Moves()
    const moved = (units: number, cause: 'trade' | 'settlement' = 'trade') => {
      ahead += 1
      const quote = quoteOf(instrumentNo(1, { base: p(units), published: p(units) }))
      moves.add([
        { kind: 'price_moved', instrumentId, quote, previous: p(200), cause, providerEventId: 0, at: world.now() },
      ])
    }
    const judge = () => moves.take((some) => teller().judge(some))
    moved(212)
    moved(188)
    ahead += 1
    for (const level of [190, 210, 220]) await watchlists().alert(user, instrumentId, p(level))
    moved(200)
    await judge()
    expect(told, 'before the alerts').toEqual([])
    for (const units of [205, 211, 204, 203]) moved(units)
    const failed = moves.take(() => Promise.reject(new Error('the database is away')))
    await expect(failed).rejects.toThrow('away')
    await Promise.all([judge(), judge()])
    expect(titles()).toEqual([[user, 'A. Striker at 211.00']])
    moved(230, 'settlement')
    moved(189)
    await match.settle()
    await judge()
    expect(titles().slice(1)).toEqual([[user, 'A. Striker at 189.00']])
  })

  it('[R32] a reminded user is told once when the match begins, with their players in it if it has some', async () => {
    const [ada, bob] = [await rig.user('Ada R'), await rig.user('Bob R')]
    const { match, instrumentId, says } = await matchOf(ada)
    for (const user of [ada, bob]) expect(await watchlists().remind(user, match.id)).toBe('reminded')
    expect((await watchlists().list(ada)).reminders).toEqual([match.id])
    await watchlists().follow(ada, instrumentId)
    ahead += 1_000
    await says({ phase: 'scheduled' })
    await teller().run()
    expect(told).toEqual([])
    const kickedOffAt = world.now()
    await says({ kickedOffAt })
    await Promise.all([teller().run(), teller().run()])
    await says({ kickedOffAt })
    await teller().run()
    expect(new Map(told.map(({ userId, title }) => [userId, title]))).toEqual(
      new Map([
        [ada, 'Kick-off: A. Striker starts'],
        [bob, 'Kick-off: Harbour 0–0 Mill'],
      ]),
    )
    expect(told).toHaveLength(2)
    expect((await watchlists().list(bob)).reminders).toEqual([])
    const ids = Array.from({ length: 21 }, (_, n) => fixtureId(100 + n))
    const done = await Promise.all(ids.map((id) => watchlists().remind(ada, id)))
    expect(done.filter((one) => one === 'full')).toHaveLength(1)
    await watchlists().forget(ada, fixtureId(101))
    expect((await watchlists().list(ada)).reminders).not.toContain(fixtureId(101))
  })

  it('[R30] a match that is over without having been told of keeps no place', async () => {
    const user = await rig.user('Reminded')
    const { match } = await matchOf(user)
    const rest = Array.from({ length: 19 }, (_, n) => fixtureId(200 + n))
    for (const id of [match.id, ...rest]) await watchlists().remind(user, id)
    expect(await watchlists().remind(user, fixtureId(300))).toBe('full')
    await match.settle()
    expect((await watchlists().list(user)).reminders).toEqual(rest)
    expect(await watchlists().remind(user, fixtureId(300))).toBe('reminded')
    expect((await watchlists().list(user)).reminders).toHaveLength(20)
  })

  it('[R30] a fixture that has become no match keeps no place after a month', async () => {
    const user = await rig.user('Reminded late')
    const { match } = await matchOf(user)
    const fixtures = Array.from({ length: 19 }, (_, n) => fixtureId(400 + n))
    for (const id of [match.id, ...fixtures]) await watchlists().remind(user, id)
    const [cancelled = match.id, moved = match.id, ...rest] = fixtures
    const age = (id: number, days: number) =>
      sql`update watchlist_reminders set since = now() - make_interval(days => ${days}::integer)
           where user_id = ${user} and match_id = ${id}::bigint`.execute(open().db)
    for (const id of rest) await age(id, 29)
    expect(await watchlists().remind(user, fixtureId(500))).toBe('full')
    for (const id of [match.id, cancelled, moved]) await age(id, 31)
    const left = [...rest, match.id].toSorted((a, b) => a - b)
    expect((await watchlists().list(user)).reminders, 'a match that has not begun stays').toEqual(left)
    expect(await watchlists().remind(user, moved), 'again').toBe('reminded')
    expect(await watchlists().remind(user, fixtureId(500))).toBe('reminded')
    expect(await watchlists().remind(user, fixtureId(501))).toBe('full')
    const { rows } = await sql`select from watchlist_reminders where user_id = ${user}`.execute(open().db)
    expect(rows, 'what is over is deleted').toHaveLength(20)
  })

  it('[R30] a fixture that was put off by more than a month keeps its place once it is announced again', async () => {
    const user = await rig.user('Reminded of a fixture put off')
    const putOff = fixtureId(600)
    await watchlists().remind(user, putOff)
    await sql`update watchlist_reminders set since = now() - interval '40 days' where user_id = ${user}`.execute(
      open().db,
    )
    await new Fixtures(open().db).note([info({ matchId: putOff, phase: 'scheduled' })])
    expect(await watchlists().remind(user, fixtureId(601))).toBe('reminded')
    expect((await watchlists().list(user)).reminders).toEqual([putOff, fixtureId(601)])
  })

  it('[R32] a match that was void keeps its place once its fixture is announced again', async () => {
    const user = await rig.user('Reminded of a match put off')
    const { match, says } = await matchOf(user)
    await says({ settling: 'void', settledAt: world.now() })
    expect(await watchlists().remind(user, match.id)).toBe('reminded')
    const { reminders } = await watchlists().list(user)
    expect(reminders, 'it is over').toEqual([])
    const startsAt = instant(info({}).startsAt + 86_400_000)
    await new Fixtures(open().db).note([info({ matchId: match.id, phase: 'scheduled', startsAt })])
    expect(await watchlists().remind(user, match.id)).toBe('reminded')
    expect(await watchlists().remind(user, fixtureId(700))).toBe('reminded')
    expect((await watchlists().list(user)).reminders).toEqual([fixtureId(700), match.id].toSorted((a, b) => a - b))
  })
})
