import { createHash, createHmac } from 'node:crypto'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import type { UserId } from '../../actors/kernel/ids.ts'
import { decimal, money, type Price } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { drawn, drawText, type DrawTerms } from '../../actors/community/spinner.ts'
import { weekAfter, weekOf } from '../../actors/kernel/calendar.ts'
import type { ClosedBy } from '../../actors/position/position.ts'
import { Inbox } from '../../src/features/notifications/store.ts'
import { react } from '../../src/reactions/react.ts'
import { type DrawOptions, Spinner, type SpinnerRun, type SpinnerWeek } from '../../src/features/spinner/store.ts'
import { systemWorld } from '../../src/system-world.ts'
import { eachDatabase } from '../support/databases.ts'
import { p, u } from '../support/fixtures.ts'
import { seasonOn } from '../support/season.ts'

const GRACE_MS = MINUTE_MS

eachDatabase((open) => {
  // A Wednesday, in the middle of a week.
  const clock = { now: Date.UTC(2027, 2, 3, 12) }
  const world = systemWorld(() => clock.now)
  const ANYBODY: DrawTerms = { closesMin: 1, playersMin: 1, roiFloor: money(0) }
  let terms = ANYBODY
  const options: DrawOptions = { terms: () => terms }
  const season = seasonOn(open, world)
  let spinner: Spinner

  beforeAll(async () => {
    spinner = new Spinner(open().db, world, options)
  })

  // Each test uses its own week.
  beforeEach(() => {
    terms = ANYBODY
    clock.now = weekAfter(weekOf(world.now())).endsAt + HOUR_MS
  })

  /** A user who has closed one position at this price, opened at 200. */
  const trades = async (price: number) => {
    const [user, match] = [await season.player(), await season.match()]
    await match.close(await match.open(user), price)
    await season.reactor.drain()
    return user
  }
  const weekIsOver = (later = GRACE_MS) => {
    clock.now = weekOf(world.now()).endsAt + later
  }
  const decided = (run: SpinnerRun): SpinnerWeek => {
    if (run.kind !== 'decided') throw new Error('not decided')
    return run.week
  }

  it('[C2] a frozen user wins no draw', async () => {
    const [best, second] = [await trades(230), await trades(220)]
    await sql`update users set status = 'frozen' where id = ${best}`.execute(open().db)
    weekIsOver()
    expect(decided(await spinner.run())).toMatchObject({ winner: { userId: second } })
  })

  it('[R11] the best ROI of the week wins and is notified, however often the decision is run', async () => {
    const [second, best] = [await trades(210), await trades(220)]
    expect(await spinner.current()).toMatchObject({ status: 'open', candidates: [{ userId: best }], seed: null })
    weekIsOver()
    const runs = await Promise.all([spinner.run(), spinner.run(), spinner.run()])
    expect(new Set(runs.map((run) => JSON.stringify(decided(run)))).size).toBe(1)
    expect(decided(await spinner.run())).toMatchObject({
      status: 'decided',
      winner: { userId: best, roiHundredths: 10_000 },
    })
    const { notifications } = await new Inbox(open().db).list(best, { limit: 9, unreadOnly: false, before: null })
    expect(notifications.filter(({ type }) => type === 'spinner')).toHaveLength(1)
    expect(runs.flatMap((run) => (run.kind === 'decided' ? run.notifications : []))).toHaveLength(1)
    expect(second).not.toBe(best)
  })

  it('[R11] a week that is over is decided without a call, once', async () => {
    const user = await trades(220)
    await spinner.prepare()
    await spinner.run() // the weeks of other tests
    expect(await spinner.runIfDue()).toBeNull()
    weekIsOver(0)
    expect(await spinner.runIfDue()).toMatchObject({ kind: 'counting' })
    clock.now += GRACE_MS
    expect(await spinner.runIfDue()).toMatchObject({ week: { winner: { userId: user } }, notifications: [{}] })
    expect(await spinner.runIfDue()).toBeNull()
  })

  it('[R12] a tie is drawn with the seed whose hash was published before', async () => {
    const users = [await trades(220), await trades(220), await trades(220)]
    await trades(219)
    const before = await spinner.current()
    expect(before).toMatchObject({ status: 'tied', seed: null })
    expect(before.candidates.map((one) => one.userId).toSorted()).toEqual(users.toSorted())
    weekIsOver()
    const { previous } = await spinner.current()
    expect(previous).toMatchObject({ status: 'tied', seed: null, seedHash: before.seedHash })
    const week = decided(await spinner.run())
    expect(users).toContain(week.winner?.userId)
    expect(
      createHash('sha256')
        .update(week.seed ?? '')
        .digest('hex'),
    ).toBe(before.seedHash)
    expect((await spinner.history(1))[0]).toEqual(week)
    expect(await verify([week])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('the operator could have known the draw'),
    })
    expect(await verify([{ ...week, seed: 'another' }])).toMatchObject({ code: 1 })
    const loser = week.candidates.find((one) => one.userId !== week.winner?.userId) ?? null
    expect(await verify([{ ...week, winner: loser }])).toMatchObject({ code: 1 })
    const endsAt = weekOf(week.startsAt).endsAt
    expect(await verify([{ ...week, publishedAt: endsAt }])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('THE SEED WAS PUBLISHED AFTER THE WEEK'),
    })
    const before1 = instant(endsAt - 1)
    expect(await verify([{ ...week, publishedAt: before1 }])).toMatchObject({ code: 0 })
    expect(await verify([week], '--noted', `${week.name}:${week.seedHash}`)).toMatchObject({ code: 0 })
    expect(await verify([week], '--noted', `${week.name}:${'0'.repeat(64)}`)).toMatchObject({ code: 1 })
    const other = await verify([week], '--noted', `2026-W01:${week.seedHash}`)
    expect(other).toMatchObject({ code: 1, stdout: expect.stringContaining('2026-W01: IS NOT AMONG THE DRAWS') })
    const hidden = await verify([{ ...week, seed: null, winner: null }])
    expect(hidden).toMatchObject({ code: 1, stdout: expect.stringContaining('PROMISED IS NOT SHOWN') })
  })

  it('[R12] the bases at which the last live match of the week settled decide a tie, too', async () => {
    const users = [await trades(220), await trades(220), await trades(220)]
    const settle = async (minutesAgo: number, base: number, practice = false) => {
      const match = await season.match(practice ? { purse: 'practice' } : {})
      const held = await match.open(await season.player())
      const { instrumentId } = held
      await match.close(held, 200)
      await open()
        .db.insertInto('ticks')
        .values({
          instrument_id: instrumentId,
          at: new Date(clock.now - minutesAgo * MINUTE_MS),
          price_micros: u(base + 1),
          base_micros: u(base),
          imbalance_micros: 0,
          cause: 'settlement',
          provider_event_id: 0,
        })
        .execute()
      return instrumentId
    }
    await spinner.prepare()
    clock.now += HOUR_MS
    await settle(2, 150)
    const last = await settle(1, 212.5)
    await settle(0, 99, true)
    weekIsOver()
    await season.reactor.drain()
    const week = decided(await spinner.run())
    expect(week.bases).toEqual([{ instrumentId: last, base: u(212.5) }])
    expect(users).toContain(week.winner?.userId)
    expect(await verify([week])).toMatchObject({ code: 0, stdout: expect.not.stringContaining('could have known') })
    const drawnWith = (base: Price) => {
      const message = drawText(week.name, users, [{ instrumentId: last, base }])
      return drawn(
        createHmac('sha256', week.seed ?? '')
          .update(message)
          .digest('hex'),
        users,
      )
    }
    const other = Array.from({ length: 60 }, (_, n) => p(213 + n)).find(
      (base) => drawnWith(base) !== week.winner?.userId,
    )
    const altered = { ...week, bases: [{ instrumentId: last, base: other ?? p(1) }] }
    expect(await verify([altered])).toMatchObject({ code: 1 })
    expect(await verify([{ ...week, bases: [] }])).toMatchObject({
      stdout: expect.stringMatching(/ANOTHER|could have/),
    })
  })

  it('[R12] no seed is made after the week: a sole leader still wins, a tie has no winner', async () => {
    const forget = () => sql`delete from spinner_weeks`.execute(open().db)
    const leader = await trades(220)
    weekIsOver()
    await forget()
    const sole = decided(await spinner.run())
    expect(sole).toMatchObject({ winner: { userId: leader }, seed: null, seedHash: null, publishedAt: null })
    expect(await verify([sole])).toMatchObject({ code: 0, stdout: expect.stringContaining('no draw was needed') })

    clock.now += HOUR_MS
    await trades(220)
    await trades(220)
    weekIsOver()
    await forget()
    const tied = decided(await spinner.run())
    expect(tied).toMatchObject({ winner: null, seed: null, candidates: [{}, {}] })
    expect(await verify([tied])).toMatchObject({ code: 0, stdout: expect.stringContaining('no user was drawn') })
    const [chosen = null] = tied.candidates
    expect(await verify([{ ...tied, winner: chosen }])).toMatchObject({ code: 1 })
    const late = sql`update spinner_weeks set seed = 'mine', seed_hash = 'its', published_at = decided_at`
    await expect(late.execute(open().db)).rejects.toThrow('spinner_weeks')
  })

  it('a week without a close is decided without a winner', async () => {
    await spinner.prepare()
    weekIsOver()
    expect(decided(await spinner.run())).toMatchObject({ status: 'decided', candidates: [], winner: null })
  })

  it('[R11] a position belongs to the week in which it was opened, to the millisecond', async () => {
    weekIsOver(-1)
    const late = await trades(230)
    clock.now += 1
    const early = await trades(240)
    clock.now += GRACE_MS
    expect(decided(await spinner.run())).toMatchObject({ winner: { userId: late } })
    expect(await spinner.current()).toMatchObject({ candidates: [{ userId: early }] })
  })

  it('[R11] the week is not decided while closes may still be committed or counted', async () => {
    const [user, match] = [await season.player(), await season.match()]
    await match.close(await match.open(user), 220)
    const late = match.position(user)
    weekIsOver(GRACE_MS - 1)
    expect(await spinner.run()).toEqual({ kind: 'counting', retryAfterSecs: 1 })
    clock.now += 1
    expect(await spinner.run()).toEqual({ kind: 'counting', retryAfterSecs: 2 })
    await season.reactor.drain()
    expect(decided(await spinner.run())).toMatchObject({ winner: { userId: user } })
    // Once it is decided, it stays so whatever comes late.
    await match.commit([{ kind: 'position_opened', position: late }])
    expect(await spinner.run()).toMatchObject({ kind: 'decided' })
    await match.close(late, 190)
    expect(decided(await spinner.run())).toMatchObject({ winner: { userId: user } })
    await season.reactor.drain()
  })

  it('[R11] a position opened in the week counts there however late it closes, and the draw waits for it', async () => {
    const [user, match] = [await season.player(), await season.match()]
    const [one, two] = [await match.open(user), await match.open(user)]
    await match.close(one, 220)
    weekIsOver()
    await season.reactor.drain()
    expect(await spinner.run()).toMatchObject({ kind: 'counting' })
    await match.close(two, 190)
    expect(await spinner.run()).toMatchObject({ kind: 'counting' })
    clock.now += GRACE_MS
    expect(await spinner.run()).toMatchObject({ kind: 'counting' })
    await season.reactor.drain()
    expect(decided(await spinner.run())).toMatchObject({ winner: { userId: user, closed: 2, roiHundredths: 2_500 } })
    expect(await spinner.current()).toMatchObject({ candidates: [] })
  })

  it('[R11] the draw waits for a close that was set aside, until an operator has retried it', async () => {
    const [user, match] = [await season.player(), await season.match()]
    const held = await match.open(user)
    await season.reactor.drain()
    await match.close(held, 220)
    weekIsOver()
    const poisoned = async () => {
      throw new Error('poison')
    }
    let aside: number | null = null
    while (aside === null) {
      await sql`update outbox_cursors set retry_at = '-infinity'`.execute(open().db)
      const reacted = await season.outbox.react(poisoned)
      if (reacted?.kind === 'failed') aside = reacted.setAside
    }
    expect(await spinner.run()).toMatchObject({ kind: 'counting' })
    await season.outbox.retry(match.id, aside, react)
    expect(decided(await spinner.run())).toMatchObject({ winner: { userId: user } })
  })

  it('[R11] practice delays no draw, and has no share in it', async () => {
    const [user, match] = [await season.player(), await season.match({ purse: 'practice' })]
    await match.close(await match.open(user), 220)
    const held = await match.open(user)
    weekIsOver()
    expect(decided(await spinner.run())).toMatchObject({ winner: null })
    await match.close(held, 200)
    await season.reactor.drain()
  })

  it('[R13] the draw asks for closes on several players; a lucky one and a void one are not enough', async () => {
    terms = { closesMin: 4, playersMin: 3, roiFloor: money(u(50_000)) }
    const matches = [await season.match(), await season.match(), await season.match()]
    const trade = async (user: UserId, on: number, price: number, by: ClosedBy = 'user') => {
      const match = matches[on]
      if (match !== undefined) await match.close(await match.open(user), price, by)
    }
    const [regular, lucky, lazy, voided] = [
      await season.player(),
      await season.player(),
      await season.player(),
      await season.player(),
    ]
    for (const on of [0, 1, 2, 2]) await trade(regular, on, 204)
    await trade(lucky, 0, 300)
    for (const on of [0, 1, 1, 1, 1]) await trade(lazy, on, 210)
    for (const on of [0, 1, 2]) await trade(voided, on, 210)
    await trade(voided, 2, 210, 'void')
    await season.reactor.drain()
    expect(await spinner.current()).toMatchObject({
      status: 'open',
      candidates: [{ userId: regular, closed: 4, roiHundredths: 16 }],
    })
    terms = { ...terms, roiFloor: money(0) }
    expect(await spinner.current()).toMatchObject({ candidates: [{ userId: regular, roiHundredths: 2_000 }] })
  })

  it('[R13] what the crowd pays wins no draw', async () => {
    terms = ANYBODY
    const [friend, fair, match] = [await season.player(), await season.player(), await season.match()]
    await match.close(await match.open(friend), 220, 'user', 200)
    await match.close(await match.open(fair), 201)
    await season.reactor.drain()
    expect(await spinner.current()).toMatchObject({ candidates: [{ userId: fair }] })
  })

  it('[R13] the leaders of ten thousand users are found', async () => {
    const { db } = open()
    const week = weekOf(world.now())
    await sql`
      insert into users (id, google_sub, email, name, username, first_name, district_id, referral_code, created_at)
        select gen_random_uuid(), 'bulk-' || n, 'bulk-' || n || '@example.org', 'Bulk', 'bulk_' || n, 'Bulk', 1, 'bulk-' || n, now()
          from generate_series(1, 10000) n`.execute(db)
    await sql`
      insert into week_scores
        select ${week.name}::text, id, 10 + n % 7, 5, n * 1000000, (n % 5000) * 1000000, n * 1000000,
               array(select gen_random_uuid() from generate_series(1, 3 + n % 3))
          from (select id, substr(username, 6)::bigint as n from users where username like 'bulk\_%') b`.execute(db)
    terms = { closesMin: 10, playersMin: 3, roiFloor: money(u(5_000)) }
    const leaders = (await spinner.current()).candidates
    const found = leaders.map(({ username, roiHundredths }) => [username, roiHundredths])
    expect(found).toEqual([['bulk_4999', 9_998]])
  })

  it('after an outage at the end of a week, all missed weeks are decided by their promised seeds', async () => {
    const user = await trades(220)
    await spinner.prepare()
    const { seedHash, name } = await spinner.current()
    const next = weekAfter(weekOf(world.now()))
    clock.now = next.endsAt + HOUR_MS
    expect(decided(await spinner.run())).toMatchObject({ name: next.name, winner: null })
    const [latest, missed] = await spinner.history(2)
    expect(latest).toMatchObject({ name: next.name, publishedAt: expect.toSatisfy((at: number) => at < next.startsAt) })
    expect(missed).toMatchObject({ name, seedHash, winner: { userId: user } })
  })

  it('[R34] shows a week and the one before it, also while the week turns', async () => {
    await spinner.prepare()
    weekIsOver()
    await spinner.prepare()
    const turn = weekOf(world.now()).endsAt
    for (let before = 0; before < 8; before++) {
      let readings = 0
      const turning = { ...world, now: () => instant(turn - (readings++ < before ? 1 : 0)) }
      const { previous, ...week } = await new Spinner(open().db, turning, options).current()
      expect(previous?.endsAt).toBe(week.startsAt)
    }
  })

  it('[R12] a seed is promised once, by the first process', async () => {
    await Promise.all([spinner.prepare(), new Spinner(open().db, world, options).prepare()])
    const { seedHash } = await spinner.current()
    await spinner.prepare()
    expect((await spinner.current()).seedHash).toBe(seedHash)
    const { rows } = await sql`select 1 from spinner_weeks where week = ${weekOf(world.now()).name}`.execute(open().db)
    expect(rows).toHaveLength(1)
  })
})

/** The output of the verifier for a history. */
async function verify(
  weeks: readonly SpinnerWeek[],
  ...options: string[]
): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../ops/tools/spinner-verify.ts'), ...options])
  const stdout = text(child.stdout)
  const code = new Promise<number | null>((resolve) => child.on('close', resolve))
  const shown = weeks.map(({ name, winner, seed, seedHash, publishedAt, bases, ...week }) => ({
    ...week,
    week: name,
    bases: bases.map(({ instrumentId, base }) => ({ instrumentId, base: decimal(base) })),
    ...(seed === null ? {} : { seed }),
    ...(seedHash === null ? {} : { seedHash }),
    ...(publishedAt === null ? {} : { publishedAt }),
    ...(winner === null ? {} : { winner }),
  }))
  child.stdin.end(JSON.stringify({ weeks: shown }))
  return { code: await code, stdout: await stdout }
}

describe('the spinner verifier', () => {
  it('[R12] runs without a database', async () => {
    expect(await verify([])).toEqual({ code: 0, stdout: '' })
  })
})
