import { sql } from 'kysely'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { LEASE_TTL_MS } from '../../actors/kernel/limits.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { SqlLeases } from '../../db/leases.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { TROUBLES } from '../../ops/tools/provider-mock/mock.ts'
import { cupTie } from '../support/cup-tie.ts'
import { Rehearsal, type RehearsalOptions } from '../support/rehearsal.ts'
import { eachDataPlace, onServers, type DataPlace } from '../support/data-place.ts'

const LONG = { timeout: 280_000, interval: 20 }
const SOON = { timeout: 60_000, interval: 10 }
/** On a busy machine a store or the provider may answer late once; the task is retried. */
const PASSING = /"task_failed"|the provider took longer than/
/** Log lines of a failing provider. */
const PROVIDER = /"provider_(lease_)?failed"|"fixture_skipped"|"feed_fields_refused"|"task_failed"/
/** With a clock that falls behind the last one as well. */
const PROVIDER_AND_CLOCK = new RegExp(`${PROVIDER.source}|"reason":"clock_behind"`)

const tie = cupTie()
const Events = z.looseObject({ events: z.array(z.looseObject({ type: z.string(), retracted: z.boolean() })) })
const Movers = z.looseObject({ mostTraded: z.array(z.looseObject({ volume: z.number() })) })
const Squad = z.looseObject({ players: z.array(z.looseObject({ starter: z.boolean(), instrumentId: z.string() })) })

const Rows = z.looseObject({ events: z.array(z.looseObject({ id: z.int() })) })
const idsOf = (frame: unknown): readonly number[] => Rows.parse(frame).events.map(({ id }) => id)
const stays = new Set(idsOf(tie.frames.at(-1)))
/** Whether a goal is listed that goes: a busy machine answers some calls too late, and must hear of it all the same. */
const isReviewed = (frame: unknown): boolean => idsOf(frame).some((id) => !stays.has(id))

/** The whole tie, with a quarter of its updates, and all of those of a review. */
const short: Recording = {
  ...tie,
  frames: tie.frames.filter((frame, n, all) => n % 4 === 0 || n === all.length - 1 || isReviewed(frame)),
}

/** The first frames of the tie, each changed. */
const shortened = (frames: number, change: (frame: object, n: number) => object): Recording => ({
  ...tie,
  frames: tie.frames.slice(0, frames).map((frame, n) => change(frame as object, n)),
})

