import { NEW_CAREER } from '../../actors/community/career.ts'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { districtId, type UserId } from '../../actors/kernel/ids.ts'
import { ADOPTION_MAX, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { money } from '../../actors/kernel/micros.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { roiPpm } from '../../actors/community/ranking.ts'
import { weekOf } from '../../actors/kernel/calendar.ts'
import { ActivityFeed } from '../../db/activity.ts'
import { BoardsUnbuilt } from '../../db/boards.ts'
import { keys } from '../../db/fast/fast-store.ts'
import { Inbox } from '../../src/features/notifications/store.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Referrals } from '../../db/referrals.ts'
import { Invites } from '../../src/features/referrals/store.ts'
import { BoardKeeper } from '../../src/reactions/board-keeper.ts'
import { creditWaiting, react } from '../../src/reactions/react.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { u } from '../support/fixtures.ts'
import { seasonOn } from '../support/season.ts'

const ALL = { limit: 100, unreadOnly: false, before: null }

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world, { roiFloor: () => floor })
  let inbox: Inbox
  let floor = money(0)

  beforeAll(async () => {
    inbox = new Inbox(open().db)
  })

  beforeEach(async () => {
    await season.settle()
    season.pushed.length = 0
  })

  const typesOf = async (user: UserId) =>
    (await inbox.list(user, ALL)).notifications.map(({ type, data }) => [
      type,
      data['closedBy'] ?? data['badgeId'] ?? data['level'] ?? data['lostPct'] ?? data['positions'],
    ])
  const roi = { by: 'roi', districtId: null } as const

  it('durable trades become XP and badges, each notified once', async () => {
    const user = await season.player()
    const match = await season.match()
    const one = await match.open(user, { lots: 12 })
    await match.close(one, 205)
    await season.settle()
    const career = await season.careers.find(user)
    expect(career).toMatchObject({ opened: 1, days: 1, xp: 10 + 50 + 25, main: { closed: 1, wins: 1 } })
    expect([...(await season.careers.achievements(user)).badges.keys()].toSorted()).toEqual([
      'big_signing',
      'first_whistle',
      'off_the_mark',
      'screamer',
    ])
    expect((await open().db.selectFrom('users').select('xp').where('id', '=', user).executeTakeFirst())?.xp).toBe(85)
    expect(await typesOf(user)).toHaveLength(4)
    expect(season.pushed.map(({ userId, type }) => [userId, type])).toEqual(
      Array.from({ length: 4 }, () => [user, 'badge']),
    )
    await match.open(user)
    await match.open(user)
    await season.settle()
    expect(await typesOf(user)).toContainEqual(['level', 2])
    expect(await typesOf(user)).toHaveLength(5)
  })

  it('[R14] what a void takes back does not depend on how reactions are grouped', async () => {
    const live = async (drained: () => Promise<void>) => {
      const user = await season.player()
      const match = await season.match()
      const one = await match.open(user, { lots: 12 })
      await drained()
      await match.close(one, 205, 'void')
      await drained()
      const two = await match.open(user)
      await drained()
      await match.close(two, 196)
      await drained()
      const three = await match.open(user, { lots: 12 })
      await match.close(three, 210)
      await drained()
      const voids = new PositionVoids(open().db, season.cache, world)
      await voids.begin({ positionId: three.id, commandId: null, by: user, reason: 'seen beside the pitch' })
      expect(await voids.rebook(three.id)).toBe(true)
      await season.settle()
      const { firstTradeAt: _, ...all } = (await season.careers.find(user))?.main ?? { firstTradeAt: null }
      const { xp, opened, days } = (await season.careers.find(user)) ?? {}
      const badges = [...(await season.careers.achievements(user)).badges.keys()]
      const activity = await new ActivityFeed(open().db).list(50, null)
      const wins = activity.filter(({ userId, type }) => userId === user && type === 'big_win')
      return { all, xp, opened, days, badges, wins }
    }
    const each = await live(() => season.settle())
    const together = await live(async () => undefined)
    expect(each).toEqual(together)
    expect(together).toMatchObject({ opened: 1, days: 1, xp: 60, badges: ['first_whistle'], wins: [] })
    expect(together.all).toMatchObject({ closed: 1, wins: 0, pnl: u(-20), baseMoves: u(-20) })
  })

  it('owners are notified of system closes, warnings and settlement', async () => {
    const user = await season.player()
    const match = await season.match()
    const [stopped, held, kept] = [await match.open(user), await match.open(user), await match.open(user)]
    await match.commit([{ kind: 'margin_warned', position: { ...stopped, warned: 50 } }])
    await match.close(stopped, 195, 'stop_loss')
    await match.commit([match.closed(held, 201, 'full_time'), match.closed(kept, 201, 'full_time')])
    await season.settle()
    const types = (await typesOf(user)).filter(([type]) => type !== 'badge' && type !== 'level')
    expect(types).toEqual([
      ['settlement', 2],
      ['position_closed', 'stop_loss'],
      ['margin_warning', 50],
    ])
  })

  it('notifications are read one by one or all at once, only by their owner', async () => {
    const [user, other] = [await season.player(), await season.player()]
    const match = await season.match()
    await match.close(await match.open(user), 201)
    await season.settle()
    const [first] = (await inbox.list(user, ALL)).notifications
    expect(first).toMatchObject({ read: false })
    const id = first?.id ?? 0
    const unread = await inbox.unreadCount(user)
    expect(await inbox.read(other, id, world.now())).toBe(false)
    expect([await inbox.read(user, id, world.now()), await inbox.read(user, id, world.now())]).toEqual([true, true])
    expect(await inbox.unreadCount(user)).toBe(unread - 1)
    expect((await inbox.list(user, { ...ALL, unreadOnly: true })).notifications.map((n) => n.id)).not.toContain(id)
    expect((await inbox.list(user, { ...ALL, before: id })).notifications.every((n) => n.id < id)).toBe(true)
    expect([await inbox.readAll(user, world.now()), await inbox.unreadCount(user)]).toEqual([unread - 1, 0])
  })

  it('big wins, washouts and badges appear in the activity of all users and of the district', async () => {
    const user = await season.player()
    const match = await season.match()
    await match.close(await match.open(user, { lots: 20 }), 206)
    await match.close(await match.open(user), 180, 'washout')
    await season.settle()
    const { district_id: district } = await open()
      .db.selectFrom('users')
      .select('district_id')
      .where('id', '=', user)
      .executeTakeFirstOrThrow()
    const feed = new ActivityFeed(open().db)
    const mine = async (of: Parameters<typeof feed.list>[1]) =>
      (await feed.list(50, of)).filter((e) => e.userId === user && e.type !== 'badge')
    expect((await mine(null)).map(({ type, text }) => [type, text])).toEqual([
      ['washout', 'was washed out long on A. Striker'],
      ['big_win', 'won 600.00 long on A. Striker'],
    ])
    expect(await mine(districtId(district))).toHaveLength(2)
    expect(await mine(districtId(district + 1))).toHaveLength(0)
  })

  describe('referrals', () => {
    /** For each count, opens and closes that many positions, then waits for another day. */
    const tradeFor = async (user: UserId, ...closes: readonly number[]) => {
      const match = await season.match()
      for (const many of closes) {
        for (let n = 0; n < many; n++) await match.close(await match.open(user), 201)
        await season.settle()
        clock.now += 24 * HOUR_MS
      }
    }

    it("[R10] the friend's first trade credits the referrer once, in a transaction that sums to zero", async () => {
      const [referrer, referee] = [await season.player(), await season.player()]
      await season.refer(referrer, referee)
      const invites = new Invites(open().db, world)
      const state = async () => {
        const { sums, referrals: listed } = await invites.list(referrer)
        return [sums.registered, sums.credited, listed[0]?.creditedAt !== null]
      }
      const practice = await season.match({ purse: 'practice' })
      await practice.open(referee)
      await season.settle()
      expect(await state()).toEqual([1, 0, false])
      const match = await season.match()
      const held = await match.open(referee)
      await season.settle()
      expect(await state()).toEqual([1, 1, true])
      await match.close(held, 210)
      await match.open(referee)
      await season.settle()
      expect(await season.wallets.find(referrer)).toMatchObject({ balance: STARTING_BALANCE + u(100) })
      await season.booksBalance()
      expect(await typesOf(referrer)).toContainEqual(['referral_credited', undefined])
      expect(await season.careers.find(referrer)).toMatchObject({ referrals: 1, opened: 0 })
      expect((await invites.list(referrer)).referrals).toMatchObject([{ reward: u(100), name: null }])
    })

    it('[R10] a credit that is late is booked when it is paid: the ledger behind may be closed', async () => {
      const [referrer, referee] = [await season.player(), await season.player()]
      await season.refer(referrer, referee)
      const [match, traded] = [await season.match(), clock.now]
      await match.open(referee)
      clock.now += 2 * HOUR_MS
      await season.settle()
      const { rows } = await sql<{ booked: Date; credited: Date }>`
        select e.at as booked, r.credited_at as credited from ledger_entries e join referrals r on r.referee_id = e.reference
         where e.user_id = ${referrer} and e.kind = 'referral'`.execute(open().db)
      expect(rows).toHaveLength(1)
      expect(rows[0]?.booked.getTime()).toBeGreaterThanOrEqual(clock.now)
      expect(rows[0]?.credited.getTime()).toBeLessThan(traded + HOUR_MS)
    })

    it('[R10] a first trade that is void in the end was one, however its commits are grouped', async () => {
      for (const isApart of [true, false]) {
        const [referrer, referee] = [await season.player(), await season.player()]
        await season.refer(referrer, referee)
        const match = await season.match()
        const held = await match.open(referee)
        if (isApart) await season.settle()
        await match.close(held, 210, 'void')
        await season.settle()
        expect((await new Invites(open().db, world).list(referrer)).sums).toMatchObject({ credited: 1 })
      }
    })

    it('[R10] matches that a friend trades at once, reacted to at once, credit once', async () => {
      for (let round = 0; round < 5; round++) {
        const [referrer, referee] = [await season.player(), await season.player()]
        await season.refer(referrer, referee)
        for (let n = 0; n < 4; n++) await (await season.match()).open(referee)
        const terms = { closesMin: 0, daysMin: 0, weeklyMax: 10 }
        const reacting = () => season.outbox.react((commits, effects) => react(commits, effects, terms))
        const swept = () => season.outbox.later((effects) => creditWaiting(effects, world.now(), terms))
        await Promise.all([reacting(), reacting(), swept(), reacting(), reacting(), swept()])
        await season.settle()
        await swept()
        expect(await season.wallets.find(referrer)).toMatchObject({ balance: STARTING_BALANCE + u(100) })
        expect(await season.careers.find(referrer)).toMatchObject({ referrals: 1 })
      }
    })

    it('[R10] operators may ask for more: closes, and on several days', async () => {
      const [referrer, referee] = [await season.player(), await season.player()]
      await season.refer(referrer, referee)
      const match = await season.match()
      const terms = { closesMin: 2, daysMin: 2, weeklyMax: 10 }
      const credited = async () => {
        for (;;) {
          const reacted = await season.outbox.react((commits, effects) => react(commits, effects, terms))
          if (reacted === null) return (await new Invites(open().db, world).list(referrer)).sums.credited
        }
      }
      for (let n = 0; n < 3; n++) await match.close(await match.open(referee), 210)
      expect(await credited()).toBe(0)
      clock.now += 24 * HOUR_MS
      await match.open(referee)
      expect(await credited()).toBe(0)
      await match.close(await match.open(referee), 210)
      expect(await credited()).toBe(1)
    })

    it('[R10] a referrer has at most ten credits a week; the rest are credited in the next, though their trades were void', async () => {
      const referrer = await season.player()
      clock.now = weekOf(world.now()).endsAt + HOUR_MS
      const friends = await Promise.all(Array.from({ length: 12 }, () => season.player()))
      for (const friend of friends) await season.refer(referrer, friend)
      const match = await season.match()
      const held = await Promise.all(friends.map((friend) => match.open(friend)))
      await season.settle()
      for (const each of held) await match.close(each, 200, 'void')
      await season.settle()
      const terms = { closesMin: 0, daysMin: 0, weeklyMax: 10 }
      const credited = async () => {
        await season.outbox.later((effects) => creditWaiting(effects, world.now(), terms))
        return (await new Invites(open().db, world).list(referrer)).sums.credited
      }
      expect(await credited()).toBe(10)
      clock.now = weekOf(world.now()).endsAt - 1
      expect(await credited()).toBe(10)
      clock.now += 1
      expect([await credited(), await credited()]).toEqual([12, 12])
      expect(await season.careers.find(referrer)).toMatchObject({ referrals: 12 })
      expect(await season.wallets.find(referrer)).toMatchObject({ balance: STARTING_BALANCE + u(1_200) })
    })

    it('[R10] a balance changed from outside in the fast store is adopted and booked before the credit', async () => {
      const [referrer, referee] = [await season.player(), await season.player()]
      await season.refer(referrer, referee)
      await season.fast.putIfNewer(
        keys.wallet(referrer),
        { balance: '10007', timeline: season.cache.timeline ?? '' },
        0,
        60_000,
      )
      await tradeFor(referee, 1)
      expect(await season.wallets.find(referrer)).toMatchObject({ balance: u(10_107) })
      await season.booksBalance()
    })

    it('[R10] neither is more than the bound, nor a balance of another timeline', async () => {
      season.cache.boundBy(() => money(u(10_000)))
      for (const changed of [
        { balance: '20000.01', timeline: season.cache.timeline ?? '' },
        { balance: '10007', timeline: 'former' },
      ]) {
        const [referrer, referee] = [await season.player(), await season.player()]
        await season.refer(referrer, referee)
        await season.fast.putIfNewer(keys.wallet(referrer), changed, 0, 60_000)
        await tradeFor(referee, 1)
        expect(await season.wallets.find(referrer)).toMatchObject({ balance: u(10_100) })
        await season.booksBalance()
      }
      season.cache.boundBy(() => ADOPTION_MAX)
    })

    it('totals cover all referrals, though the list shows the latest thousand', async () => {
      const [me, other] = [await season.player(), await season.player()]
      await sql`insert into referrals (id, referrer_id, name, code, created_at)
                select gen_random_uuid(), ${me}::uuid, 'Guest', ${me}::text || n, now()
                  from generate_series(1, 1001) n`.execute(open().db)
      await season.refer(me, other)
      await tradeFor(other, 1)
      const { referrals, sums } = await new Invites(open().db, world).list(me)
      expect(referrals).toHaveLength(1_000)
      expect(sums).toEqual({ invited: 1_002, registered: 1, credited: 1, rewards: u(100) })
    })

    it('of more than 200 open invites none is made, however many are asked for at once', async () => {
      const me = await season.player()
      await sql`insert into referrals (id, referrer_id, name, code, created_at)
                select gen_random_uuid(), ${me}::uuid, 'Guest', ${me}::text || n, now()
                  from generate_series(1, 195) n`.execute(open().db)
      const invites = new Invites(open().db, world)
      const made = await Promise.all(Array.from({ length: 20 }, () => invites.invite(me, 'Grace')))
      expect(made.filter((one) => one !== null)).toHaveLength(5)
    })

    it('invites have their own codes; the network shows referrals both ways', async () => {
      const [referrals, invites] = [new Referrals(open().db, world), new Invites(open().db, world)]
      const [me, mine, stranger] = [await season.player(), await season.player(), await season.player()]
      const invite = await invites.invite(me, 'Grace')
      expect(invite).toMatchObject({ name: 'Grace', registeredAt: null })
      expect(await referrals.find(invite?.code ?? '')).toMatchObject({ referrerId: me })
      const { ownCode } = await invites.list(me)
      expect(await referrals.find(ownCode)).toMatchObject({ referrerId: me })
      expect(await referrals.find('nonsense')).toBeNull()
      await season.refer(me, mine)
      expect([await invites.isReferred(mine), await invites.isReferred(me)]).toEqual([true, false])
      expect(new Set(await referrals.network(me))).toEqual(new Set([me, mine]))
      expect(new Set(await referrals.network(mine))).toEqual(new Set([me, mine]))
      expect(await referrals.network(stranger)).toEqual([stranger])
    })
  })

  describe('the boards', () => {
    it('[R9] a user is ranked from the first close on, and after every other', async () => {
      const user = await season.player()
      const match = await season.match()
      const [one, two] = [await match.open(user), await match.open(user)]
      await season.settle()
      expect(await season.boards.main.place(roi, user)).toBeNull()
      await match.close(one, 220)
      await season.settle()
      expect(await season.boards.main.place(roi, user)).toMatchObject({
        standing: { pnl: u(100), baseMoves: u(100), stake: u(100), wins: 1, closed: 1 },
      })
      await match.close(two, 190)
      await season.settle()
      expect(await season.boards.main.place(roi, user)).toMatchObject({
        standing: { pnl: u(50), baseMoves: u(50), stake: u(200), wins: 1, closed: 2 },
      })
    })

    it('[R5] throw-away accounts that push the price lift a friend in profit, not in return', async () => {
      const [friend, fair, pushed] = [await season.player(), await season.player(), await season.player()]
      const match = await season.match()
      const of = { lots: 10 }
      await match.close(await match.open(friend, of), 202, 'user', 200)
      await match.close(await match.open(pushed, of), 199, 'user', 200)
      await match.close(await match.open(fair), 201)
      await season.settle()
      const [lifted, honest] = [await season.boards.main.place(roi, friend), await season.boards.main.place(roi, fair)]
      expect(lifted?.standing).toMatchObject({ pnl: u(100), baseMoves: 0 })
      expect(honest?.rank).toBeLessThan(lifted?.rank ?? 0)
      const byPnl = { by: 'pnl', districtId: null } as const
      expect((await season.boards.main.place(byPnl, friend))?.rank).toBeLessThan(
        (await season.boards.main.place(byPnl, fair))?.rank ?? 0,
      )
    })

    it('[R5] the floor keeps a lucky cent behind, and a change of it re-ranks everybody', async () => {
      const [lucky, skilled] = [await season.player(), await season.player()]
      const match = await season.match()
      await match.close(await match.open(lucky, { lots: 0.05 }), 300)
      await match.close(await match.open(skilled, { lots: 30 }), 210)
      await season.settle()
      const ranks = async () => {
        const places = [await season.boards.main.place(roi, lucky), await season.boards.main.place(roi, skilled)]
        return places.map((place) => place?.rank ?? 0)
      }
      const [first, second] = await ranks()
      expect(first).toBeLessThan(second ?? 0)
      floor = money(u(50_000))
      await season.keeper.show()
      const [third, fourth] = await ranks()
      expect(fourth).toBeLessThan(third ?? 0)
      expect((await season.boards.main.districts()).reduce((sum, { roiPpmSum }) => sum + roiPpmSum, 0)).toBe(
        (await season.boards.main.top(roi, 500)).entries.reduce((sum, { standing }) => sum + roiPpm(standing), 0),
      )
      // So does one while no process ran.
      floor = money(0)
      const { boards, careers } = season
      await new BoardKeeper({ boards, careers, roiFloor: () => floor }).show()
      expect(await ranks()).toEqual([first, second])
    })

    it('[R9] standings that could not be written to the boards are caught up, and lost boards are rebuilt', async () => {
      const user = await season.player()
      const match = await season.match()
      await match.close(await match.open(user), 220)
      await season.reactor.drain()
      const before = await season.boards.main.place(roi, user)
      await season.keeper.show()
      expect([before, await season.boards.main.place(roi, user)]).toMatchObject([null, { standing: { userId: user } }])
      await season.boards.main.close()
      await expect(season.boards.main.place(roi, user)).rejects.toThrow(BoardsUnbuilt)
      await season.keeper.show()
      expect(await season.boards.main.place(roi, user)).toMatchObject({ standing: { userId: user } })
    })

    it('[R15] practice counts on the practice boards alone', async () => {
      const [user, friend] = [await season.player(), await season.player()]
      await season.refer(friend, user)
      const match = await season.match({ purse: 'practice' })
      for (let n = 0; n < 6; n++) {
        clock.now += 8 * HOUR_MS
        await match.close(await match.open(user, { lots: 5 }), 300, n === 5 ? 'washout' : 'user')
      }
      await season.settle()
      const { practice, ...rest } = await season.careers.find(user)
      expect(rest).toEqual({ ...NEW_CAREER, practice: undefined })
      expect(practice).toMatchObject({ closed: 6, wins: 5 })
      expect((await season.careers.achievements(user)).badges.size).toBe(0)
      expect(await season.boards.main.place(roi, user)).toBeNull()
      expect(await season.boards.practice.place(roi, user)).toMatchObject({ standing: { closed: 6 } })
      const { db } = open()
      const of = (table: string) => sql.raw(`select * from ${table} where user_id = '${user}'`).execute(db)
      for (const table of ['trade_days', 'user_badges', 'activity', 'week_scores']) {
        expect((await of(table)).rows, table).toEqual([])
      }
      expect((await sql.raw(`select xp from users where id = '${user}'`).execute(db)).rows).toEqual([{ xp: 0 }])
      const { sums } = await new Invites(db, world).list(friend)
      expect(sums).toMatchObject({ registered: 1, credited: 0 })
      const { notifications } = await inbox.list(user, { limit: 50, unreadOnly: false, before: null })
      const titles = notifications.map(({ title }) => title)
      expect(titles).toEqual(['Practice: Washed out'])
    })

    it('[R15] a user who trades with both purses is on the boards of both, each with its own figures', async () => {
      const user = await season.player()
      const [recorded, match] = [await season.match({ purse: 'practice' }), await season.match()]
      await recorded.close(await recorded.open(user), 220)
      await match.close(await match.open(user), 190)
      await season.settle()
      expect(await season.boards.main.place(roi, user)).toMatchObject({ standing: { pnl: u(-50), closed: 1 } })
      expect(await season.boards.practice.place(roi, user)).toMatchObject({ standing: { pnl: u(100), closed: 1 } })
      await season.keeper.rebuild()
      expect(await season.boards.main.place(roi, user)).toMatchObject({ standing: { pnl: u(-50), closed: 1 } })
      expect(await season.boards.practice.place(roi, user)).toMatchObject({ standing: { pnl: u(100), closed: 1 } })
    })
  })

  it('[R4] a rebuild from the history equals what the reactions wrote at the time', async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => season.player()))
    const [referrer, referee] = users
    if (referrer === undefined || referee === undefined) throw new Error('no users')
    await season.refer(referrer, referee)
    const matches = [await season.match(), await season.match({ purse: 'practice' }), await season.match()]
    for (let round = 0; round < 5; round++) {
      clock.now += 31 * HOUR_MS
      for (const [n, match] of matches.entries()) {
        const opened = await Promise.all(
          users.slice(n).map((user, i) => match.open(user, { lots: 1 + i, direction: i % 2 ? 'long' : 'short' })),
        )
        const by = ['user', 'stop_loss', 'washout', 'full_time', 'void'] as const
        await match.commit(
          opened.map((position, i) => match.closed(position, 190 + 7 * ((i + round) % 4), by[(i + n) % 5] ?? 'user')),
        )
      }
      // Reactions are sometimes half a round late.
      if (round % 2 === 0) await season.settle()
    }
    await matches[0]?.settle()
    await season.settle()
    const lived = await everything()
    await season.outbox.forget()
    await season.keeper.rebuild()
    expect((await season.boards.main.top(roi, 500)).total).toBe(0)
    await season.settle()
    expect(await everything()).toEqual(lived)
  })

  it('[R4] a rebuild brings back no notice that is too old, nor any of a user who has been erased', async () => {
    const { db } = open()
    const [early, erased, late] = [await season.player(), await season.player(), await season.player()]
    const washOut = async (user: UserId) => {
      const match = await season.match()
      await match.close(await match.open(user), 100, 'washout')
      await season.settle()
    }
    await washOut(early)
    clock.now += 366 * 24 * HOUR_MS
    await washOut(erased)
    await washOut(late)
    const told = async () => {
      const { rows } = await sql<{ user_id: string }>`
        select distinct user_id from notifications
         where user_id in (${early}::uuid, ${erased}::uuid, ${late}::uuid)`.execute(db)
      return rows.map((row) => row.user_id).toSorted()
    }
    expect(await told()).toEqual([early, erased, late].toSorted())
    const shown = await sql`select from activity`.execute(db)
    expect(shown.rows.length).toBeGreaterThan(0)
    // As retention and erasure leave it.
    await sql`truncate notifications, activity cascade`.execute(db)
    await sql`update users set erased_at = now() where id = ${erased}::uuid`.execute(db)
    await season.outbox.forget()
    await season.settle()
    expect(await told()).toEqual([late])
    const { rows } = await sql<{ user_id: string }>`select distinct user_id from activity`.execute(db)
    expect(rows.map((row) => row.user_id)).toEqual([late])
    await sql`update users set erased_at = null`.execute(db)
  })

  /** Every read model, without its change counters. */
  async function everything() {
    const { db } = open()
    const rows = async (query: string) => (await sql.raw<Record<string, unknown>>(query).execute(db)).rows
    const careers = await rows('select * from careers where opened + referrals + practice_closed > 0 order by user_id')
    const top = await season.boards.main.top(roi, 500)
    const practice = await season.boards.practice.top(roi, 500)
    return {
      careers: careers.map(withoutVersion),
      xp: await rows('select id, xp from users order by id'),
      days: await rows('select * from trade_days order by user_id, day, what'),
      badges: await rows('select * from user_badges order by user_id, badge'),
      weeks: await rows('select * from week_scores order by week, user_id'),
      notifications: await rows('select source, user_id, type, title, body, data from notifications order by source'),
      activity: await rows('select source, user_id, type, text, data from activity order by source'),
      ledger: await rows(
        "select reference, amount_micros from ledger_entries where kind = 'referral' order by reference, account",
      ),
      board: top.entries.map(({ rank, standing }) => [rank, withoutVersion(standing)]),
      practice: practice.entries.map(({ rank, standing }) => [rank, withoutVersion(standing)]),
    }
  }
})

const withoutVersion = (of: object) => ({ ...of, version: null })
