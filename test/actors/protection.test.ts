import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { playerId, type PositionId } from '../../actors/kernel/ids.ts'
import {
  DEFAULT_PROTECTION,
  DEFAULT_RULES,
  NEWS_CANCELLED_WITHIN_MS,
  NEWS_OPENS_HOLD_MS,
  PENALTY_LATE_MS,
  type TradingRules,
} from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../actors/market/fixture.ts'
import { exitPrice } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { inFull } from '../../actors/match/protection/in-full.ts'
import { pnlAt } from '../../actors/position/position.ts'
import { half, GOAL, instrument, P, player, record, U, u } from '../support/fixtures.ts'
import { ActorRig, codeOf, ok } from '../support/actor-rig.ts'

const HOLD_MS = DEFAULT_RULES.holdMs
const { lateMs: LATE_MS, newsHoldMs: NEWS_MS } = DEFAULT_PROTECTION
const [GOALS, ASSISTS, CONCEDED] = [52, 79, 88]

/** Home: 1 scores, 3 assists, 5 is of no account. Away: keeper 2, defender 4, forward 6, midfielder 8. */
const ROLES = { 1: 'FWD', 2: 'GK', 3: 'MID', 4: 'DEF', 5: 'MID', 6: 'FWD', 8: 'MID' } as const
const SQUAD = [1, 2, 3, 4, 5, 6, 8] as const
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
/** A review has taken the goal back, and the statistics follow. */
const annulled = (): Partial<FixtureSnapshot> => ({
  ...quiet(),
  events: [row({ id: 701, kind: 'var', addition: 'Goal Disallowed' })],
})
const quiet = (): Partial<FixtureSnapshot> => ({ players: squad() })

async function kickOff(rules: Partial<TradingRules> = {}, model = inFull(DEFAULT_MODEL)): Promise<ActorRig> {
  const rig = await ActorRig.set({
    rules: { protection: DEFAULT_PROTECTION, ...rules },
    model,
    record: record({ instruments: SQUAD.map((n) => instrument(n, { role: ROLES[n] })) }),
    users: 12,
  })
  await rig.moves(quiet())
  return rig
}

const positionOf = (rig: ActorRig, id: PositionId) => present(rig.store.positions.get(id), `position ${id}`)
const baseOf = (rig: ActorRig, n: number) => present(rig.actor.view.instrument(P(n)), `instrument ${n}`).base
const heldOf = (rig: ActorRig) => SQUAD.filter((n) => rig.actor.view.instrument(P(n))?.news?.hold)
const statusOf = (rig: ActorRig, n: number) => rig.actor.window(P(n)).status
const priceNow = (rig: ActorRig, n: number) => {
  rig.actor.takeUnpublished()
  return exitPrice(present(rig.actor.view.instrument(P(n)), `instrument ${n}`), lots(0))
}
const opens = async (rig: ActorRig, n: number, over: Parameters<ActorRig['opens']>[0] = {}) =>
  ok(await rig.opens({ instrumentId: P(n), clientPrice: priceNow(rig, n), ...over })).position
const freeOf = (rig: ActorRig, n = 1) => {
  const { balance, locked = 0 } = rig.store.walletOf(U(n), 'main', rig.world.now())
  return balance - locked
}
const balanced = (rig: ActorRig) => expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })

/** The formula of the specification, on the prices that a closed position shows. */
const followsFormula = (rig: ActorRig, id: PositionId) => {
  const position = positionOf(rig, id)
  const close = present(position.close, 'close')
  expect(close.pnl).toBe(pnlAt(position, close.price))
  expect(close.pnl).toBeGreaterThanOrEqual(-position.margin)
}

/** A position that is out of its hold. */
async function holder(rig: ActorRig, n: number, over: Parameters<ActorRig['opens']>[0] = {}) {
  const position = await opens(rig, n, over)
  rig.world.pass(HOLD_MS)
  await rig.moves(quiet())
  return position
}

