import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { positionId } from '../../actors/kernel/ids.ts'
import { lots, money, type Price, price } from '../../actors/kernel/micros.ts'
import { boundsOf, TriggerBook, triggerAt, warningAt } from '../../actors/position/triggers.ts'
import type { Position } from '../../actors/position/position.ts'
import { KICK_OFF, MATCH, p, P, U, u } from '../support/fixtures.ts'

function position(over: Partial<Position> = {}): Position {
  return {
    id: positionId('1'),
    userId: U(1),
    instrumentId: P(1),
    fixtureId: MATCH,
    direction: 'long',
    lots: lots(u(1)),
    openPrice: p(200),
    margin: money(u(100)),
    stopLoss: null,
    takeProfit: null,
    openedAt: KICK_OFF,
    closableAt: KICK_OFF,
    warned: 0,
    close: null,
    ...over,
  }
}

/** Whether a price closes a position or calls for a warning. */
const isConcerned = (one: Position, at: Price) => triggerAt(one, at) !== null || warningAt(one, at) !== null

describe('triggers', () => {
  it('[T10] a long stops at or below its stop-loss, takes profit at or above, washes out a tenth below', () => {
    const long = position({ stopLoss: p(190), takeProfit: p(210) })
    expect([p(190), price(u(190) + 1), p(210), p(180)].map((at) => triggerAt(long, at))).toEqual([
      'stop_loss',
      null,
      'take_profit',
      'stop_loss',
    ])
    expect(triggerAt(position(), p(180))).toBe('washout')
  })

  it('[T10] a short is the mirror image', () => {
    const short = position({ direction: 'short', stopLoss: p(210), takeProfit: p(190) })
    expect([p(210), p(190), p(200)].map((at) => triggerAt(short, at))).toEqual(['stop_loss', 'take_profit', null])
    expect(triggerAt(position({ direction: 'short' }), p(220))).toBe('washout')
  })

  it('the book fires exactly the positions that a price concerns', () => {
    const cents = (low: number, high: number) => fc.integer({ min: low, max: high }).map((n) => price(n * 10_000))
    const drawn = fc.record({
      direction: fc.constantFrom('long' as const, 'short' as const),
      openPrice: cents(15_000, 25_000),
      stopLoss: fc.option(cents(10_000, 30_000)),
      takeProfit: fc.option(cents(10_000, 30_000)),
      leaves: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 1500 }), fc.array(cents(9_000, 31_000)), (rows, ticks) => {
        const book = new TriggerBook()
        const all = rows.map((row, i) => ({ ...position({ ...row, id: positionId(String(i)) }), leaves: row.leaves }))
        for (const one of all) book.add(one)
        for (const one of all) if (one.leaves) book.remove(one)
        for (const at of ticks) {
          const expected = all.filter((one) => !one.leaves && isConcerned(one, at)).map((one) => one.id)
          expect(new Set(book.firing(at))).toEqual(new Set(expected))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('removing a position that is not in the book is a broken invariant', () => {
    const book = new TriggerBook()
    book.add(position())
    expect(() => book.remove(position({ id: positionId('2') }))).toThrow(
      '{"price":190000000,"id":"2"} is not in the sorted list',
    )
  })

  it('the nearest of stop-loss, washout and next warning bounds a position', () => {
    const told = { warned: 80 } as const
    expect(boundsOf(position({ stopLoss: p(150), ...told })).floor).toBe(u(180))
    expect(boundsOf(position({ direction: 'short', stopLoss: p(300), ...told })).ceiling).toBe(u(220))
    expect(boundsOf(position({ stopLoss: p(150), warned: 50 })).floor).toBe(u(184))
    expect(boundsOf(position({ stopLoss: p(195) })).floor).toBe(u(195))
  })

  it('[T13] a warning is due at 50 and at 80 per cent of the margin lost, the higher one when both are', () => {
    const at = [191, 190, 185, 184, 181].map((units) => warningAt(position(), p(units)))
    expect(at).toEqual([null, 50, 50, 80, 80])
    const short = position({ direction: 'short', warned: 50 })
    expect([p(210), p(215), p(216)].map((one) => warningAt(short, one))).toEqual([null, null, 80])
  })
})
