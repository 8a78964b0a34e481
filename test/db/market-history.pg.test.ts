import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import { SEVERAL, tickReason } from '../../actors/market/reason-words.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { ClosedBy, Position } from '../../actors/position/position.ts'
import { Catalogue } from '../../db/catalogue.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { Movers } from '../../db/movers.ts'
import { HISTORY_TICKS_MAX, PriceHistory } from '../../db/price-history.ts'
import { tradeEntriesOf, RecentTrades } from '../../db/recent-trades.ts'
import { eachDatabase } from '../support/databases.ts'
import { held, info, instrument, MATCH, P, p, snapshot, u } from '../support/fixtures.ts'
import { insertInstrument, insertMatch, insertTick } from '../support/rows.ts'
import { TestWorld } from '../support/test-world.ts'

const position = (over: Partial<Position> = {}): Position =>
  held({ lots: lots(u(0.5)), openedAt: instant(0), closableAt: instant(0), ...over })
const opened = (over: Partial<Position> = {}): MatchEvent => ({ kind: 'position_opened', position: position(over) })
const closed = (by: ClosedBy, over: Partial<Position> = {}): MatchEvent => {
  const close = { price: p(210), base: p(210), pnl: money(u(25)), at: instant(0), by, voidReason: null }
  return { kind: 'position_closed', position: { ...position(over), close } }
}

describe('an entry of recent trades', () => {
  it('holds what one batch traded in one player, oldest first', () => {
    const short = { instrumentId: P(2), direction: 'short', lots: lots(u(2)) } as const
    expect(tradeEntriesOf([opened(), opened(short), closed('stop_loss')])).toEqual([
      { instrumentId: P(1), lots: u(1), trades: `[[1,${u(0.5)},${u(200)},1],[1,${u(0.5)},${u(210)},0]]` },
      { instrumentId: P(2), lots: u(2), trades: `[[-1,${u(2)},${u(200)},1]]` },
    ])
  })

  it('leaves out closes by full time or void', () => {
    expect(tradeEntriesOf([closed('full_time'), closed('void')])).toEqual([])
  })

  it('counts everything and keeps the newest hundred', () => {
    const events = Array.from({ length: 500 }, (_, n) => opened({ openPrice: p(n + 1) }))
    const [entry] = tradeEntriesOf(events)
    expect(entry?.lots).toBe(u(250))
    const kept: unknown = JSON.parse(entry?.trades ?? '')
    expect(kept).toHaveLength(100)
    expect(kept).toMatchObject({ 0: [1, u(0.5), u(401), 1], 99: [1, u(0.5), u(500), 1] })
  })
})

/** Of ticks without a reason of their own. */
const QUIET = tickReason('match', null)