describe('opens', () => {
  it('[N1] one shortly before a goal gets the price after it, and gains nothing by it', async () => {
    for (const [n, direction] of [
      [1, 'long'],
      [2, 'short'],
      [4, 'short'],
      [8, 'short'],
    ] as const) {
      const rig = await kickOff()
      const before = baseOf(rig, n)
      const early = await opens(rig, n, { direction })
      rig.world.pass(20 * SECOND_MS)
      await rig.moves(scored())
      await rig.moves(scored(KNOWN))
      const shift = baseOf(rig, n) - before
      expect(shift).not.toBe(0)
      const now = positionOf(rig, early.id)
      expect(now.openPrice).toBe(early.openPrice + shift)
      expect(now.openBase).toBe(early.openBase + shift)
      expect(now.close).toBeNull()
      expect(rig.store.walletOf(U(1)).unrealizedPnl).toBeGreaterThanOrEqual(-1)
      expect(rig.store.walletOf(U(1)).unrealizedPnl).toBeLessThanOrEqual(0)
      balanced(rig)
    }
  })

  it('[N1] one before the window stands, and so does one after the reopening', async () => {
    const rig = await kickOff()
    const early = await opens(rig, 1)
    rig.world.pass(LATE_MS + 1)
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    const after = await opens(rig, 1, { userId: U(2) })
    await rig.moves(scored(KNOWN))
    expect(positionOf(rig, early.id).openPrice).toBe(early.openPrice)
    expect(positionOf(rig, after.id).openPrice).toBe(after.openPrice)
  })

  it('[N1] a penalty reaches back 180 s, because it is seen long before it is taken', async () => {
    const rig = await kickOff()
    const early = await opens(rig, 1)
    rig.world.pass(PENALTY_LATE_MS - SECOND_MS)
    const before = baseOf(rig, 1)
    const penalty = row({ id: 701, kind: 'penalty_goal', result: '1-0' })
    await rig.moves({ ...leads, events: [penalty], players: squad() })
    expect(positionOf(rig, early.id).openPrice).toBe(early.openPrice + baseOf(rig, 1) - before)
  })

  it('[N5] what is cancelled is taken back: of a fill before it, and of one while it counted', async () => {
    const rig = await kickOff()
    const before = baseOf(rig, 1)
    const early = await opens(rig, 1)
    rig.world.pass(20 * SECOND_MS)
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    rig.world.pass(60 * SECOND_MS)
    await opens(rig, 1, { userId: U(2), direction: 'short' })
    rig.world.pass(60 * SECOND_MS)
    await rig.moves(annulled())
    await rig.moves(annulled())
    const gone = baseOf(rig, 1) - before
    expect(positionOf(rig, early.id).openPrice - early.openPrice).toBe(gone)
    const worth = rig.store.walletOf(U(2)).unrealizedPnl
    expect(Math.abs(worth)).toBeLessThanOrEqual(1)
    balanced(rig)
  })

  it('[N8] a goal counts in full at once: what it rises by as play goes on would be a gift', async () => {
    const playedTo = (elapsedSecs: number): Partial<FixtureSnapshot> => ({
      ...scored(KNOWN),
      events: [{ ...goal, minute: 34 }],
      periods: half(elapsedSecs),
    })
    const goesOn = async (model?: ScoringModel): Promise<number> => {
      const rig = await kickOff({}, model)
      // A clock that leaps counts from the second update on.
      for (const secs of [1_998, 1_999]) await rig.moves({ periods: half(secs) })
      // The second takes what the cap of a tick has left over.
      for (const secs of [2_000, 2_001]) await rig.moves(playedTo(secs))
      const after = await opens(rig, 1)
      rig.world.pass(DEFAULT_MODEL.review.secs * SECOND_MS)
      await rig.moves(playedTo(2_001 + DEFAULT_MODEL.review.secs))
      const rise = baseOf(rig, 1) - after.openBase
      await rig.moves(annulled())
      await rig.moves(annulled())
      expect(positionOf(rig, after.id).openBase).toBe(baseOf(rig, 1) - rise)
      return rise / after.openBase
    }
    // Not quite nothing: a minute of play passes.
    expect(Math.abs(await goesOn())).toBeLessThan(0.001)
    expect(await goesOn(DEFAULT_MODEL)).toBeGreaterThan(0.004)
  })

  it('[N1] without protection nothing moves, holds or is remembered', async () => {
    const rig = await kickOff({ protection: null })
    const early = await opens(rig, 1)
    await rig.moves(scored())
    expect(positionOf(rig, early.id)).toEqual(early)
    expect(heldOf(rig)).toEqual([])
    expect(statusOf(rig, 1)).toBe('OPEN')
    rig.world.pass(HOLD_MS)
    ok(await rig.closes(early.id))
    expect([...rig.actor.view.movableCloses()]).toEqual([])
    expect(rig.events.some(({ kind }) => kind === 'news_changed' || kind === 'fill_moved')).toBe(false)
  })
})

