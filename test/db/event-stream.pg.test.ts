import { beforeAll, expect, it } from 'vitest'
import { sql } from 'kysely'
import { EventStream, type StreamEvent, type StreamPlace } from '../../db/event-stream.ts'
import { EventFeed } from '../../src/http/event-feed.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const world = systemWorld()
  const season = seasonOn(open, world)
  let stream: EventStream

  beforeAll(async () => {
    stream = new EventStream(open().db, 0)
  })

  const named = ({ matchId, seq, n, event: { kind } }: StreamEvent): string => `${matchId}/${seq}/${n} ${kind}`
  /** Everything after a place, in pages of this many events. */
  const readAll = async (from: StreamPlace, limit: number): Promise<readonly StreamEvent[]> => {
    const found: StreamEvent[] = []
    for (let place = from; ;) {
      const page = await stream.after(place, limit)
      expect(page.length).toBeLessThanOrEqual(limit)
      const last = page.at(-1)
      if (last === undefined) return found
      found.push(...page)
      place = last.after
    }
  }

  it('[R18] has every fact once and in the order of its match, whatever the pages and the sweeps', async () => {
    const from = await stream.end()
    const [one, two] = [await season.match(), await season.match()]
    const user = await season.player()
    const held = await one.open(user)
    await stream.sweep()
    await two.open(user)
    await stream.sweep()
    await stream.sweep()
    const many = Array.from({ length: 700 }, () => two.position(user, { lots: 0.01 }))
    await two.commit(many.slice(0, 90).map((position) => ({ kind: 'position_opened', position })))
    await one.close(held, 210)
    await one.settle()
    await season.reactor.drain()
    await stream.sweep()
    const expected = (match: number, kinds: readonly (readonly string[])[]) =>
      kinds.flatMap((row, at) => row.map((kind, n) => `${match}/${at + 1}/${n} ${kind}`))
    for (const limit of [1, 7, 90, 1_000]) {
      const all = (await readAll(from, limit)).map(named)
      expect(all.filter((name) => name.startsWith(`${one.id}/`))).toEqual(
        expected(one.id, [['opened'], ['closed'], ['match_settled']]),
      )
      expect(all.filter((name) => name.startsWith(`${two.id}/`))).toEqual(
        expected(two.id, [['opened'], Array.from({ length: 90 }, () => 'opened')]),
      )
      expect(all).toHaveLength(94)
    }
  })

  it('[R18] goes on after any event, and finds what follows the end of a match', async () => {
    const from = await stream.end()
    const match = await season.match()
    const user = await season.player()
    await match.close(await match.open(user), 190)
    await match.settle()
    await season.reactor.drain()
    await stream.sweep()
    const all = await readAll(from, 2)
    for (const [index, { after }] of all.entries()) {
      expect((await readAll(after, 3)).map(named)).toEqual(all.slice(index + 1).map(named))
    }
    // As the void of a closed position leaves it.
    await sql`insert into outbox select match_id, seq + 1, at, events from outbox
      where match_id = ${match.id}::bigint and seq = 3`.execute(open().db)
    await sql`update outbox_cursors set finished = false where match_id = ${match.id}::bigint`.execute(open().db)
    await season.reactor.drain()
    await stream.sweep()
    expect((await readAll(from, 50)).map(named)).toEqual([...all.map(named), `${match.id}/4/0 match_settled`])
  })

  it('[R18] is numbered without gaps by readers that sweep together, and not more often than it must', async () => {
    const [match, other] = [await season.match(), await season.match()]
    const user = await season.player()
    const from = await stream.end()
    for (let n = 0; n < 5; n++) {
      await Promise.all([match.open(user), other.open(user), stream.sweep(), stream.sweep(), stream.sweep()])
    }
    await stream.sweep()
    expect(await readAll(from, 4)).toHaveLength(10)
    const { rows } = await sql<{ ranges: number; last: number; head: number }>`
      select count(*) as ranges, max(position) as last, (select position from event_head) as head from event_ranges
    `.execute(open().db)
    expect(rows[0]?.ranges).toBe(rows[0]?.last)
    expect(rows[0]?.head).toBe(rows[0]?.last)
    const end = await stream.end()
    await match.open(user)
    const rare = new EventStream(open().db, 60_000)
    await rare.sweep()
    expect(await stream.end()).toEqual(end)
    await sql`update event_head set swept_at = clock_timestamp() + interval '1 hour'`.execute(open().db)
    await rare.sweep()
    expect(await stream.end(), 'after a sweep by a clock that was ahead').not.toEqual(end)
    await match.open(user)
    const next = await stream.end()
    await rare.sweep()
    expect(await stream.end()).toEqual(next)
  })

  it('[R18] goes on beyond ranges whose rows are of a detached month, however many they are', async () => {
    await stream.sweep()
    const [start, ...rest] = await stream.end()
    // Two matches of a month that is not there any more.
    await sql`insert into event_ranges
      select ${start}::bigint + n, n % 2, n, n from generate_series(0, 69) n`.execute(open().db)
    await sql`update event_head set position = position + 70`.execute(open().db)
    const from: StreamPlace = [start, ...rest]
    expect(await stream.beyondGap(from)).toEqual(await stream.end())
    const match = await season.match()
    await match.open(await season.player())
    await stream.sweep()
    expect(await stream.after(from, 10)).toEqual([])
    const beyond = await stream.beyondGap(from)
    expect((await stream.after(beyond, 10)).map(named)).toEqual([`${match.id}/1/0 opened`])
    expect(await stream.beyondGap(beyond)).toBe(beyond)
    const end = await stream.end()
    expect(await stream.beyondGap(end)).toBe(end)
    const feed = new EventFeed({ stream, clock: world, isStopping: () => false, pause: async () => undefined })
    const wanted = { after: from, limit: 10, follow: false, mayGoOn: async () => true }
    expect(await Array.fromAsync(feed.lines(wanted))).toHaveLength(1)
    await sql`delete from event_ranges where position between ${start}::bigint and ${start}::bigint + 69`.execute(
      open().db,
    )
  })
})
