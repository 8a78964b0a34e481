import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { playerId, type PositionId } from '../../actors/kernel/ids.ts'
import { BATCH_MAX, DEFAULT_RULES, NEWS_OPENS_HOLD_MS, type TradingRules } from '../../actors/kernel/limits.ts'
import { type Lots, lots } from '../../actors/kernel/micros.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../actors/market/fixture.ts'
import { exitPrice } from '../../actors/market/instrument.ts'
import { exposureOf, type Position } from '../../actors/position/position.ts'
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
  readonly batchMax?: number
}

/** A match of six whose statistics the model prices at once, thirty minutes into the game. */
async function kickOff({ rules, batchMax = BATCH_MAX }: Options = {}): Promise<ActorRig> {
  const rig = await ActorRig.set({
    rules: { lateVoidMs: LATE_MS, ...rules },
    record: record({ instruments: SQUAD.map((n) => instrument(n, { role: ROLES[n] })) }),
    users: 12,
    batchMax,
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
  it('[T20] holds all whom the news moves: scorer, assist, conceding keeper and defender, and no other player', async () => {
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

  it('[T35] they leave as one step before any trigger fires, so they cannot pump a price', async () => {
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

  it('[T35] statistics first, then the row: void at the base before the statistics, whatever they moved', async () => {
    const rig = await kickOff()
    const before = baseOf(rig, 1)
    const late = await opens(rig, 1)
    rig.world.pass(LATE_MS)
    await rig.moves(quiet({ ...KNOWN, 1: { [GOALS]: 1, [ON_TARGET]: 2 } }))
    expect(closeOf(rig, late.id)).toMatchObject({ by: 'void', base: before })
  })

  it('[T37] any update that moves a base far has the window too, without a suspension', async () => {
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

  it('[T35] the window begins with the minute of the event, when that is earlier', async () => {
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

const freeOf = (rig: ActorRig, n = 1) => {
  const { balance, locked } = rig.store.walletOf(U(n), 'main', rig.world.now())
  return balance - locked
}
const balanceOf = (rig: ActorRig, n = 1) => rig.store.walletOf(U(n)).balance
/** What sign × lots × 5 × (after − before) is worth. */
const worth = (size: number, from: number, to: number) => Math.floor((to - from) * 5 * size)
const pnlOf = (rig: ActorRig, id: PositionId) => present(closeOf(rig, id), 'close').pnl
const correctionsOf = (rig: ActorRig) => rig.events.filter((event) => event.kind === 'close_corrected')

/** A position that is out of its hold. */
async function holder(rig: ActorRig, n: number, over: Parameters<ActorRig['opens']>[0] = {}) {
  const position = await opens(rig, n, over)
  rig.world.pass(HOLD_MS)
  await rig.moves(quiet())
  return position
}

describe('late closes', () => {
  it('[T39] a user who leaves before the news is paid as if they had stayed until it is in the price', async () => {
    for (const [n, direction] of [
      [1, 'long'],
      [1, 'short'],
      [4, 'long'],
    ] as const) {
      const rig = await kickOff()
      const left = await holder(rig, n, { direction })
      const before = baseOf(rig, n)
      ok(await rig.closes(left.id))
      const paid = pnlOf(rig, left.id)
      rig.world.pass(20 * SECOND_MS)
      await rig.moves(scored())
      await rig.moves(scored({ ...KNOWN, 1: { [GOALS]: 1, [ON_TARGET]: 1 } }))
      expect(heldOf(rig)).toEqual([])
      const shift = (direction === 'long' ? 1 : -1) * (baseOf(rig, n) - before)
      expect(shift).not.toBe(0)
      expect(Math.abs(pnlOf(rig, left.id) - paid - worth(0.5, 0, shift))).toBeLessThanOrEqual(1)
      expect(balanceOf(rig)).toBe(u(10_000) + pnlOf(rig, left.id))
      expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
    }
  })

  it('[T39] nobody who leaves before the window, opened in it, or was washed out is touched', async () => {
    const rig = await kickOff()
    const early = await holder(rig, 1)
    ok(await rig.closes(early.id))
    rig.world.pass(LATE_MS + 1)
    await rig.moves(scored(KNOWN))
    await rig.moves(scored(KNOWN))
    expect(correctionsOf(rig)).toEqual([])

    const other = await kickOff({ rules: { holdMs: 0 } })
    const fresh = await opens(other, 1)
    ok(await other.closes(fresh.id))
    await other.moves(scored(KNOWN))
    await other.moves(scored(KNOWN))
    expect(correctionsOf(other).every(({ amount }) => amount === 0)).toBe(true)
  })

  it('[T39] a stop or a target a hair away is a close like any other, whatever set it off', async () => {
    const rig = await kickOff({ rules: { levelDistancePpm: 0, lateMovePpm: 50_000 } })
    const left = await holder(rig, 4, { stopLoss: p(199.9) })
    const pusher = await opens(rig, 4, { userId: U(2), direction: 'short', lots: lots(u(20)) })
    expect(closeOf(rig, left.id)).toMatchObject({ by: 'stop_loss' })
    const [paid, before] = [pnlOf(rig, left.id), baseOf(rig, 4)]
    rig.world.pass(20 * SECOND_MS)
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    expect(closeOf(rig, pusher.id)?.by).toBe('void')
    expect(Math.abs(pnlOf(rig, left.id) - paid - worth(0.5, before, baseOf(rig, 4)))).toBeLessThanOrEqual(1)
  })

  it('[T39] a level that the news itself fires pays what the rest of the news costs', async () => {
    const rig = await kickOff({ rules: { levelDistancePpm: 0, lateMovePpm: 50_000 } })
    const left = await holder(rig, 4, { stopLoss: p(199) })
    const before = baseOf(rig, 4)
    await rig.moves(scored())
    expect(closeOf(rig, left.id)).toMatchObject({ by: 'stop_loss' })
    expect(baseOf(rig, 4)).toBeLessThan(before)
    await rig.moves(scored({ ...KNOWN, 4: { [ON_TARGET]: 1 } }))
    await rig.moves(scored({ ...KNOWN, 4: { [ON_TARGET]: 1 } }))
    const stayed = Math.max(-left.margin, worth(0.5, left.openPrice, baseOf(rig, 4)))
    expect(Math.abs(pnlOf(rig, left.id) - stayed)).toBeLessThan(u(0.1))
  })

  it('[T39] an update that moves a base far corrects closes at once, without a suspension', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    ok(await rig.closes(left.id))
    const [paid, before] = [pnlOf(rig, left.id), baseOf(rig, 1)]
    rig.world.pass(30 * SECOND_MS)
    await rig.moves(quiet({ 1: { [ON_TARGET]: 1 } }))
    expect(statusOf(rig, 1)).toBe('OPEN')
    expect(Math.abs(pnlOf(rig, left.id) - paid - worth(0.5, before, baseOf(rig, 1)))).toBeLessThanOrEqual(1)
    await rig.moves(quiet({ 1: { [ON_TARGET]: 1 } }))
    expect(correctionsOf(rig)).toHaveLength(1)
  })

  it('[T39] statistics first, then the row: one correction from the base before both', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    ok(await rig.closes(left.id))
    const [paid, before] = [pnlOf(rig, left.id), baseOf(rig, 1)]
    await rig.moves(quiet(KNOWN))
    await rig.moves(scored(KNOWN))
    await rig.moves(scored(KNOWN))
    expect(heldOf(rig)).toEqual([])
    expect(Math.abs(pnlOf(rig, left.id) - paid - worth(0.5, before, baseOf(rig, 1)))).toBeLessThanOrEqual(1)
    expect(correctionsOf(rig).filter(({ amount }) => amount !== 0)).toHaveLength(1)
  })

  it('[T39] the correction never takes more than the margin', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1, { direction: 'short' })
    ok(await rig.closes(left.id))
    const details = { 1: { [GOALS]: 4 }, 2: { [CONCEDED]: 4 } }
    const events = [0, 1, 2, 3].map((n) => row({ id: 700 + n, minute: n + 1, result: `${n + 1}-0` }))
    const four = { ...scored(details), home: { id: 1, name: 'Harbour', goals: 4 }, events }
    await rig.moves(four)
    for (let n = 0; heldOf(rig).length > 0 && n < 20; n++) await rig.moves(four)
    expect(pnlOf(rig, left.id)).toBe(-left.margin)
    expect(balanceOf(rig)).toBe(u(10_000) - left.margin)
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T39] at settlement what still waits is corrected at the last base', async () => {
    const rig = await kickOff({ rules: { settlementConfirmMs: 0 } })
    const left = await holder(rig, 1)
    ok(await rig.closes(left.id))
    const [paid, before] = [pnlOf(rig, left.id), baseOf(rig, 1)]
    await rig.moves({ ...scored(), state: 'FT', periods: rig.whistled() })
    for (let n = 0; n < 3; n++) await rig.actor.clock()
    expect(rig.actor.view.info.settledAt).not.toBeNull()
    expect(Math.abs(pnlOf(rig, left.id) - paid - worth(0.5, before, baseOf(rig, 1)))).toBeLessThanOrEqual(1)
    // Nothing waits any more; only the credit is locked once the window of the close has passed.
    const { locked } = rig.store.walletOf(U(1), 'main', rig.world.now() + LATE_MS + 60 * SECOND_MS)
    expect(locked).toBe(pnlOf(rig, left.id) - paid)
  })

  it('[T40] proceeds cannot be used while news may still reach them, and can afterwards', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1, { lots: lots(u(50)) })
    ok(await rig.closes(left.id))
    expect(freeOf(rig)).toBe(u(10_000) - left.margin)
    const large = { instrumentId: P(5), lots: lots(u(60)), clientPrice: p(200) }
    expect(await rig.opens(large)).toMatchObject({
      refusal: { code: 'insufficient_margin', available: freeOf(rig) },
    })
    rig.world.pass(LATE_MS + 60 * SECOND_MS)
    await rig.moves(quiet())
    expect(freeOf(rig)).toBe(balanceOf(rig))
    expect(codeOf(await rig.opens(large))).toBe('ok')
  })

  it('[T40] the proceeds of a close that news has found stay locked until it is corrected', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 4)
    ok(await rig.closes(left.id))
    await rig.moves(scored())
    rig.world.pass(NEWS_MS * 2)
    expect(freeOf(rig)).toBe(balanceOf(rig) - left.margin - pnlOf(rig, left.id))
    await rig.moves(scored(KNOWN))
    await rig.moves(scored(KNOWN))
    expect(heldOf(rig)).toEqual([])
    expect(freeOf(rig)).toBe(balanceOf(rig))
  })

  it('[T40] [A13] what a correction lets go of pays in its own batch, also when that is decided again', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 4, { lots: lots(u(20)) })
    ok(await rig.closes(left.id))
    await rig.moves(scored())
    rig.world.pass(NEWS_MS * 2)
    await rig.moves(scored(KNOWN))
    expect(freeOf(rig)).toBe(balanceOf(rig) - left.margin - pnlOf(rig, left.id))
    const rest = { userId: U(1), instrumentId: P(5), lots: lots(u(90)), clientPrice: priceNow(rig, 5) }
    const answers = [
      rig.moves(scored(KNOWN)),
      rig.opens({ ...rest, userId: U(2), lots: lots(u(100)), instrumentId: P(6), clientPrice: priceNow(rig, 6) }),
      rig.opens(rest),
    ] as const
    expect(codeOf(await answers[1])).toBe('insufficient_margin')
    expect(codeOf(await answers[2])).toBe('ok')
    expect(heldOf(rig)).toEqual([])
  })

  it('[T40] [T43] levels that several commits close are locked and corrected like any other, after a crash too', async () => {
    const rig = await kickOff({ rules: { levelDistancePpm: 0, lateMovePpm: 50_000 }, batchMax: 2 })
    const crowd = [1, 2, 3, 4, 5, 6, 7]
    const held: PositionId[] = []
    for (const n of crowd) held.push((await opens(rig, 4, { userId: U(n), stopLoss: p(199.9) })).id)
    rig.world.pass(HOLD_MS)
    await rig.moves(quiet())
    await opens(rig, 4, { userId: U(8), direction: 'short', lots: lots(u(20)) })
    expect(rig.actor.view.instrument(P(4))?.leavingFrom).not.toBeNull()
    await rig.load()
    rig.world.pass(20 * SECOND_MS)
    await rig.actor.clock()
    const [paid, before] = [held.map((id) => pnlOf(rig, id)), baseOf(rig, 4)]
    for (const n of crowd) {
      const { margin } = present(rig.store.positions.get(held[n - 1] ?? ('' as PositionId)), 'position')
      expect(freeOf(rig, n)).toBe(balanceOf(rig, n) - margin - (paid[n - 1] ?? 0))
    }
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    const moved = worth(0.5, before, baseOf(rig, 4))
    expect(moved).not.toBe(0)
    for (const [n, id] of held.entries()) {
      expect(closeOf(rig, id)).toMatchObject({ by: 'stop_loss' })
      expect(Math.abs(pnlOf(rig, id) - (paid[n] ?? 0) - moved)).toBeLessThanOrEqual(1)
    }
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T40] what waits to be corrected survives its owner', async () => {
    const rig = await kickOff()
    const [left, right] = [await holder(rig, 4), await opens(rig, 1, { userId: U(2) })]
    rig.world.pass(HOLD_MS)
    ok(await rig.closes(right.id, U(2)))
    ok(await rig.closes(left.id))
    await rig.load()
    await rig.moves(scored())
    await rig.load()
    await rig.moves(scored(KNOWN))
    for (const { id } of [left, right]) expect(pnlOf(rig, id)).not.toBe(0)
    expect(pnlOf(rig, left.id)).toBeLessThan(u(-1))
    expect(pnlOf(rig, right.id)).toBeGreaterThan(u(1))
  })

  it('[T41] a cancelled goal takes its corrections back: debits in full, credits while they are locked', async () => {
    for (const [waitMs, keepsCredit] of [
      [60 * SECOND_MS, false],
      [DEFAULT_RULES.lateLockMs, true],
    ] as const) {
      const rig = await kickOff({ rules: { feedStaleMs: 10 * 3_600_000 } })
      const [scorer, beaten] = [await holder(rig, 1), await opens(rig, 4, { userId: U(2) })]
      rig.world.pass(HOLD_MS)
      ok(await rig.closes(scorer.id))
      ok(await rig.closes(beaten.id, U(2)))
      const paid = [pnlOf(rig, scorer.id), pnlOf(rig, beaten.id)]
      await rig.moves(scored(KNOWN))
      for (let n = 0; n < 20 && heldOf(rig).length > 0; n++) await rig.moves(scored(KNOWN))
      const [credited, debited] = [pnlOf(rig, scorer.id), pnlOf(rig, beaten.id)]
      expect(credited).toBeGreaterThan(paid[0] ?? 0)
      expect(debited).toBeLessThan(paid[1] ?? 0)
      rig.world.pass(LATE_MS + 60 * SECOND_MS)
      expect(freeOf(rig)).toBe(balanceOf(rig) - (credited - (paid[0] ?? 0)))
      expect(freeOf(rig, 2)).toBe(balanceOf(rig, 2))
      rig.world.pass(waitMs)
      await rig.moves(quiet())
      await rig.moves(quiet())
      expect(pnlOf(rig, beaten.id)).toBe(paid[1])
      expect(pnlOf(rig, scorer.id)).toBe(keepsCredit ? credited : paid[0])
      expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
      // The cancellation does not count a second time for what it has reversed.
      for (let n = 0; n < 20 && heldOf(rig).length > 0; n++) await rig.moves(quiet())
      expect(pnlOf(rig, scorer.id)).toBe(keepsCredit ? credited : paid[0])
    }
  })

  it('[T42] a review without a name voids and corrects around it once its outcome names the player', async () => {
    const rig = await kickOff()
    await rig.moves(scored(KNOWN))
    for (let n = 0; n < 20 && heldOf(rig).length > 0; n++) await rig.moves(scored(KNOWN))
    const left = await holderWith(rig, 1, scored(KNOWN))
    ok(await rig.closes(left.id))
    const paid = pnlOf(rig, left.id)
    const late = await opens(rig, 1, { userId: U(2), direction: 'short' })
    const review = row({ id: 704, kind: 'var', playerId: null, minute: 9, addition: 'Goal Under Review' })
    const reviewed = { ...scored(KNOWN), events: [goal, review] }
    for (let n = 0; n < 2; n++) {
      rig.world.pass(10 * SECOND_MS)
      await rig.moves(reviewed)
    }
    expect(statusOf(rig, 1)).toBe('OPEN')
    expect(closeOf(rig, late.id)).toBeNull()
    rig.world.pass(10 * SECOND_MS)
    const between = await opens(rig, 1, { userId: U(3) })
    rig.world.pass(150 * SECOND_MS)
    await rig.moves(reviewed)
    const before = baseOf(rig, 1)
    const outcome = row({ id: 705, kind: 'var', minute: 9, addition: 'Goal Disallowed' })
    const cancelled = { ...quiet(), events: [goal, review, outcome] }
    await rig.moves(cancelled)
    for (let n = 0; n < 20 && heldOf(rig).includes(1); n++) await rig.moves(cancelled)
    expect(baseOf(rig, 1)).toBeLessThan(before)
    expect(closeOf(rig, late.id)).toMatchObject({ by: 'void' })
    expect(closeOf(rig, between.id)?.by).not.toBe('void')
    expect(
      Math.abs(pnlOf(rig, left.id) - Math.max(-left.margin, paid + worth(0.5, before, baseOf(rig, 1)))),
    ).toBeLessThan(u(0.01))
  })

  it('[T42] [T41] a goal that is reviewed without a name and cancelled is reversed once, and corrects nobody again', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1, { direction: 'short' })
    ok(await rig.closes(left.id))
    const paid = pnlOf(rig, left.id)
    await rig.moves(scored(KNOWN))
    for (let n = 0; n < 20 && heldOf(rig).length > 0; n++) await rig.moves(scored(KNOWN))
    expect(pnlOf(rig, left.id)).toBeLessThan(paid)
    const review = row({ id: 704, kind: 'var', playerId: null, minute: 9, addition: 'Goal Under Review' })
    const reviewed = { ...scored(KNOWN), events: [goal, review] }
    for (let n = 0; n < 2; n++) await rig.moves(reviewed)
    const outcome = row({ id: 705, kind: 'var', minute: 9, addition: 'Goal Disallowed' })
    const cancelled = { ...quiet(), events: [goal, review, outcome] }
    await rig.moves(cancelled)
    expect(pnlOf(rig, left.id)).toBe(paid)
    for (let n = 0; n < 20 && heldOf(rig).includes(1); n++) await rig.moves(cancelled)
    expect(pnlOf(rig, left.id)).toBe(paid)
    rig.world.pass(LATE_MS + 60 * SECOND_MS)
    expect(freeOf(rig)).toBe(balanceOf(rig))
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T42] of a review that names nobody nothing is kept, and all proceeds are free in the end', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    ok(await rig.closes(left.id))
    const paid = pnlOf(rig, left.id)
    const review = row({ id: 704, kind: 'var', playerId: null, addition: 'Goal Under Review' })
    await rig.moves({ ...quiet(), events: [review] })
    expect(freeOf(rig)).toBeLessThan(balanceOf(rig))
    for (let n = 0; n < 5; n++) {
      rig.world.pass(100 * SECOND_MS)
      await rig.moves({ ...quiet(), events: [review] })
    }
    expect(rig.actor.view.instrument(P(1))?.news).toBeNull()
    expect([freeOf(rig), pnlOf(rig, left.id)]).toEqual([balanceOf(rig), paid])
  })

  it('[T36] after the 90 s a close is corrected too, and opens wait for one update after the agreement', async () => {
    const rig = await kickOff()
    const held = await holder(rig, 4)
    await rig.moves(scored())
    rig.world.pass(NEWS_MS)
    ok(await rig.closes(held.id))
    const [paid, before] = [pnlOf(rig, held.id), baseOf(rig, 4)]
    await rig.moves(scored({ ...KNOWN, 4: { [ON_TARGET]: 1 } }))
    expect(codeOf(await rig.opens({ instrumentId: P(4), clientPrice: priceNow(rig, 4) }))).toBe('market_suspended')
    await rig.moves(scored({ ...KNOWN, 4: { [ON_TARGET]: 1 } }))
    expect(statusOf(rig, 4)).toBe('OPEN')
    expect(Math.abs(pnlOf(rig, held.id) - paid - worth(0.5, before, baseOf(rig, 4)))).toBeLessThanOrEqual(1)
  })

  it('[T35] at half time the window reaches back over the break, to the minute of the event', async () => {
    const rig = await kickOff()
    for (let n = 0; n < 3; n++) {
      rig.world.pass(10 * SECOND_MS)
      await rig.moves(quiet())
    }
    const late = await opens(rig, 1)
    const pause = { state: 'HT', stateId: 3, periods: rig.whistled() }
    await rig.moves({ ...quiet(), ...pause })
    rig.world.pass(100 * SECOND_MS)
    await rig.moves({ ...scored(), ...pause })
    expect(closeOf(rig, late.id)).toMatchObject({ by: 'void', voidReason: 'late_open' })
  })

  it('[T38] in a replay closes are locked and corrected in match time', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    await rig.moves(quiet(), 10)
    ok(await rig.closes(left.id))
    expect(freeOf(rig)).toBeLessThan(balanceOf(rig))
    rig.world.pass((LATE_MS + 60 * SECOND_MS) / 10)
    expect(freeOf(rig)).toBe(balanceOf(rig))
    await rig.moves(scored(KNOWN), 10)
    await rig.moves(scored(KNOWN), 10)
    expect(correctionsOf(rig)).toEqual([])
  })

  it('[T39] 0 switches all of it off', async () => {
    const rig = await kickOff({ rules: { lateVoidMs: 0 } })
    const left = await holder(rig, 1)
    ok(await rig.closes(left.id))
    expect(freeOf(rig)).toBe(balanceOf(rig))
    await rig.moves(scored(KNOWN))
    await rig.moves(scored(KNOWN))
    expect(correctionsOf(rig)).toEqual([])
  })

  it('[T39] ten who pump for an old holder, and accounts that split one, gain nothing before a goal', async () => {
    const alone = await kickOff()
    const crowd = await kickOff()
    const total = async (rig: ActorRig, pumps: boolean) => {
      const old = await holder(rig, 1, { lots: lots(u(5)) })
      if (pumps) {
        for (let n = 2; n <= 11; n++) await opens(rig, 1, { userId: U(n), lots: lots(u(5)) })
      }
      ok(await rig.closes(old.id))
      rig.world.pass(20 * SECOND_MS)
      await rig.moves(scored(KNOWN))
      for (let n = 0; n < 20 && heldOf(rig).length > 0; n++) await rig.moves(scored(KNOWN))
      return Array.from({ length: 11 }, (_, n) => balanceOf(rig, n + 1)).reduce((a, b) => a + b, 0)
    }
    expect(Math.abs((await total(crowd, true)) - (await total(alone, false)))).toBeLessThan(u(0.01))
  })

  it(
    '[T39] whatever a group does in the window, the news pays it for what it held before',
    { timeout: 60_000 },
    async () => {
      const size = fc.integer({ min: 1, max: 500 }).map((n) => lots(n * 10_000))
      const secs = fc.option(fc.integer({ min: 0, max: 19 }))
      const side = fc.constantFrom('long', 'short')
      const before = fc.array(fc.record({ side, size, leaves: secs }), { minLength: 1, maxLength: 6 })
      const inside = fc.array(fc.record({ side, size, opens: fc.integer({ min: 0, max: 19 }), leaves: secs }), {
        maxLength: 6,
      })
      await fc.assert(
        fc.asyncProperty(before, inside, async (holders, latecomers) => {
          const rig = await kickOff({ rules: { holdMs: 0, levelDistancePpm: 0 } })
          const open = (n: number, direction: 'long' | 'short', lotSize: Lots) =>
            opens(rig, 1, { userId: U(n), direction, lots: lotSize })
          const base = baseOf(rig, 1)
          const all: Position[] = []
          const leaving = new Map<number, Position[]>()
          const leaves = (at: number | null, position: Position): void => {
            all.push(position)
            if (at !== null) leaving.set(at, [...(leaving.get(at) ?? []), position])
          }
          for (const [n, one] of holders.entries()) leaves(one.leaves, await open(n + 1, one.side, one.size))
          rig.world.pass(HOLD_MS)
          await rig.moves(quiet())
          for (let sec = 0; sec < 20; sec++) {
            for (const [n, one] of latecomers.entries()) {
              if (one.opens !== sec) continue
              const isAfter = one.leaves !== null && one.leaves > sec
              leaves(isAfter ? one.leaves : null, await open(n + 7, one.side, one.size))
            }
            for (const { id, userId } of leaving.get(sec) ?? []) ok(await rig.closes(id, userId))
            rig.world.pass(SECOND_MS)
          }
          for (let n = 0; n < 20 && (n === 0 || heldOf(rig).length > 0); n++) await rig.moves(scored(KNOWN))
          for (const { id, userId } of all) if (closeOf(rig, id) === null) ok(await rig.closes(id, userId))
          expect(present(rig.actor.view.instrument(P(1)), 'the scorer').imbalance).toBe(0)
          const held = holders.reduce((sum, one) => sum + (one.side === 'long' ? one.size : -one.size), 0)
          const due = (baseOf(rig, 1) - base) * 5 * (held / u(1))
          const paid = all.reduce((sum, { id }) => sum + pnlOf(rig, id), 0)
          // To a micro of price for each lot, for rounding.
          expect(Math.abs(paid - due)).toBeLessThan(all.length * 50)
          expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
        }),
        { numRuns: 60 },
      )
    },
  )
})

async function holderWith(rig: ActorRig, n: number, now: Partial<FixtureSnapshot>) {
  const position = await opens(rig, n)
  rig.world.pass(HOLD_MS)
  await rig.moves(now)
  return position
}