describe('closes', () => {
  it('[N2] one shortly before the news is booked at the price after it, by the formula', async () => {
    for (const [n, direction] of [
      [1, 'long'],
      [1, 'short'],
      [4, 'long'],
      [8, 'long'],
    ] as const) {
      const rig = await kickOff()
      const left = await holder(rig, n, { direction })
      const before = baseOf(rig, n)
      ok(await rig.closes(left.id))
      const pressed = present(positionOf(rig, left.id).close, 'close').price
      rig.world.pass(20 * SECOND_MS)
      await rig.moves(scored())
      await rig.moves(scored(KNOWN))
      expect(present(positionOf(rig, left.id).close, 'close').price).toBe(pressed + baseOf(rig, n) - before)
      followsFormula(rig, left.id)
      balanced(rig)
    }
  })

  it('[N1] a review that has been answered reaches no later news', async () => {
    const closedAfter = async (addition: string) => {
      const rig = await kickOff()
      const left = await holder(rig, 6)
      const review = row({ id: 702, kind: 'var', addition: 'Goal under review' })
      await rig.moves({ ...scored(KNOWN), events: [goal, review] })
      const seen = { ...scored(KNOWN), events: [goal, { ...review, addition }] }
      await rig.moves(seen)
      rig.world.pass(100 * SECOND_MS)
      await rig.moves(seen)
      ok(await rig.closes(left.id))
      const pressed = present(positionOf(rig, left.id).close, 'close').price
      rig.world.pass(LATE_MS + SECOND_MS)
      const equaliser = row({ id: 703, side: 'away', playerId: playerId(6), minute: 3, result: '1-1' })
      const level = { ...leads, away: { id: 2, name: 'Mill', goals: 1 }, events: [...seen.events, equaliser] }
      await rig.moves({ ...level, players: squad({ ...KNOWN, 6: { [GOALS]: 1 } }) })
      return present(positionOf(rig, left.id).close, 'close').price - pressed
    }
    expect(await closedAfter('Goal confirmed')).toBe(0)
    expect(await closedAfter('Goal under review')).toBeGreaterThan(0)
  })

  it('[N2] a stop that fired before the news moves like a close by hand; a washout stays', async () => {
    const rig = await kickOff()
    const stopped = await holder(rig, 4, { stopLoss: (priceNow(rig, 4) - u(0.05)) as never })
    const washed = await opens(rig, 6, { userId: U(3) })
    await rig.moves({ players: squad({ 4: { 94: 40 } }) })
    const at = positionOf(rig, stopped.id)
    if (at.close === null) ok(await rig.closes(stopped.id))
    rig.world.pass(10 * SECOND_MS)
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    followsFormula(rig, stopped.id)
    expect(positionOf(rig, washed.id).close).toBeNull()
    balanced(rig)
  })

  it('[N2] opened and closed in one window: both move, and nothing is left of the news', async () => {
    const rig = await kickOff({ holdMs: 0 })
    const fresh = await opens(rig, 1)
    ok(await rig.closes(fresh.id))
    rig.world.pass(10 * SECOND_MS)
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    const position = positionOf(rig, fresh.id)
    expect(position.openPrice).toBeGreaterThan(fresh.openPrice)
    expect(present(position.close, 'close').pnl).toBe(0)
    followsFormula(rig, fresh.id)
    balanced(rig)
  })

  it('[N4] its proceeds open nothing until it stands', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    const free = freeOf(rig)
    ok(await rig.closes(left.id))
    expect(freeOf(rig)).toBe(free)
    rig.world.pass(PENALTY_LATE_MS)
    expect(freeOf(rig)).toBe(rig.store.walletOf(U(1)).balance)
  })

  it('[N4] after news they wait for what may still cancel it', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    const free = freeOf(rig)
    ok(await rig.closes(left.id))
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    rig.world.pass(NEWS_CANCELLED_WITHIN_MS - SECOND_MS)
    expect(freeOf(rig)).toBe(free)
    rig.world.pass(SECOND_MS)
    expect(freeOf(rig)).toBe(rig.store.walletOf(U(1)).balance)
  })

  it('[N5] what a cancelled goal had booked is booked back', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    const before = baseOf(rig, 1)
    ok(await rig.closes(left.id))
    const paid = present(positionOf(rig, left.id).close, 'close').price
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    await rig.moves(annulled())
    await rig.moves(annulled())
    expect(present(positionOf(rig, left.id).close, 'close').price - paid).toBe(baseOf(rig, 1) - before)
    followsFormula(rig, left.id)
    balanced(rig)
  })

  it('[N6] a new owner of the match goes on where the last one stopped', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 1)
    ok(await rig.closes(left.id))
    await rig.moves(scored())
    await rig.load()
    const [before, base] = [present(positionOf(rig, left.id).close, 'close').price, baseOf(rig, 1)]
    await rig.moves(scored(KNOWN))
    expect(present(positionOf(rig, left.id).close, 'close').price - before).toBe(baseOf(rig, 1) - base)
    expect(heldOf(rig)).toEqual([])
    balanced(rig)
  })

  it('[N2] a loss never exceeds the margin, and a move back is not lost beyond it', async () => {
    const rig = await kickOff()
    const left = await holder(rig, 2, { direction: 'long' })
    ok(await rig.closes(left.id))
    await rig.moves(scored())
    await rig.moves(scored(KNOWN))
    followsFormula(rig, left.id)
    await rig.moves(annulled())
    await rig.moves(annulled())
    followsFormula(rig, left.id)
  })
})

