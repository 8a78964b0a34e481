import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { positionId } from '../../actors/kernel/ids.ts'
import { type Lots, lots, money, type Price, price, slope } from '../../actors/kernel/micros.ts'
import {
  boundsOf,
  halfImpact,
  isDueAt,
  NO_REACH,
  reachOf,
  TriggerBook,
  TriggerBooks,
  triggerAt,
  warningAt,
} from '../../actors/position/triggers.ts'
import { exitPrice, type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { exposureOf, type Position } from '../../actors/position/position.ts'
import { held, instrument, p, u } from '../support/fixtures.ts'

/** Its margin is that of one lot, whatever its size. */
const position = (over: Partial<Position> = {}) => held({ margin: money(u(100)), ...over })

/** Whether a price closes a position or calls for a warning. */
const isConcerned = (one: Position, at: Price) => {
  const isDue = triggerAt(one, at) !== null || warningAt(one, at) !== null
  expect(isDueAt(one, at)).toBe(isDue)
  return isDue
}

/** A level so close to an exit price is found before it is due. */
const isNear = (one: Position, at: Price): boolean => {
  const { floor, ceiling } = boundsOf(one)
  return (floor !== null && at - floor <= 9) || (ceiling !== null && ceiling - at <= 9)
}

/** How much nearer to the published price the cap brings the exit price of the largest position. */
function bendOf(at: Instrument, largest: Lots): number {
  if (largest === 0) return 0
  const [half, published] = [halfImpact(at.slope, largest), quoteOf(at).price]
  const long = exitPrice(at, largest) - (published - half)
  return Math.max(0, long, published + half - exitPrice(at, lots(-largest)))
}

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

  it('a search finds every position whose exit price is due, wherever the crowd stands, and few others', () => {
    const cents = (low: number, high: number) => fc.integer({ min: low, max: high }).map((n) => price(n * 10_000))
    const drawn = fc.record({
      direction: fc.constantFrom('long' as const, 'short' as const),
      lots: fc.integer({ min: 1, max: 10_000 }).map((n) => lots(n * 10_000)),
      openPrice: cents(15_000, 25_000),
      stopLoss: fc.option(cents(10_000, 30_000)),
      takeProfit: fc.option(cents(10_000, 30_000)),
      leaves: fc.boolean(),
    })
    const markets = fc.record({
      base: cents(10_000, 31_000),
      imbalance: fc.integer({ min: -300, max: 300 }).map((n) => lots(u(n))),
      impactCapPpm: fc.constantFrom(1_000, 5_000, 99_000),
    })
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 300 }), fc.array(markets, { maxLength: 20 }), (rows, ticks) => {
        const book = new TriggerBook(slope(u(0.01)))
        const all = rows.map((row, i) => ({ ...position({ ...row, id: positionId(String(i)) }), leaves: row.leaves }))
        for (const one of all) book.add(one)
        for (const one of all) if (one.leaves) book.remove(one)
        const staying = all.filter((one) => !one.leaves)
        for (const market of ticks) {
          const at = instrument(1, market)
          const isDue = (one: Position): boolean => isConcerned(one, exitPrice(at, exposureOf(one)))
          const reach = reachOf(quoteOf(at).price, bendOf(at, book.largest))
          const found = new Set(Array.from(book.within(reach), ({ id }) => id))
          expect(staying.filter((one) => isDue(one) && !found.has(one.id))).toEqual([])
          // On the straight piece of the curve it finds what is due, and what is within a few micros of that.
          const isStraight = Math.abs(market.imbalance) + book.largest < (quoteOf(at).base * market.impactCapPpm) / 1e4
          const idle = staying.filter((one) => found.has(one.id) && !isDue(one))
          if (isStraight) expect(idle.filter((one) => !isNear(one, exitPrice(at, exposureOf(one))))).toEqual([])
        }
      }),
      { numRuns: 60 },
    )
  })

  it('a search that goes on from another finds what that has not, and nothing twice', () => {
    const book = new TriggerBook(slope(u(0.01)))
    const stops = [190, 191, 192, 193]
    for (const stop of stops) book.add(position({ id: positionId(String(stop)), stopLoss: p(stop), warned: 80 }))
    const [first, second] = [reachOf(p(192), 0), reachOf(p(190.5), 0)]
    const stopsIn = (...search: Parameters<TriggerBook['within']>) =>
      Array.from(book.within(...search), ({ stopLoss }) => stopLoss)
    expect(stopsIn(first)).toEqual([p(193), p(192)])
    expect([...book.within(first, first)]).toEqual([])
    expect(stopsIn(reachOf(p(190), 0), first)).toEqual([p(191), p(190)])
    expect([...book.within(second, NO_REACH)]).toHaveLength(3)
  })

  it('a position is kept where its exit price reaches its level: half its own impact from the published price', () => {
    expect(halfImpact(slope(u(0.01)), lots(u(10)))).toBe(u(0.05))
    const book = new TriggerBook(slope(u(0.01)))
    book.add(position({ lots: lots(u(10)), stopLoss: p(190) }))
    expect([...book.within(reachOf(price(u(190.05) + 3), 0))]).toHaveLength(1)
    expect([...book.within(reachOf(price(u(190.05) + 4), 0))]).toHaveLength(0)
  })

  it('[T10] an instrument that is listed again with another slope gets another book', () => {
    const books = new TriggerBooks()
    const large = position({ lots: lots(u(10)), stopLoss: p(190) })
    books.add(large, slope(u(0.01)))
    books.remove(large)
    books.add(position({ lots: lots(u(2)), stopLoss: p(190) }), slope(u(0.02)))
    const book = present(books.of(large.instrumentId), 'book')
    expect(book.largest).toBe(lots(u(2)))
    expect([...book.within(reachOf(price(u(190.02) + 3), 0))]).toHaveLength(1)
    expect([...book.within(reachOf(price(u(190.02) + 4), 0))]).toHaveLength(0)
  })

  it('removing a position that is not in the book is a broken invariant', () => {
    const book = new TriggerBook(slope(u(0.01)))
    book.add(position())
    expect(() => book.remove(position({ id: positionId('2') }))).toThrow(
      /"key":190005000,"position":.*"id":"2".* is not in the sorted list/,
    )
  })

  it('the nearest of stop-loss, washout and next warning bounds a position', () => {
    const warned = { warned: 80 } as const
    expect(boundsOf(position({ stopLoss: p(150), ...warned })).floor).toBe(u(180))
    expect(boundsOf(position({ direction: 'short', stopLoss: p(300), ...warned })).ceiling).toBe(u(220))
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
