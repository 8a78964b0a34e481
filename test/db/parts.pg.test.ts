/** Positions that are closed in parts, as every reader of the database sees them. */
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { recapOf } from '../../src/features/recaps/recap.ts'
import { recordOf } from '../../src/features/recaps/record.ts'
import { present } from '../../actors/kernel/assert.ts'
import { positionId, type UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { HOUR_MS, type Instant, instant } from '../../actors/kernel/world.ts'
import { NEW_CAREER } from '../../actors/community/career.ts'
import { type ClosedPosition, lessPart, type Position, split } from '../../actors/position/position.ts'
import { AccountLog } from '../../db/account-log.ts'
import { Archive } from '../../db/archive.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Positions } from '../../db/positions.ts'
import { Recaps } from '../../src/features/recaps/store.ts'
import { Voids } from '../../src/features/integrity/voids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { ok } from '../support/actor-rig.ts'
import { crowd, eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { runningMatch } from '../support/running-match.ts'
import { type Fixture, seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)
  let admin: UserId

  beforeAll(async () => {
    admin = await season.user('Parts admin')
  })

  const positions = () => new Positions(open().db)
  const voids = () =>
    new Voids({
      voids: new PositionVoids(open().db, season.cache, world),
      desk: { ask: async () => 'closed' },
    })
  const voided = (id: ClosedPosition['id']) =>
    voids().void({ positionId: id, commandId: null, by: admin, reason: 'why' })

  /** Closes a part at a price, and returns it with the rest. */
  async function closePart(match: Fixture, whole: Position, size: number, at: number) {
    const { part, rest } = split(whole, positionId(world.newId()), lots(u(size)))
    const event = match.closed(part, at)
    const left = lessPart(rest, event.position)
    await match.commit([{ kind: 'position_split', position: left, part }, event])
    return { part: event.position, left }
  }

  /** Of 3 lots: 1 is closed with a gain of 50, 1 with one of 25, and the rest with a loss of 100. */
  async function closedInParts() {
    const user = await season.player()
    const match = await season.match()
    const whole = await match.open(user, { lots: 3 })
    const first = await closePart(match, whole, 1, 210)
    const second = await closePart(match, first.left, 1, 205)
    return { user, match, whole, first, second, last: () => match.close(second.left, 180) }
  }

  it('[R24] careers and boards count it once, when its last part closes, and show what the ledger has booked', async () => {
    const { user, match, last } = await closedInParts()
    await season.settle()
    expect(await season.careers.find(user)).toMatchObject({ opened: 1, main: { closed: 0, pnl: 0 } })
    await last()
    await season.settle()
    const balance = present((await season.wallets.find(user)) ?? undefined, 'wallet').balance
    expect(balance - STARTING_BALANCE).toBe(u(-25))
    expect(await season.careers.find(user)).toMatchObject({
      opened: 1,
      largestLots: u(3),
      main: { closed: 1, wins: 0, pnl: u(-25), baseMoves: u(-25), margin: u(300) },
    })
    expect(await season.boards.main.place({ by: 'pnl', districtId: null }, user)).toMatchObject({
      standing: { closed: 1, pnl: u(-25) },
    })
    const recaps = new Recaps(open(), world, () => ({ roiFloor: money(0), ranksBots: false }))
    const stretch = {
      purse: 'main',
      match: match.id,
      from: instant(clock.now - HOUR_MS),
      to: instant(clock.now + 1),
    } as const
    const { start, closes } = present((await recaps.closes(user, stretch)) ?? undefined, 'closes')
    expect(closes).toHaveLength(3)
    expect(recapOf(start, closes)).toMatchObject({ start: STARTING_BALANCE, result: u(-25), trades: 1, wins: 0 })
    await season.booksBalance()
  })

  it('[R24] what was closed in parts before a stretch of time counts in it once the rest is closed', async () => {
    const { user, whole, last } = await closedInParts()
    clock.now += HOUR_MS
    const from = instant(clock.now)
    await last()
    const recaps = new Recaps(open(), world, () => ({ roiFloor: money(0), ranksBots: false }))
    const read = async (query: { readonly from: Instant; readonly to: Instant }) =>
      present((await recaps.closes(user, { purse: 'main', match: null, ...query })) ?? undefined, 'closes')
    const { start, closes, earlier } = await read({ from, to: instant(clock.now + 1) })
    expect(start).toBe(STARTING_BALANCE + u(75))
    expect(recapOf(start, closes, [], earlier)).toMatchObject({
      result: u(-100),
      trades: 1,
      best: { id: whole.id, lots: u(3), close: { pnl: u(-25) } },
    })
    expect(recordOf(closes, () => 'FWD', earlier).total).toMatchObject({ trades: 1, pnl: u(-25), margin: u(300) })
    const before = await read({ from: instant(from - HOUR_MS), to: from })
    expect(before.closes).toHaveLength(2)
    expect(recapOf(before.start, before.closes, [], before.earlier)).toMatchObject({ result: u(75), trades: 0 })
    const after = await read({ from: instant(clock.now + 1), to: instant(clock.now + HOUR_MS) })
    expect([after.closes, after.earlier], 'later').toEqual([[], []])
  })

  it('[T38] lists have each part once, at the place of its close, also page by page', async () => {
    const { user, match, whole, first, second, last } = await closedInParts()
    const other = await match.open(user)
    await last()
    const query = { purse: 'main', status: 'all', limit: 9, offset: 0 } as const
    const all = await positions().list(user, query)
    expect(all.map(({ position }) => position.id)).toEqual([other.id, second.part.id, first.part.id, whole.id])
    expect(all[2]?.position).toEqual(first.part)
    const paged: string[] = []
    for (let before: number | undefined; ;) {
      const [one] = await positions().list(user, { ...query, limit: 1, before })
      if (one === undefined) break
      paged.push(one.position.id)
      before = one.place
    }
    expect(paged).toEqual(all.map(({ position }) => position.id))
    expect((await positions().find(user, first.part.id))?.position).toEqual(first.part)
    expect((await positions().find(user, whole.id))?.position).toMatchObject({ lots: u(1), margin: u(100) })
  })

  it('[T38] lists have the parts of a match that was suspended for ten days', async () => {
    const user = await season.player()
    const match = await season.match()
    const whole = await match.open(user, { lots: 3 })
    clock.now += 10 * 24 * HOUR_MS
    const { part, left } = await closePart(match, whole, 1, 210)
    await match.close(left, 205)
    const listed = await positions().list(user, { purse: 'main', status: 'closed', limit: 9, offset: 0 })
    expect(listed.map(({ position }) => position.id)).toEqual([part.id, whole.id])
    const recaps = new Recaps(open(), world, () => ({ roiFloor: money(0), ranksBots: false }))
    const stretch = { purse: 'main', match: match.id, from: whole.openedAt, to: instant(clock.now + 1) } as const
    expect((await recaps.closes(user, stretch))?.closes).toHaveLength(2)
  })

  it('[D8] the account stream tells the rest and the part, each event as it was', async () => {
    const { user, whole, first, second, last } = await closedInParts()
    await last()
    const changes = await new AccountLog(open().db, world).changes(user, 0, 99)
    const events = changes?.kind === 'events' ? changes.events : []
    expect(events.map(({ kind, position: { id, lots: size, margin } }) => [kind, id, size, margin])).toEqual([
      ['opened', whole.id, u(3), u(300)],
      ['changed', whole.id, u(2), u(200)],
      ['closed', first.part.id, u(1), u(100)],
      ['changed', whole.id, u(1), u(100)],
      ['closed', second.part.id, u(1), u(100)],
      ['closed', whole.id, u(1), u(100)],
    ])
  })

  it('[C4] a part is voided once the rest is closed, and the position counts until all parts are void', async () => {
    const { user, whole, first, second, last } = await closedInParts()
    expect(await voided(first.part.id)).toEqual({ kind: 'rest_open' })
    await last()
    await season.settle()
    expect(await voided(first.part.id)).toMatchObject({ kind: 'voided', done: { pnl: u(50) } })
    await season.settle()
    expect(await season.careers.find(user)).toMatchObject({
      opened: 1,
      largestLots: u(2),
      main: { closed: 1, pnl: u(-75), margin: u(200) },
    })
    await voided(whole.id)
    await season.settle()
    expect(await season.careers.find(user)).toMatchObject({ opened: 1, main: { closed: 1, wins: 1, pnl: u(25) } })
    await voided(second.part.id)
    await season.settle()
    expect(await season.careers.find(user)).toEqual(NEW_CAREER)
    await season.booksBalance()
  })

  it('[D18] archives take parts along, and lists show them as before', async () => {
    const { user, match, last } = await closedInParts()
    await last()
    await match.settle()
    await season.settle()
    const query = { purse: 'main', status: 'closed', limit: 9, offset: 0 } as const
    const before = await positions().list(user, query)
    clock.now += 40 * 24 * HOUR_MS
    await new Archive(open().db, world, () => 35).run(50)
    expect(await open().db.selectFrom('positions').selectAll().where('user_id', '=', user).execute()).toEqual([])
    expect(await positions().list(user, query)).toEqual(before)
    clock.now -= 40 * 24 * HOUR_MS
  })

  it('[A5] of many closes of parts at once under few keys each key closes one, and its answer is repeated', async () => {
    const user = await season.player()
    const { actor, order } = await runningMatch(open(), world, 88_001)
    const held = await actor.submit(order(user, { lots: lots(u(2)) }))
    if (!held.ok) throw new Error(held.refusal.code)
    const closing = (n: number) =>
      actor.submit({
        kind: 'close_part',
        userId: user,
        positionId: held.value.position.id,
        lots: lots(u(0.3)),
        idempotency: { id: `aaaaaaaa-0000-5000-8000-00000000000${n}`, fingerprint: 'part' },
      })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => closing(n % 4)))
    const done = answers.flatMap((one) => (one.ok ? [one.value] : []))
    expect(new Set(done.map(({ position }) => position.id)).size).toBe(4)
    expect(actor.view.position(held.value.position.id)).toMatchObject({ lots: u(0.8), parted: { lots: u(1.2) } })
    for (const n of [0, 1, 2, 3]) {
      const again = await closing(n)
      const { repeated: _, wallet: __, ...was } = present(done[n], 'answer')
      const { parted: ___, ...rest } = present(was.rest, 'rest').position
      expect(again).toMatchObject({
        ok: true,
        value: { ...was, rest: { ...was.rest, position: rest }, repeated: true },
      })
    }
    await season.booksBalance()
  })

  it('[T38] parts, a level and full time at once close every lot once, and no more than there are', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => season.player()))
    const { actor, order, first, load } = await runningMatch(open(), world, 88_002)
    const target = { takeProfit: price(order(admin).clientPrice + u(0.1)) }
    const held = await Promise.all(
      users.map((user, n) => actor.submit(order(user, { lots: lots(u(2)), ...(n === 0 ? target : {}) }))),
    )
    const parts = held.flatMap((trade) => {
      const { userId, id } = ok(trade).position
      const part = { kind: 'close_part', userId, positionId: id, lots: lots(u(0.1)), idempotency: null } as const
      return Array.from({ length: 30 }, () => actor.submit(part))
    })
    const ended = { ...first, state: 'FINISHED', stateId: 8, periods: [], sourceAt: world.now() }
    await actor.feed({ kind: 'feed_update', seq: 2, snapshot: ended })
    const done = (await Promise.all(parts)).filter((trade) => trade.ok)
    await actor.stop()
    expect(done.length).toBeGreaterThan(0)
    expect((await load()).info.settledAt).not.toBeNull()
    for (const user of users) {
      const { rows } = await sql<{ size: number; margin: number; open: number }>`
        select sum(lots_micros)::bigint as size, sum(margin_micros)::bigint as margin,
               count(*) filter (where closed_at is null)::bigint as open
          from positions where user_id = ${user}::uuid`.execute(open().db)
      const { margin } = present(
        held.flatMap((trade) => (trade.ok ? [trade.value.position] : [])).find(({ userId }) => userId === user),
        'trade',
      )
      expect(rows).toEqual([{ size: u(2), margin, open: 0 }])
    }
    await season.booksBalance()
  })

  it('[T38] the parts of a crowd add up to the whole, in memory, when it is loaded and at full time', async () => {
    const [holders, each] = [crowd(open(), 200), 50]
    const people = Array.from({ length: holders }, (_, n) => `Sharer ${n}`)
    const users = (await season.users.createSyntheticMany(people)).map(({ user }) => user.id)
    const { actor, order, first, load } = await runningMatch(open(), world, 88_003)
    const trades = await Promise.all(
      users.map((user, n) =>
        actor.submit(order(user, { lots: lots(u(0.51)), direction: n % 2 === 0 ? 'long' : 'short' })),
      ),
    )
    const wholes = trades.map((trade) => ok(trade).position)
    for (let part = 0; part < each; part++) {
      const closing = wholes.map(({ id, userId }) =>
        actor.submit({ kind: 'close_part', userId, positionId: id, lots: lots(u(0.01)), idempotency: null }),
      )
      expect((await Promise.all(closing)).filter((trade) => !trade.ok)).toEqual([])
    }
    const { openPositions } = await load()
    for (const whole of wholes) {
      const rest = present(actor.view.position(whole.id), 'rest')
      expect(openPositions.find(({ id }) => id === whole.id)).toEqual(rest)
      expect(rest).toMatchObject({ lots: u(0.01), parted: { lots: u(0.5), margin: whole.margin - rest.margin } })
    }
    const ended = { ...first, state: 'FINISHED', stateId: 8, periods: [], sourceAt: world.now() }
    await actor.feed({ kind: 'feed_update', seq: 2, snapshot: ended })
    await actor.stop()
    const { rows } = await sql<{ parts: number; open: number }>`
      select count(part_of)::bigint as parts, count(*) filter (where closed_at is null)::bigint as open
        from positions where match_id = 88003`.execute(open().db)
    expect(rows).toEqual([{ parts: holders * each, open: 0 }])
    await season.booksBalance()
  })
})