describe('the hold', () => {
  it('[N3] news holds whom it moves until list and statistics agree, and no other player', async () => {
    const rig = await kickOff()
    await rig.moves(scored())
    expect(heldOf(rig)).toEqual([1, 2, 3, 4, 8])
    expect(statusOf(rig, 1)).toBe('SUSPENDED')
    expect(statusOf(rig, 5)).toBe('OPEN')
    await rig.moves(scored(KNOWN))
    expect(heldOf(rig)).toEqual([])
    expect(statusOf(rig, 1)).toBe('OPEN')
  })

  it('[N3] without agreement closes wait 90 s and opens 300 s', async () => {
    const rig = await kickOff()
    const held = await holder(rig, 1)
    await rig.moves(scored())
    expect(codeOf(await rig.closes(held.id))).toBe('market_suspended')
    rig.world.pass(NEWS_MS)
    expect(codeOf(await rig.opens({ instrumentId: P(1), userId: U(2) }))).toBe('market_suspended')
    ok(await rig.closes(held.id))
    rig.world.pass(NEWS_OPENS_HOLD_MS - NEWS_MS)
    await rig.moves(scored())
    expect(statusOf(rig, 1)).toBe('OPEN')
  })

  it('[N7] in a replay all of it is match time', async () => {
    const rig = await kickOff()
    const early = await opens(rig, 1)
    rig.world.pass(SECOND_MS)
    const late = await opens(rig, 1, { userId: U(2) })
    rig.world.pass(LATE_MS / 60)
    await rig.moves(scored(), 60)
    expect(positionOf(rig, early.id).openPrice).toBe(early.openPrice)
    expect(positionOf(rig, late.id).openPrice).toBeGreaterThan(late.openPrice)
  })
})
