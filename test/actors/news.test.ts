import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { playerId, type PositionId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, NEWS_OPENS_HOLD_MS, type TradingRules } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../actors/market/fixture.ts'
import { exitPrice } from '../../actors/market/instrument.ts'
import { exposureOf } from '../../actors/position/position.ts'
import { GOAL, instrument, P, p, player, record, U, u } from '../support/fixtures.ts'
import { ActorRig, codeOf, ok } from '../support/actor-rig.ts'

const HOLD_MS = DEFAULT_RULES.holdMs
const LATE_MS = DEFAULT_RULES.lateVoidMs
const NEWS_MS = DEFAULT_RULES.newsHoldMs
const SECOND_YELLOW = 85
const [GOALS, ASSISTS, YELLOW, RED, CONCEDED, ON_TARGET] = [52, 79, 84, 83, 88, 86]

/** Home: 1 scores, 3 assists, 5 is a substitute of no account. Away: keeper 2, defender 4, forward 6. */
const ROLES = { 1: 'FWD', 2: 'GK', 3: 'MID', 4: 'DEF', 5: 'MID', 6: 'FWD' } as const
const SQUAD = [1, 2, 3, 4, 5, 6] as const
type Details = Partial<Record<(typeof SQUAD)[number], Record<number, number>>>

const squad = (details: Details = {}) => SQUAD.map((n) => player(n, { role: ROLES[n], details: details[n] ?? {} }))

const row = (over: Partial<FixtureEvent>): FixtureEvent => ({ ...GOAL, result: null, ...over })
const goal = row({ id: 700, relatedPlayerId: playerId(3), result: '1-0' })
const leads = { home: { id: 1, name: 'Harbour', goals: 1 } }
const KNOWN: Details = { 1: { [GOALS]: 1 }, 2: { [CONCEDED]: 1 }, 3: { [ASSISTS]: 1 } }

const scored = (details: Details = {}): Partial<FixtureSnapshot> => ({
  ...leads,
  events: [goal],
  players: squad(details),
})
const quiet = (details: Details = {}): Partial<FixtureSnapshot> => ({ players: squad(details) })

interface Options {
  readonly rules?: Partial<TradingRules>
  readonly replay?: boolean
}

/** A match of six whose statistics the model prices at once, thirty minutes into the game. */
async function kickOff({ rules }: Options = {}): Promise<ActorRig> {
  const rig = await ActorRig.set({
    rules: { lateVoidMs: LATE_MS, ...rules },
    record: record({ instruments: SQUAD.map((n) => instrument(n, { role: ROLES[n] })) }),
    users: 12,
  })
  await rig.moves(quiet())
  return rig
}

const closeOf = (rig: ActorRig, id: PositionId) => present(rig.store.positions.get(id), `position ${id}`).close
const baseOf = (rig: ActorRig, n: number) => present(rig.actor.view.instrument(P(n)), `instrument ${n}`).base
const heldOf = (rig: ActorRig) => SQUAD.filter((n) => rig.actor.view.instrument(P(n))?.news !== null)
const statusOf = (rig: ActorRig, n: number) => rig.actor.window(P(n)).status
const priceNow = (rig: ActorRig, n: number) => {
  rig.actor.takeUnpublished()
  const listed = present(rig.actor.view.instrument(P(n)), `instrument ${n}`)
  return exitPrice(listed, lots(0))
}
const opens = async (rig: ActorRig, n: number, over: Parameters<ActorRig['opens']>[0] = {}) =>
  ok(await rig.opens({ instrumentId: P(n), clientPrice: priceNow(rig, n), ...over })).position

