import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recapOf } from '../../src/features/recaps/recap.ts'
import { recordOf, type Sums } from '../../src/features/recaps/record.ts'
import { type InstrumentId, instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { DAY_MS, HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { type ClosedBy, type ClosedPosition, realisedPnl } from '../../actors/position/position.ts'
import { p, trade, u } from '../support/fixtures.ts'

const START = money(u(10_000))

const closed = (at: number, pnl: number, by: ClosedBy = 'user'): ClosedPosition => ({
  ...trade().position,
  id: positionId(randomUUID()),
  openedAt: instant(at - 60_000),
  close: { price: p(200), base: p(200), pnl: money(pnl), at: instant(at), by, voidReason: null },
})

describe('a recap', () => {
  it('[R23] adds up what was closed, in the order of the closes', () => {
    const recap = recapOf(START, [closed(3_000_000, u(-5)), closed(1_000_000, u(20)), closed(2_000_000, u(1))])
    expect(recap).toMatchObject({ start: START, result: u(16), trades: 3, wins: 2 })
    expect(recap.curve).toEqual([
      { at: 940_000, value: u(10_000) },
      { at: 1_000_000, value: u(10_020) },
      { at: 2_000_000, value: u(10_021) },
      { at: 3_000_000, value: u(10_016) },
    ])
    expect(recap.best?.close.pnl).toBe(u(20))
    expect(recap.worst?.close.pnl).toBe(u(-5))
  })

  it('[R23] names no worst where all won', () => {
    const recap = recapOf(START, [closed(1_000_000, u(20)), closed(2_000_000, u(1))])
    expect(recap).toMatchObject({ wins: 2, worst: null })
  })

  it('[R23] a void position is booked, and is neither a trade nor the best', () => {
    const recap = recapOf(START, [closed(1_000_000, u(50), 'void'), closed(2_000_000, u(1))])
    expect(recap).toMatchObject({ result: u(51), trades: 1, wins: 1, worst: null })
    expect(recap.best?.close.pnl).toBe(u(1))
  })

  it('[R23] with marks, the curve values what is open at the price then', () => {
    const { position } = trade()
    const long: ClosedPosition = {
      ...position,
      openedAt: instant(1_000),
      close: {
        price: p(210),
        base: p(210),
        pnl: realisedPnl(position, p(210)),
        at: instant(9_000),
        by: 'user',
        voidReason: null,
      },
    }
    const mark = (at: number, price: number) => ({
      instrumentId: position.instrumentId,
      at: instant(at),
      price: p(price),
    })
    const { curve, result } = recapOf(
      START,
      [long],
      [mark(500, 150), mark(3_000, 190), mark(6_000, 240), mark(9_500, 1)],
    )
    expect(curve).toEqual([
      { at: 1_000, value: START },
      { at: 3_000, value: START + realisedPnl(position, p(190)) },
      { at: 6_000, value: START + realisedPnl(position, p(240)) },
      { at: 9_000, value: START + result },
    ])
    expect(new Set(curve.map(({ value }) => value)).size).toBe(4)
  })

  it('[R23] nothing is nothing', () => {
    expect(recapOf(START, [])).toEqual({
      start: START,
      result: 0,
      trades: 0,
      wins: 0,
      curve: [],
      best: null,
      worst: null,
    })
  })

  it('[R23] a long curve is thinned, and keeps its ends', () => {
    const closes = Array.from({ length: 5_000 }, (_, n) => closed(1_000_000 + n, n % 2 === 0 ? 3 : -1))
    const { curve, result } = recapOf(START, closes)
    expect(curve.length).toBe(200)
    expect(curve[0]).toEqual({ at: 940_000, value: START })
    expect(curve.at(-1)).toEqual({ at: 1_004_999, value: START + result })
  })

  it('[R23] the curve ends where start and result lead, whatever is closed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1e6, max: 1e7 }), fc.integer({ min: -1e9, max: 1e9 }))),
        (all) => {
          const recap = recapOf(
            START,
            all.map(([at, pnl]) => closed(at, pnl)),
          )
          expect(recap.result).toBe(all.reduce((sum, [, pnl]) => sum + pnl, 0))
          if (all.length > 0) expect(recap.curve.at(-1)?.value).toBe(START + recap.result)
        },
      ),
    )
  })
})

