/** Users' own limits, as commits obey them. */
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import type { WantedLimits } from '../../actors/kernel/own-limits.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { OwnLimitsStore } from '../../db/own-limits.ts'
import { systemWorld } from '../../src/system-world.ts'
import { codeOf } from '../support/actor-rig.ts'
import { eachDatabase } from '../support/databases.ts'
import { closeOrder, u } from '../support/fixtures.ts'
import { runningMatch, type RunningMatchOptions } from '../support/running-match.ts'
import { seasonOn } from '../support/season.ts'

eachDatabase((open) => {
  const clock = { now: Date.UTC(2026, 7, 22, 15) }
  const world = systemWorld(() => clock.now)
  const season = seasonOn(open, world)
  let matches = 0

  const limits = () => new OwnLimitsStore(open().db, world, new AuditLog(open().db, world))
  const set = (user: UserId, wanted: WantedLimits) => limits().change(user, wanted)
  const running = (before?: RunningMatchOptions['before']) =>
    runningMatch(open(), world, 89_000 + ++matches, { before })
  const dayOf = async (user: UserId) => (await limits().find(user))?.bounds

  it('[L2] excluded users close and open nothing, on every purse, until the pause ends', async () => {
    const user = await season.player()
    const { actor, order } = await running()
    const held = await actor.submit(order(user))
    if (!held.ok) throw new Error(held.refusal.code)
    const until = clock.now + HOUR_MS
    await set(user, { coolOffUntil: until })
    const [refused, other] = await Promise.all([actor.submit(order(user)), actor.submit(order(await season.player()))])
    expect(refused).toMatchObject({ ok: false, refusal: { code: 'self_excluded', until } })
    expect(other.ok).toBe(true)
    expect((await actor.submit({ ...closeOrder(held.value.position.id), userId: user })).ok).toBe(true)
    const { rows } = await sql`
      select purse, (limits -> 'coolOffUntil' ->> 'now')::bigint as until from wallets
       where user_id = ${user} order by purse`.execute(open().db)
    expect(rows).toEqual([
      { purse: 'main', until },
      { purse: 'practice', until },
    ])
    clock.now = until
    const after = await running()
    expect((await after.actor.submit(after.order(user))).ok).toBe(true)
  })

  it('[L1] what is lost today and what is at stake stay within the limit; the next day is free again', async () => {
    const user = await season.player()
    const match = await season.match()
    const position = await match.open(user, { lots: 1 })
    await match.close(position, 190)
    expect(await dayOf(user)).toMatchObject({ lostToday: u(50), atStake: 0 })
    const { actor, order } = await running()
    const one = order(user)
    const quoted = actor.quote({ ...one, stopLoss: null, takeProfit: null, means: {} })
    if (!quoted.ok) throw new Error(quoted.refusal.code)
    const { margin } = quoted.value
    await set(user, { dailyLoss: u(50) + margin - 1 })
    const refused = await actor.submit(one)
    expect(refused).toMatchObject({
      refusal: { code: 'limit_reached', lostToday: u(50), atStake: 0, required: margin, freeAt: Date.UTC(2026, 7, 23) },
    })
    const wallet = { available: money(u(9_000)), openPositions: 0, bounds: await dayOf(user) }
    const quote = actor.quote({ ...one, stopLoss: null, takeProfit: null, means: { main: wallet } })
    expect(quote).toMatchObject({ value: { refusal: { code: 'limit_reached' } } })
    clock.now = Date.UTC(2026, 7, 23, 0, 0, 1)
    expect(await dayOf(user)).toMatchObject({ lostToday: 0 })
    await set(user, { dailyLoss: Math.floor(margin * 1.5) })
    const next = await running()
    expect((await next.actor.submit(next.order(user))).ok).toBe(true)
    expect(codeOf(await next.actor.submit(next.order(user))), 'the open position is at stake').toBe('limit_reached')
    clock.now = Date.UTC(2026, 7, 24, 12)
    const third = await running()
    expect(codeOf(await third.actor.submit(third.order(user))), 'also on the day after').toBe('limit_reached')
  })

  it('[L1] of concurrent orders in several matches only as many pass as the limit allows', async () => {
    const user = await season.player()
    const all = await Promise.all(Array.from({ length: 4 }, () => running()))
    await set(user, { dailyLoss: u(10_000) })
    const [first] = all
    const quoted = first?.actor.quote({ ...first.order(user), stopLoss: null, takeProfit: null, means: {} })
    if (quoted?.ok !== true) throw new Error('no quote')
    const { margin } = quoted.value
    await set(user, { dailyLoss: Math.floor(margin * 2.5) })
    const outcomes = await Promise.all(
      all.flatMap(({ actor, order }) => [actor.submit(order(user)), actor.submit(order(user))]),
    )
    const codes = outcomes.map((outcome) => (outcome.ok ? 'ok' : codeOf(outcome)))
    expect(codes.filter((code) => code === 'ok')).toHaveLength(2)
    expect(new Set(codes.filter((code) => code !== 'ok'))).toEqual(new Set(['limit_reached']))
  })

  it('[L1] an order whose commit is under way when the limit is set does not pass', async () => {
    const user = await season.player()
    const isSet = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const { actor, order } = await running(async ({ events }) => {
      if (!events.some(({ kind }) => kind === 'position_opened')) return
      reached.resolve()
      await isSet.promise
    })
    const answer = actor.submit(order(user))
    await reached.promise
    await set(user, { dailyLoss: 0 })
    isSet.resolve()
    expect(codeOf(await answer)).toBe('limit_reached')
  })

  it('[L1] a raised limit binds after 24 hours, in the commit too', async () => {
    const user = await season.player()
    const { actor, order } = await running()
    await set(user, { dailyLoss: 0 })
    await set(user, { dailyLoss: u(9_000) })
    expect(codeOf(await actor.submit(order(user)))).toBe('limit_reached')
    clock.now += 24 * HOUR_MS
    const after = await running()
    expect((await after.actor.submit(after.order(user))).ok).toBe(true)
  })

  it('[L1] a win counts as what it is', async () => {
    const [user, match] = [await season.player(), await season.match()]
    await match.close(await match.open(user), 210)
    expect(await dayOf(user)).toMatchObject({ lostToday: u(-50) })
  })

  it('[L2] a wallet that is summed up again keeps the pause of its user', async () => {
    const user = await season.player()
    const { actor, order } = await running()
    const held = await actor.submit(order(user))
    if (!held.ok) throw new Error(held.refusal.code)
    await set(user, { excludedUntil: clock.now + 100 * HOUR_MS })
    await sql`delete from wallets where user_id = ${user} and purse = 'main'`.execute(open().db)
    expect((await actor.submit({ ...closeOrder(held.value.position.id), userId: user })).ok).toBe(true)
    expect(codeOf(await actor.submit(order(user)))).toBe('self_excluded')
  })
})