describe('the hold after news', () => {
  it('[T20] holds all whom the news moves: scorer, assist, conceding keeper and defender, and nobody else', async () => {
    const rig = await kickOff()
    await rig.moves(scored())
    expect(heldOf(rig)).toEqual([1, 2, 3, 4])
  })

  it('[T20] holds who is booked or sent off, until the statistics say so too', async () => {
    const rig = await kickOff()
    const cards = [row({ id: 701, kind: 'yellow' }), row({ id: 702, kind: 'red', side: 'away', playerId: playerId(6) })]
    await rig.moves({ ...quiet(), events: cards })
    expect(heldOf(rig)).toEqual([1, 6])
    await rig.moves({ ...quiet({ 1: { [YELLOW]: 1 } }), events: cards })
    expect(heldOf(rig)).toEqual([6])
    await rig.moves({ ...quiet({ 1: { [YELLOW]: 1 }, 6: { [RED]: 1 } }), events: cards })
    expect(heldOf(rig)).toEqual([])
  })

  it('[T20] a second yellow card agrees with however the provider counts it', async () => {
    for (const details of [
      { [SECOND_YELLOW]: 1, [YELLOW]: 1 },
      { [SECOND_YELLOW]: 1, [YELLOW]: 2, [RED]: 1 },
    ]) {
      const rig = await kickOff()
      const events = [row({ id: 701, kind: 'yellow' }), row({ id: 702, kind: 'second_yellow' })]
      await rig.moves({ ...quiet({ 1: details }), events })
      await rig.moves({ ...quiet({ 1: details }), events })
      expect(heldOf(rig)).toEqual([])
    }
  })

  it('[T20] lasts one update at least, and as long as list and statistics differ; defenders wait with their keeper', async () => {
    const rig = await kickOff()
    await rig.moves(scored(KNOWN))
    expect(heldOf(rig)).toEqual([1, 2, 3, 4])
    await rig.moves(scored(KNOWN))
    expect(heldOf(rig)).toEqual([])

    const late = await kickOff()
    await late.moves(scored())
    await late.moves(scored({ 1: { [GOALS]: 1 } }))
    expect(heldOf(late)).toEqual([2, 3, 4])
    await late.moves(scored(KNOWN))
    expect(heldOf(late)).toEqual([])
  })

  it('[T20] statistics that come before the row of the list are news, and hold until the row is there', async () => {
    const rig = await kickOff()
    await rig.moves(quiet(KNOWN))
    expect(heldOf(rig)).toEqual([1, 2, 3, 4])
    await rig.moves(quiet(KNOWN))
    expect(statusOf(rig, 1)).toBe('SUSPENDED')
    await rig.moves(scored(KNOWN))
    expect(statusOf(rig, 1)).toBe('SUSPENDED')
    await rig.moves(scored(KNOWN))
    expect(heldOf(rig)).toEqual([])
  })

  it('[T36] without agreement closes open after 90 s, opens after 300 s, and the difference is waited for no more', async () => {
    const rig = await kickOff()
    const held = await opens(rig, 1)
    rig.world.pass(HOLD_MS)
    await rig.moves(scored())
    rig.world.pass(NEWS_MS - 1)
    await rig.moves(scored())
    expect(codeOf(await rig.closes(held.id))).toBe('market_suspended')
    rig.world.pass(1)
    expect(codeOf(await rig.opens({ clientPrice: priceNow(rig, 1) }))).toBe('market_suspended')
    expect(codeOf(await rig.closes(held.id))).toBe('ok')
    rig.world.pass(NEWS_OPENS_HOLD_MS - NEWS_MS - 1)
    await rig.moves(scored())
    expect(codeOf(await rig.opens({ clientPrice: priceNow(rig, 1) }))).toBe('market_suspended')
    rig.world.pass(1)
    await rig.moves(scored())
    await rig.moves(scored())
    expect(codeOf(await rig.opens({ clientPrice: priceNow(rig, 1) }))).toBe('ok')
  })

  it('[T36] a statistic that the provider never sends holds a player once; one that came before is waited for again', async () => {
    const again = (details: Details) => ({
      ...scored(details),
      home: { id: 1, name: 'Harbour', goals: 2 },
      events: [goal, row({ id: 703, minute: 2, result: '2-0' })],
    })
    const silent = await kickOff()
    await silent.moves(scored())
    silent.world.pass(NEWS_OPENS_HOLD_MS)
    await silent.moves(scored())
    await silent.moves(again({}))
    expect(statusOf(silent, 1)).toBe('SUSPENDED')
    await silent.moves(again({}))
    expect(statusOf(silent, 1)).toBe('OPEN')

    const late = await kickOff()
    await late.moves(scored())
    late.world.pass(NEWS_OPENS_HOLD_MS)
    await late.moves(scored())
    await late.moves(scored(KNOWN))
    await late.moves(again(KNOWN))
    await late.moves(again(KNOWN))
    expect(statusOf(late, 1)).toBe('SUSPENDED')
  })

  it('[T20] a review without a name suspends all players until the next update, and makes nothing void', async () => {
    const rig = await kickOff()
    const fresh = await opens(rig, 5)
    const review = row({ id: 704, kind: 'var', playerId: null, addition: 'Goal Under Review' })
    await rig.moves({ ...quiet(), events: [review] })
    expect(SQUAD.map((n) => statusOf(rig, n))).toEqual(SQUAD.map(() => 'SUSPENDED'))
    await rig.moves({ ...quiet(), events: [review] })
    expect(SQUAD.map((n) => statusOf(rig, n))).toEqual(SQUAD.map(() => 'OPEN'))
    expect(closeOf(rig, fresh.id)).toBeNull()
  })

  it('[T20] a tick that was capped moves on in a direction that all can see, so the hold waits for the rest', async () => {
    const rig = await kickOff()
    const events = [row({ id: 701, kind: 'red' })]
    const sentOff = { ...quiet({ 1: { [RED]: 1 } }), events }
    await rig.moves(sentOff)
    let open = 0
    for (let n = 0; n < 10 && open === 0; n++) {
      const before = baseOf(rig, 1)
      await rig.moves(sentOff)
      if (statusOf(rig, 1) === 'OPEN') open = before - baseOf(rig, 1)
    }
    expect(Math.abs(open)).toBeLessThan(u(10))
    const reopened = baseOf(rig, 1)
    await rig.moves(sentOff)
    expect(Math.abs(baseOf(rig, 1) - reopened)).toBeLessThan(u(1))
  })

  it('[T35] the hold survives its owner', async () => {
    const rig = await kickOff()
    await rig.moves(scored())
    await rig.load()
    expect(statusOf(rig, 1)).toBe('SUSPENDED')
    await rig.moves(scored(KNOWN))
    expect(statusOf(rig, 1)).toBe('OPEN')
  })
})