eachDatabase((open) => {
  const world = new TestWorld()
  const now = world.now()
  let connection: Connection
  beforeAll(async () => {
    connection = open()
    await insertMatch(connection.db, info())
    for (let n = 1; n <= 7; n++) await insertInstrument(connection.db, MATCH, instrument(n), p(200 + n * (-1) ** n))
  })
  beforeEach(() => sql`truncate ticks, recent_trades, fixtures`.execute(connection.db))

  /** Ticks of one player, a second apart, the last one now; prices count up from 1. */
  const fill = (count: number, { until = now, everyMs = SECOND_MS } = {}) =>
    sql`insert into ticks (instrument_id, at, price_micros, base_micros, imbalance_micros, cause, provider_event_id)
          select ${P(1)}::uuid, ${new Date(until).toISOString()}::timestamptz
                   - (${count}::integer - n) * ${everyMs}::integer * interval '1 millisecond',
                 n * 1000000::bigint, 1, 0, 'match', 0 from generate_series(1, ${count}::integer) n`.execute(
      connection.db,
    )
  const entry = async (at: number, traded: number, trades: string) => {
    const row = { instrument_id: P(1), at: new Date(at), traded_micros: traded, trades }
    await connection.db.insertInto('recent_trades').values(row).execute()
  }
  const history = () => new PriceHistory(connection.db)

  describe('price history', () => {
    it('is every tick of the period, oldest first, with its cause; nothing for a stranger', async () => {
      await insertTick(connection.db, { instrument_id: P(1), at: now, price_micros: p(203) })
      await insertTick(connection.db, { instrument_id: P(1), at: now - HOUR_MS, price_micros: p(201) })
      await insertTick(connection.db, { instrument_id: P(2), at: now, price_micros: p(300) })
      expect(await history().of(P(1), instant(now - MINUTE_MS))).toEqual({
        ticks: [
          { at: now - MINUTE_MS, price: p(201), cause: 'match', eventId: null, reason: SEVERAL },
          { at: now, price: p(203), cause: 'match', eventId: null, reason: QUIET },
        ],
        volume: 0,
        firstTickAt: now - HOUR_MS,
      })
      expect((await history().of(P(1), null)).ticks.map((tick) => tick.price)).toEqual([p(201), p(203)])
      expect(await history().of(P(9), null)).toEqual({ ticks: [], volume: 0, firstTickAt: null })
    })

    it('of a quiet player is the price that stood at its beginning', async () => {
      await insertTick(connection.db, { instrument_id: P(1), at: now - HOUR_MS, price_micros: p(201) })
      const { ticks } = await history().of(P(1), instant(now - MINUTE_MS))
      expect(ticks).toEqual([{ at: now - MINUTE_MS, price: p(201), cause: 'match', eventId: null, reason: SEVERAL }])
      expect((await history().of(P(1), instant(now - 2 * HOUR_MS))).ticks).toHaveLength(1)
      expect((await history().of(P(1), instant(now - HOUR_MS))).ticks).toHaveLength(1)
    })

    it.each([500, 501, 999, 1_000, 7_777, 10_000])(
      'of %i ticks is 500 at equal distances, the first and the last among them',
      async (count) => {
        await fill(count)
        const { ticks } = await history().of(P(1), null)
        const ranks = ticks.map((tick) => tick.price / u(1))
        const steps = new Set(ranks.slice(1).map((rank, n) => rank - (ranks[n] ?? 0)))
        expect(ticks).toHaveLength(HISTORY_TICKS_MAX)
        expect([ranks[0], ranks.at(-1)]).toEqual([1, count])
        expect(Math.max(...steps) - Math.min(...steps)).toBeLessThanOrEqual(1)
      },
    )

    it('of more is sampled over the time in which there were any', async () => {
      // Two matches a month apart, one tick a second.
      await fill(6_000, { until: instant(now - 30 * 24 * HOUR_MS) })
      await fill(6_000)
      const { ticks } = await history().of(P(1), null)
      expect(ticks.length).toBeLessThanOrEqual(HISTORY_TICKS_MAX)
      expect(ticks.length).toBeGreaterThan(HISTORY_TICKS_MAX * 0.9)
      expect([ticks[0]?.price, ticks.at(-1)?.price]).toEqual([u(1), u(6_000)])
      const early = ticks.filter((tick) => tick.at < now - 24 * HOUR_MS).length
      expect(Math.abs(early / ticks.length - 0.5)).toBeLessThan(0.1)
    })

    it.each([2_000, 12_000])(
      '[R25] of %i ticks keeps those of events, each as a step of its own; a longer step says what moved most of it',
      async (count) => {
        await fill(count)
        // A goal is worth ten units in the midst of moves of a thousandth.
        await sql`update ticks set price_micros = (200 + n * 0.001 + 10 * (n / 400)) * 1000000,
                    provider_event_id = case when n % 400 = 0 then n else 0 end, cause = case when n % 400 = 0 then 'event' else 'match' end
                    from (select at as moment, row_number() over (order by at) as n from ticks) counted
                   where ticks.at = moment`.execute(connection.db)
        const { ticks } = await history().of(P(1), null)
        expect(ticks.length).toBeLessThanOrEqual(HISTORY_TICKS_MAX)
        expect(ticks.length).toBeGreaterThan(count > 10_000 ? HISTORY_TICKS_MAX * 0.9 : HISTORY_TICKS_MAX - 1)
        const steps = ticks.slice(1).map((tick, n) => ({ ...tick, moved: tick.price - (ticks[n]?.price ?? 0) }))
        const goals = steps.filter(({ eventId }) => eventId !== null)
        expect(goals.map(({ eventId }) => eventId)).toEqual(
          Array.from({ length: count / 400 }, (_, n) => 400 * (n + 1)),
        )
        for (const { moved } of goals) expect(moved).toBe(u(10.001))
        const others = steps.filter(({ eventId }) => eventId === null)
        expect(others.filter(({ moved }) => moved > u(1))).toEqual([])
        for (const { moved, reason } of others) if (moved > u(0.0021)) expect(reason.kind).toBe('several')
      },
    )

    it('counts what was traded since its beginning', async () => {
      await entry(now - 2 * HOUR_MS, u(5), '[[1,1,1,1]]')
      await entry(now - HOUR_MS, u(7), '[[1,1,1,1]]')
      await entry(now, u(7.5), '[[1,1,1,1]]')
      expect((await history().of(P(1), null)).volume).toBe(u(7.5))
      expect((await history().of(P(1), instant(now - HOUR_MS))).volume).toBe(u(2.5))
      expect((await history().of(P(1), instant(now - HOUR_MS + 1))).volume).toBe(u(0.5))
      expect((await history().of(P(1), instant(now + 1))).volume).toBe(0)
    })
  })

  it('recent trades come newest first, as many as asked for', async () => {
    await entry(now - 10, u(1), `[[1,${u(0.5)},${u(200)},1],[-1,${u(0.5)},${u(201)},0]]`)
    await entry(now, u(3), `[[1,${u(2)},${u(202)},1]]`)
    const trades = new RecentTrades(connection.db)
    const newest = await trades.recent(P(1), 2)
    expect(newest).toMatchObject([
      { at: now, direction: 'long', lots: u(2), price: u(202), action: 'open' },
      { at: now - 10, direction: 'short', lots: u(0.5), price: u(201), action: 'close' },
    ])
    const [last] = await trades.recent(P(1), 100, newest[1]?.key)
    expect(last).toMatchObject({ price: u(200), action: 'open' })
    expect(await trades.recent(P(1), 100, last?.key)).toEqual([])
    expect(await trades.recent(P(1), 100)).toHaveLength(3)
    expect(await trades.recent(P(2), 100)).toEqual([])
  })

  describe('movers', () => {
    it('are the top five each of 24 hours', async () => {
      for (let n = 1; n <= 7; n++) {
        await insertTick(connection.db, { instrument_id: P(n), at: now - HOUR_MS, price_micros: p(200) })
      }
      await entry(now - 25 * HOUR_MS, u(1), '[]')
      await entry(now, u(4), '[]')
      const { gainers, losers, mostTraded, asOf } = await new Movers(connection.db, world).top()
      expect(gainers.map((one) => [one.instrumentId, one.changePpm])).toEqual([
        [P(6), 30_000],
        [P(4), 20_000],
        [P(2), 10_000],
      ])
      expect(losers.map((one) => one.instrumentId)).toEqual([P(7), P(5), P(3), P(1)])
      expect(mostTraded).toEqual([losers[3]])
      expect(losers[3]).toEqual({
        instrumentId: P(1),
        name: 'Player 1',
        role: 'MID',
        side: 'home',
        team: info().home,
        matchId: MATCH,
        price: p(199),
        changePpm: -5_000,
        volume: u(3),
      })
      expect(asOf).toBe(now)
    })

    it('are measured from the price that stood when the 24 hours began', async () => {
      for (const [hours, at] of [
        [30, 250],
        [25, 160],
        [23, 200],
      ] as const) {
        await insertTick(connection.db, { instrument_id: P(2), at: now - hours * HOUR_MS, price_micros: p(at) })
      }
      const { gainers } = await new Movers(connection.db, world).top()
      expect(gainers.map((one) => [one.instrumentId, one.changePpm])).toEqual([[P(2), 262_500]])
      // No user can trade between two matches.
      const listing = { at: now - 12 * HOUR_MS, price_micros: p(101), cause: 'listing' } as const
      await insertTick(connection.db, { instrument_id: P(2), ...listing })
      const board = await new Movers(connection.db, world).top()
      expect(board.gainers.map((one) => [one.instrumentId, one.changePpm])).toEqual([[P(2), 1_000_000]])
    })

    it('are the same for a minute, and a failure is not kept', async () => {
      const clock = new TestWorld()
      const movers = new Movers(connection.db, clock)
      expect((await movers.top()).gainers).toEqual([])
      await insertTick(connection.db, { instrument_id: P(2), at: now, price_micros: p(100) })
      clock.pass(MINUTE_MS - 1)
      expect((await movers.top()).gainers).toEqual([])
      clock.pass(1)
      expect((await movers.top()).gainers).toHaveLength(1)

      await sql`alter table recent_trades rename to elsewhere`.execute(connection.db)
      clock.pass(MINUTE_MS)
      await expect(movers.top()).rejects.toThrow('recent_trades')
      await sql`alter table elsewhere rename to recent_trades`.execute(connection.db)
      expect((await movers.top()).gainers).toHaveLength(1)
    })
  })

  it('[H34] the calendar lists a fixture until its match runs, by stage and time of kick-off', async () => {
    const { db } = connection
    const announced = (id: number, state: string, startsAt: number) =>
      newMatch(snapshot({ fixtureId: fixtureId(id), state, startsAt: instant(startsAt), periods: [], players: [] }), {
        replay: false,
      }).info
    const put = async (fixture: ReturnType<typeof announced>) => {
      const starts_at = new Date(fixture.startsAt)
      await db
        .insertInto('fixtures')
        .values({ id: fixture.matchId, starts_at, info: JSON.stringify(fixture) })
        .execute()
    }
    const [later, sooner] = [announced(5, 'NS', now + 2 * HOUR_MS), announced(6, 'NS', now + HOUR_MS)]
    for (const one of [later, sooner, announced(7, 'FT', now), announced(MATCH, 'NS', now)]) await put(one)
    const catalogue = new Catalogue(db, world)
    expect((await catalogue.matches()).map((match) => match.matchId)).toEqual([MATCH, 6, 5, 7])
    const listed = async (query: Parameters<typeof catalogue.matches>[0]) =>
      (await catalogue.matches(query)).map((match) => match.matchId)
    expect(await listed({ stage: 'upcoming' })).toEqual([6, 5])
    expect(await listed({ stage: 'live' })).toEqual([MATCH])
    expect(await listed({ stage: 'over' })).toEqual([7])
    expect(await listed({ from: sooner.startsAt, to: later.startsAt })).toEqual([6])
    expect(await listed({ stage: 'upcoming', from: later.startsAt })).toEqual([5])
    expect(await catalogue.match(fixtureId(6))).toEqual(sooner)
    expect((await catalogue.match(MATCH))?.state).toBe('INPLAY_1ST_HALF')
  })
})
