/** What must always be true of a match. A breach stops the actor, whose state is only a cache of committed facts. */
import { assert, InvariantBroken } from '../kernel/assert.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { PRICE_MIN } from '../kernel/limits.ts'
import type { Price } from '../kernel/micros.ts'
import { type Instrument, quoteOf } from '../market/instrument.ts'
import { exposureOf } from '../position/position.ts'
import type { MatchEvent } from './messages.ts'
import type { MatchView } from './state.ts'

/** Checked after every commit, for the instruments it touched. The cost does not grow with the open positions. */
export function checkTouched(view: MatchView, events: readonly MatchEvent[], capPpm: number): void {
  const touched = new Set<InstrumentId>()
  for (const event of events) if (event.kind === 'price_moved') touched.add(event.instrumentId)
  for (const id of touched) checkInstrument(view, id, capPpm)
}

/**
 * Checked when a match is loaded. The cost grows with the open positions. Triggers may be due: a rule that changed
 * while no actor ran has moved the prices, and the next `clock` command fires what they reached.
 */
export function checkAll(view: MatchView, capPpm: number): void {
  const exposure = new Map<InstrumentId, number>()
  for (const p of view.openPositions()) {
    exposure.set(p.instrumentId, (exposure.get(p.instrumentId) ?? 0) + exposureOf(p))
    assert(p.close === null, `position ${p.id} is closed but still held`)
    assert(p.fixtureId === view.info.matchId, `position ${p.id} belongs to another match`)
  }
  for (const i of view.instruments()) {
    const sum = exposure.get(i.id) ?? 0
    if (i.imbalance !== sum) {
      throw new InvariantBroken(`imbalance of ${i.id} is ${i.imbalance}, its positions sum to ${sum}`)
    }
    checkPrice(i, capPpm)
  }
  assert(view.info.settledAt === null || exposure.size === 0, 'positions are open in a settled match')
}

function checkInstrument(view: MatchView, id: InstrumentId, capPpm: number): void {
  const instrument = view.instrument(id)
  assert(instrument !== undefined, `instrument ${id} moved but is not listed`)
  const at = checkPrice(instrument, capPpm)
  if (instrument.settlement !== null) return
  const late = view.firing(id, at).find((p) => p.openPrice > 0)
  assert(late === undefined, `position ${late?.id} is open beyond its trigger`)
}

function checkPrice(instrument: Instrument, capPpm: number): Price {
  const { price } = quoteOf(instrument, capPpm)
  if (price < PRICE_MIN) throw new InvariantBroken(`price of ${instrument.id} is ${price}`)
  return price
}
