import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, instrumentId, positionId, userId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { levelsValid, marginFor, type Position } from '../../actors/position/position.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import {
  type Habit,
  HABITS,
  nextAction,
  type SeenInstrument,
  type TraderView,
  type TraderAction,
} from '../../actors/replay/traders.ts'

const NOW = instant(1_000_000)
const USER = userId('u')
const of = (habit: Habit) => ({ userId: USER, habit })

const seen = (n: number, at: number, over: Partial<SeenInstrument> = {}): SeenInstrument => ({
  instrumentId: instrumentId(`p${n}`),
  price: price(at * 1e6),
  base: price(at * 1e6),
  start: price(200e6),
  suspended: false,
  ...over,
})

const held = (n: number, over: Partial<Position> = {}): Position => ({
  id: positionId(`x${n}`),
  userId: USER,
  purse: 'main',
  instrumentId: instrumentId(`p${n}`),
  fixtureId: fixtureId(1),
  direction: 'long',
  lots: lots(500_000),
  openPrice: price(200e6),
  openBase: price(200e6),
  margin: money(50e6),
  openedAt: instant(0),
  closableAt: instant(180_000),
  warned: 0,
  stopLoss: null,
  takeProfit: null,
  close: null,
  ...over,
})

const sight = (over: Partial<TraderView> = {}): TraderView => ({
  now: NOW,
  balance: money(10_000e6),
  instruments: [seen(1, 210), seen(2, 191), seen(3, 200)],
  positions: [],
  ...over,
})

/** What a trader does when asked often. */
function actions(habit: Habit, see: TraderView, times = 2_000): readonly TraderAction[] {
  const chance = chanceFrom(5)
  return Array.from({ length: times }, () => nextAction(of(habit), see, (n) => chance.below(n))).filter(
    (a) => a !== null,
  )
}
const opens = (habit: Habit, see: TraderView = sight()) => actions(habit, see).filter((a) => a.kind === 'open_position')

describe('simulated traders', () => {
  it.each(HABITS)('%s asks only for what the rules allow and the wallet can pay', (habit) => {
    for (const balance of [10_000e6, 400e6, 60e6]) {
      for (const order of opens(habit, sight({ balance: money(balance) }))) {
        const instrument = present(
          sight().instruments.find((i) => i.instrumentId === order.instrumentId),
          'instrument',
        )
        expect(order.lots % DEFAULT_RULES.lotStep).toBe(0)
        expect(order.lots).toBeGreaterThanOrEqual(50_000)
        expect(order.lots).toBeLessThanOrEqual(3_000_000)
        expect(marginFor(instrument.price, order.lots)).toBeLessThanOrEqual(balance / 5)
        expect(order.clientPrice).toBe(instrument.price)
        expect(levelsValid(order.direction, order, instrument.price)).toBe(true)
      }
    }
    expect(opens(habit, sight({ balance: money(1e6) }))).toEqual([])
    expect(opens(habit).length).toBeGreaterThan(0)
  })

  it.each(HABITS)('%s leaves suspended players and held positions alone', (habit) => {
    const suspended = sight().instruments.map((i) => ({ ...i, suspended: true }))
    const positions = [held(1, { openPrice: price(300e6), stopLoss: price(180e6) })]
    expect(actions(habit, sight({ instruments: suspended, positions }))).toEqual([])
    const onHold = [held(1, { openPrice: price(300e6), closableAt: instant(NOW + 1) })]
    expect(actions(habit, sight({ positions: onHold })).filter((a) => a.kind === 'close_position')).toEqual([])
  })

  it('a trend follower buys risen and sells fallen players, a contrarian the reverse', () => {
    const directions = (habit: Habit, n: number) =>
      new Set(
        opens(habit)
          .filter((a) => a.instrumentId === `p${n}`)
          .map((a) => a.direction),
      )
    expect(directions('trend_follower', 1)).toEqual(new Set(['long']))
    expect(directions('trend_follower', 2)).toEqual(new Set(['short']))
    expect(directions('contrarian', 1)).toEqual(new Set(['short']))
    expect(directions('contrarian', 2)).toEqual(new Set(['long']))
    const pushed = seen(3, 200, { price: price(215e6) }) // by the crowd alone
    for (const habit of ['trend_follower', 'contrarian'] as const) {
      expect(opens(habit, sight({ instruments: [pushed] }))).toEqual([])
    }
  })

  it('a panicker closes a small loss at once, an eager trader may keep it', () => {
    const see = sight({ instruments: [seen(1, 199)], positions: [held(1)] })
    expect(actions('panicker', see, 50)).toHaveLength(50)
    expect(actions('panicker', see, 1)).toEqual([
      { kind: 'close_position', userId: USER, positionId: 'x1', idempotency: null },
    ])
    expect(actions('eager', see, 50).filter((a) => a.kind === 'close_position').length).toBeLessThan(30)
  })

  it('a careful trader opens with levels and moves the stop-loss after the price, never back', () => {
    expect(opens('careful')).not.toEqual([])
    for (const order of opens('careful')) expect([order.stopLoss, order.takeProfit]).not.toContain(null)
    const long = held(1, { stopLoss: price(197e6), takeProfit: price(230e6) })
    expect(actions('careful', sight({ positions: [long] }), 1)).toEqual([
      { kind: 'change_levels', userId: USER, positionId: 'x1', stopLoss: 206_850_000, takeProfit: undefined },
    ])
    const short = held(2, { direction: 'short', stopLoss: price(203e6), takeProfit: price(170e6) })
    expect(actions('careful', sight({ positions: [short] }), 1)[0]).toMatchObject({ stopLoss: 193_865_000 })
    const fallen = held(2, { stopLoss: price(190e6) })
    expect(actions('careful', sight({ positions: [fallen] })).filter((a) => a.kind === 'change_levels')).toEqual([])
  })

  it('an idle trader does little, an eager one a lot, and none hoards positions', () => {
    expect(opens('idle').length).toBeLessThan(30)
    expect(opens('eager').length).toBeGreaterThan(500)
    const many = Array.from({ length: 8 }, (_, n) => held(n + 10))
    for (const habit of HABITS) expect(opens(habit, sight({ positions: many }))).toEqual([])
  })

  it('the same chance makes the same choice', () => {
    for (const habit of HABITS) expect(actions(habit, sight())).toEqual(actions(habit, sight()))
  })
})