eachDataPlace((settle) => {
  let place: DataPlace | null = null
  let rehearsal: Rehearsal | null = null
  let expected = PASSING
  const open = async (options: Partial<RehearsalOptions> = {}): Promise<Rehearsal> => {
    place = await settle()
    rehearsal = await Rehearsal.open(place, { matches: [{ recording: short }], ...options })
    return rehearsal
  }
  afterEach(async () => {
    await rehearsal?.close(expected)
    rehearsal = null
    expected = PASSING
  })

  /** How positions were closed, and at how many prices per player; the server must have stopped. */
  const closes = () =>
    present(place, 'place').look(async ({ db }) => {
      const { rows } = await sql<{ by: string | null; prices: number; positions: number }>`
        select closed_by as by, max(prices)::integer as prices, sum(positions)::integer as positions
          from (select closed_by, count(distinct close_micros) as prices, count(*) as positions
                  from positions group by closed_by, instrument_id) p
         group by closed_by`.execute(db)
      return new Map(rows.map((row) => [row.by, row]))
    })

  describe('a match of the live provider', () => {
    it('plays through VAR, extra time and penalties with 200 traders, and settles', async () => {
      const server = await open()
      await server.enrol(200)
      const states = new Set<string | null>()
      await vi.waitUntil(() => {
        server.trade()
        const info = server.info()
        if (info !== undefined) states.add(info.state)
        return info !== undefined && info.settledAt !== null
      }, LONG)
      expect([...states]).toEqual(
        expect.arrayContaining(['INPLAY_ET', 'INPLAY_ET_2ND_HALF', 'INPLAY_PENALTIES', 'FT_PEN']),
      )
      const one = await server.user('Observer')
      const { events } = await one.get(`/api/matches/${server.id()}/events`, Events)
      expect(events).toEqual(expect.arrayContaining([expect.objectContaining({ type: 'goal', retracted: true })]))
      expect((await one.get('/api/instruments/movers', Movers)).mostTraded).toHaveLength(5)

      await server.stop()
      const closed = await closes()
      expect(closed.get(null)).toBeUndefined()
      expect(closed.get('full_time')?.prices).toBe(1)
      expect(closed.get('user')?.positions).toBeGreaterThan(50)
    })

    it('survives a provider that fails intermittently in every way', async () => {
      // Eight of every thirty calls fail: eighty seconds of play, and a feed is late after sixty.
      const reasons = new Set<string | null>()
      const trouble = (call: number) => {
        reasons.add(rehearsal?.window()?.reason ?? null)
        return call % 30 < 22 ? null : (TROUBLES[Math.floor(call / 30) % TROUBLES.length] ?? null)
      }
      const server = await open({ trouble })
      expected = PROVIDER_AND_CLOCK
      await server.enrol(20)
      await vi.waitUntil(() => {
        server.trade()
        return (server.info()?.settledAt ?? null) !== null
      }, LONG)
      expect([...reasons]).toContain('the live feed is late')
      expect(server.info()?.state).toBe('FT_PEN')
      expect(server.status.failures).toBeGreaterThan(10)
      await server.stop()
      expect((await closes()).get(null)).toBeUndefined()
    })

    it('runs from kick-off on, and lists its players when the line-ups arrive, even late', async () => {
      const late = shortened(60, (frame, n) => {
        const { lineups } = z.looseObject({ lineups: z.array(z.unknown()) }).parse(frame)
        return { ...frame, lineups: n < 20 ? [] : n < 40 ? lineups.slice(1) : lineups }
      })
      const server = await open({ matches: [{ recording: late }] })
      await vi.waitUntil(() => (server.info()?.minute ?? null) !== null, SOON)
      const counts = new Set<number>()
      await vi.waitUntil(() => {
        counts.add([...(server.view()?.instruments() ?? [])].length)
        return counts.size === 3
      }, SOON)
      const [first, some, all] = [...counts]
      expect(first).toBe(0)
      expect(all).toBe(present(some, 'some') + 1)
      const one = await server.user('Observer')
      const { players } = await one.get(`/api/matches/${server.id()}/squad?team=home`, Squad)
      expect(players.filter((player) => player.starter)).toHaveLength(11)
    })

    it('[V4] that drops out of the list is requested by number, and void when it is abandoned', async () => {
      const abandoned = shortened(40, (frame, n) =>
        n < 39 ? frame : { ...frame, state_id: 15, state: { id: 15, state: 'ABANDONED' }, periods: [] },
      )
      const server = await open({ matches: [{ recording: abandoned, listedFrames: 30 }] })
      await server.enrol(20)
      await vi.waitUntil(() => {
        server.trade()
        return (server.info()?.settledAt ?? null) !== null
      }, SOON)
      expect(server.asked.some((path) => path.includes('/fixtures/multi/501'))).toBe(true)
      await server.stop()
      expect([...(await closes()).keys()]).toContain('void')
    })

    it('that has not begun is in the calendar, and does not run', async () => {
      const server = await open({ matches: [{ recording: tie }, { recording: tie, startsInMs: 30 * HOUR_MS }] })
      await vi.waitUntil(() => (server.info()?.feedSeq ?? 0) > 0, SOON)
      const one = await server.user('Observer')
      expect(await one.matches()).toMatchObject([
        { id: 501, minute: expect.any(Number) },
        { id: 502, minute: null, tradeWindow: { status: 'CLOSED' } },
      ])
      expect(server.view(2)).toBeUndefined()
    })

    it('continues after a restart', async () => {
      const server = await open()
      await server.enrol(50)
      await vi.waitUntil(() => {
        server.trade()
        return (server.info()?.minute ?? 0) >= 5 && [...present(server.view(), 'match').openPositions()].length > 0
      }, SOON)
      const seq = present(server.info(), 'match').feedSeq
      await server.stop()
      await server.start()
      await vi.waitUntil(() => (server.info()?.feedSeq ?? 0) > seq + 5, SOON)
      expect(server.window()?.status).not.toBe('CLOSED')
    })
  })
})

onServers((settle) => {
  it('[V3] has one poller; another process takes over when it releases the lease', async () => {
    const place = await settle()
    const rehearsal = await Rehearsal.open(place, { matches: [{ recording: tie }], started: false })
    const poller = fixtureId(0)
    const elsewhere = async (work: (leases: SqlLeases) => Promise<unknown>) =>
      place.look(({ db }) => work(new SqlLeases(db, { owner: 'another process', ttlMs: LEASE_TTL_MS, alone: false })))
    await place.look(({ db }) => migrate(db))
    await elsewhere((leases) => leases.acquire(poller))
    const renewing = setInterval(() => void elsewhere((leases) => leases.renew(poller, 1)), LEASE_TTL_MS / 8)
    await rehearsal.start()
    const one = await rehearsal.user('Observer')
    expect(await one.matches()).toEqual([])
    expect(rehearsal.status).toMatchObject({ polling: false, polls: 0 })
    clearInterval(renewing)
    await elsewhere((leases) => leases.release(poller, 1))
    await vi.waitUntil(() => (rehearsal.info()?.minute ?? null) !== null, SOON)
    expect(rehearsal.status.polling).toBe(true)
    await rehearsal.close()
  })
})