describe('late opens', () => {
  it('[T35] what was opened in the 45 s before the news leaves at the base before it, and gains nothing by it', async () => {
    const rig = await kickOff()
    const early = await opens(rig, 1)
    rig.world.pass(1)
    const late = await opens(rig, 1, { userId: U(2) })
    const short = await opens(rig, 4, { userId: U(3), direction: 'short' })
    const other = await opens(rig, 5, { userId: U(4) })
    rig.world.pass(LATE_MS)
    const before = baseOf(rig, 1)
    await rig.moves(scored())
    expect(baseOf(rig, 1)).toBeGreaterThan(before)
    for (const { id } of [late, short]) expect(closeOf(rig, id)).toMatchObject({ by: 'void', voidReason: 'late_open' })
    expect(closeOf(rig, late.id)).toMatchObject({ base: before })
    for (const { id } of [early, other]) expect(closeOf(rig, id)).toBeNull()
    // The next to leave pays for the way it came: what is left of the price is the early one's.
    expect(rig.store.walletOf(U(2)).balance).toBeLessThanOrEqual(u(10_000.01))
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T35] they leave as one step before any trigger fires, so nobody uses them to pump a price', async () => {
    const rig = await kickOff()
    const old = await opens(rig, 1, { lots: lots(u(5)) })
    rig.world.pass(HOLD_MS)
    const before = priceNow(rig, 1)
    const pumps = []
    for (let n = 2; n <= 11; n++)
      pumps.push(await opens(rig, 1, { userId: U(n), lots: lots(u(5)), takeProfit: p(240) }))
    expect(priceNow(rig, 1)).toBeGreaterThan(before)
    await rig.moves(scored())
    const closes = pumps.map(({ id }) => present(closeOf(rig, id), 'close'))
    expect(new Set(closes.map(({ price }) => price)).size).toBe(1)
    expect(closes.every(({ by }) => by === 'void')).toBe(true)
    // Together they are where they began, to rounding; the old holder sells at a price without them.
    const gained = closes.reduce((sum, { pnl }) => sum + pnl, 0)
    expect(Math.abs(gained)).toBeLessThan(u(0.001))
    expect(rig.actor.view.instrument(P(1))?.imbalance).toBe(exposureOf(old))
    expect(closeOf(rig, old.id)).toBeNull()
  })

  it('[T35] a take-profit of a late open does not fire on the news, and a stop does not either', async () => {
    const rig = await kickOff({ rules: { levelDistancePpm: 0 } })
    const target = await opens(rig, 1, { takeProfit: p(200.5) })
    const stop = await opens(rig, 1, { userId: U(2), direction: 'short', stopLoss: p(200.5) })
    await rig.moves(scored())
    for (const { id } of [target, stop]) expect(closeOf(rig, id)?.by).toBe('void')
  })

  it('[T35] hole 4: statistics first, then the row: void at the base before the statistics, whatever they moved', async () => {
    const rig = await kickOff()
    const before = baseOf(rig, 1)
    const late = await opens(rig, 1)
    rig.world.pass(LATE_MS)
    await rig.moves(quiet({ ...KNOWN, 1: { [GOALS]: 1, [ON_TARGET]: 2 } }))
    expect(closeOf(rig, late.id)).toMatchObject({ by: 'void', base: before })
  })

  it('[T37] hole 1: any update that moves a base by 0.5 % has the window too, without a suspension', async () => {
    const rig = await kickOff()
    const late = await opens(rig, 1)
    await rig.moves(quiet({ 1: { [ON_TARGET]: 1 } }))
    expect(baseOf(rig, 1)).toBeGreaterThan(u(201))
    expect(closeOf(rig, late.id)).toMatchObject({ by: 'void', voidReason: 'late_open' })
    expect(statusOf(rig, 1)).toBe('OPEN')
    const small = await kickOff({ rules: { lateMovePpm: 50_000 } })
    const kept = await opens(small, 1)
    await small.moves(quiet({ 1: { [ON_TARGET]: 1 } }))
    expect(closeOf(small, kept.id)).toBeNull()
  })

  it('[T35] hole 6: the window begins with the minute of the event, when that is earlier', async () => {
    const rig = await kickOff()
    for (let n = 0; n < 12; n++) await rig.moves(quiet())
    const late = await opens(rig, 1)
    // 150 s are played; the goal is of the second minute, which began at 60 s: ninety seconds ago.
    rig.world.pass(80 * SECOND_MS)
    await rig.moves({ ...scored(), events: [{ ...goal, minute: 2 }] })
    expect(closeOf(rig, late.id)?.by).toBe('void')

    const old = await kickOff()
    for (let n = 0; n < 12; n++) await old.moves(quiet())
    const early = await opens(old, 1)
    old.world.pass(100 * SECOND_MS)
    await old.moves({ ...scored(), events: [{ ...goal, minute: 2 }] })
    expect(closeOf(old, early.id)).toBeNull()
  })

  it('[T35] the cancellation of a goal is news like the goal', async () => {
    const rig = await kickOff()
    await rig.moves(scored(KNOWN))
    await rig.moves(scored(KNOWN))
    rig.world.pass(HOLD_MS)
    const late = await opens(rig, 1, { direction: 'short' })
    const before = baseOf(rig, 1)
    const annulled = row({ id: 705, kind: 'var', addition: 'Goal Disallowed' })
    await rig.moves({ ...quiet(KNOWN), events: [annulled] })
    expect(closeOf(rig, late.id)).toMatchObject({ by: 'void', base: before })
    expect(statusOf(rig, 4)).toBe('SUSPENDED')
  })

  it('[T35] 0 switches the window off, and the hold stays', async () => {
    const rig = await kickOff({ rules: { lateVoidMs: 0 } })
    const late = await opens(rig, 1)
    await rig.moves(scored())
    expect(closeOf(rig, late.id)).toBeNull()
    expect(statusOf(rig, 1)).toBe('SUSPENDED')
  })

  it('[T35] voids at the whistle leave on the plain curve, and the rest share what is left', async () => {
    const rig = await kickOff()
    ok(await rig.opens({ lots: lots(u(20)), clientPrice: priceNow(rig, 1) }))
    rig.world.pass(HOLD_MS)
    const before = rig.store.walletOf(U(1)).balance + rig.store.walletOf(U(2)).balance
    await opens(rig, 1, { userId: U(2), lots: lots(u(10)) })
    await rig.moves({ ...scored(KNOWN), state: 'FINISHED', stateId: 8, periods: rig.whistled() })
    await rig.actor.stop()
    expect(rig.actor.view.info.settledAt).not.toBeNull()
    const [one, two] = [rig.store.walletOf(U(1)).balance, rig.store.walletOf(U(2)).balance]
    expect(one + two - before).toBeGreaterThan(0)
    expect(two).toBeLessThanOrEqual(u(10_000))
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T38] in a replay all windows are of match time: sixty times as fast, sixty times as short', async () => {
    const at = async (speed: number) => {
      const rig = await kickOff()
      const early = await opens(rig, 1)
      rig.world.pass(SECOND_MS)
      const late = await opens(rig, 1, { userId: U(2) })
      rig.world.pass(LATE_MS / speed)
      await rig.moves(scored(), speed)
      const voided = [early, late].map(({ id }) => closeOf(rig, id)?.by === 'void')
      rig.world.pass(NEWS_MS / speed)
      const closable = codeOf(await rig.closes(early.id))
      rig.world.pass((NEWS_OPENS_HOLD_MS - NEWS_MS) / speed)
      await rig.moves(scored(), speed)
      return { voided, closable, after: statusOf(rig, 1) }
    }
    expect(await at(1)).toEqual({ voided: [false, true], closable: 'cooldown_active', after: 'OPEN' })
    expect(await at(60)).toEqual({ voided: [false, true], closable: 'cooldown_active', after: 'OPEN' })
  })
})
