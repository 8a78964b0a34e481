/** What must always be true of a match. A breach stops the actor, whose state is only a cache of committed facts. */
import { assert, InvariantBroken } from '../kernel/assert.ts'
import type { InstrumentId } from '../kernel/ids.ts'
import { PRICE_MIN } from '../kernel/limits.ts'
import { type Instrument, quoteOf } from '../market/instrument.ts'
import { exposureOf } from '../position/position.ts'
import { dueOn } from './due.ts'
import type { MatchEvent } from './messages.ts'
import type { MatchView } from './state.ts'

/** Checked after every commit, for the instruments it touched. The cost does not grow with the open positions. */
export function checkTouched(view: MatchView, events: readonly MatchEvent[]): void {
  const touched = new Set<InstrumentId>()
  for (const event of events) if (event.kind === 'price_moved') touched.add(event.instrumentId)
  for (const id of touched) checkInstrument(view, id)
}

/**
 * Checked when a match is loaded. The cost grows with the open positions. Triggers may be due: a version with other
 * rules may have written the record, and the next `clock` command fires what is due.
 */
export function checkAll(view: MatchView): void {
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
    checkPrice(i)
  }
  assert(view.info.settledAt === null || exposure.size === 0, 'positions are open in a settled match')
}

function checkInstrument(view: MatchView, id: InstrumentId): void {
  const instrument = view.instrument(id)
  assert(instrument !== undefined, `instrument ${id} moved but is not listed`)
  checkPrice(instrument)
  const [late] = dueOn(view, instrument, 0)
  assert(late === undefined, `position ${late?.position.id} is open beyond its trigger`)
}

function checkPrice(instrument: Instrument): void {
  const { price } = quoteOf(instrument)
  if (price < PRICE_MIN) throw new InvariantBroken(`price of ${instrument.id} is ${price}`)
}