describe('a record', () => {
  const ROLES = ['GK', 'DEF', 'MID', 'FWD'] as const
  const players = ROLES.map(() => instrumentId(randomUUID()))
  const roleOf = (id: InstrumentId) => ROLES[players.indexOf(id)]

  it('[R26] adds up to what was closed, whole and by every group, wherever parts and void ones are', () => {
    const close = fc.record({
      at: fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2026, 11) }),
      heldMs: fc.integer({ min: 0, max: 2 * HOUR_MS }),
      pnl: fc.integer({ min: u(-50), max: u(50) }),
      player: fc.constantFrom(...players),
      direction: fc.constantFrom('long' as const, 'short' as const),
      isVoid: fc.boolean(),
      parts: fc.array(fc.integer({ min: u(-5), max: u(5) }), { maxLength: 2 }),
    })
    fc.assert(
      fc.property(fc.array(close, { maxLength: 30 }), (some) => {
        const closes = some.flatMap(({ at, heldMs, pnl, player, direction, isVoid, parts }) => {
          const whole = { ...closed(at, pnl, isVoid ? 'void' : 'user'), openedAt: instant(at - heldMs) }
          const own = { ...whole, instrumentId: player, direction }
          return [own, ...parts.map((part) => ({ ...own, ...partOf(own, part) }))]
        })
        const { total, byPlayer, byRole, byDirection, byTimeHeld, byMonth } = recordOf(closes, roleOf)
        const counted = closes.filter(({ close: { by } }) => by !== 'void')
        expect(total.pnl).toBe(counted.reduce((sum, one) => sum + one.close.pnl, 0))
        expect(total.margin).toBe(counted.reduce((sum, { margin }) => sum + margin, 0))
        for (const groups of [byPlayer, byRole, byDirection, byTimeHeld, byMonth]) {
          const sum = (of: (sums: Sums) => number): number => groups.reduce((all, one) => all + of(one), 0)
          for (const name of ['trades', 'wins', 'losses', 'pnl', 'margin'] as const) {
            expect(sum((sums) => sums[name])).toBe(total[name])
          }
        }
        expect(byMonth.map(({ key }) => key)).toEqual(byMonth.map(({ key }) => key).toSorted())
      }),
    )
  })

  it('[R24] a whole was closed with its last part, though that was void', () => {
    const rest = closed(32 * DAY_MS, 0, 'void')
    const part = { ...closed(30 * DAY_MS, u(10)), partOf: rest.id }
    expect(recordOf([rest], () => 'FWD', [part]).byMonth).toMatchObject([{ key: '1970-02', trades: 1, wins: 1 }])
  })

  it('[R26] a minute is not under a minute, and the average of losses is rounded against the trader', () => {
    const held = (ms: number, pnl: number) => ({ ...closed(5 * HOUR_MS, pnl), openedAt: instant(5 * HOUR_MS - ms) })
    const { total, byTimeHeld } = recordOf([held(59_999, -1), held(60_000, -2), held(HOUR_MS, 3)], () => 'GK')
    expect(byTimeHeld.map(({ key, trades }) => [key, trades])).toEqual([
      [60_000, 1],
      [300_000, 1],
      [null, 1],
    ])
    expect([total.averageWin, total.averageLoss]).toEqual([3, -2])
  })
})

const partOf = ({ id, close, ...whole }: ClosedPosition, pnl: number): ClosedPosition => ({
  ...whole,
  id: positionId(randomUUID()),
  partOf: id,
  close: { ...close, pnl: money(pnl) },
})
