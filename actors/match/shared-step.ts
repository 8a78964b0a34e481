/**
 * Levels that fired together and are too many for one commit. They share one step on the curve and one price all the
 * same, over as many commits as it takes.
 *
 * The instrument remembers only the imbalance that they leave from. Until they are out it is not traded, and its levels
 * and base stand still, so only they move its imbalance. That determines which positions they are: those that are open
 * and due at the imbalance that they leave from. It also determines their price: the positions already out are what the
 * imbalance has lost. A new owner finds both again after a crash at any point.
 */
import type { InstrumentId } from '../kernel/ids.ts'
import { type Lots, lots, type Price } from '../kernel/micros.ts'
import { exitPrice, type Instrument } from '../market/instrument.ts'
import { type Due, dueOf, watchedOn } from './due.ts'
import type { Draft, MatchView } from './state.ts'
import { exposureOfLeaving, fireTriggers, leaveTogether } from './trading.ts'
import type { Terms } from './terms.ts'
import { followWhistle } from './whistle.ts'

/** The positions of a step that are still open, and the price of the step. */
export interface SharedStep {
  readonly instrumentId: InstrumentId
  readonly due: readonly Due[]
  readonly price: Price
}

/** The instrument as it was when the step began. */
const atBegin = (instrument: Instrument, leavingFrom: Lots): Instrument => ({
  ...instrument,
  imbalance: leavingFrom,
  leavingFrom: null,
})

/** The positions looked at in one turn of the event loop. */
const TURN_MAX = 2_000

/** The instrument whose positions are still leaving together, and the imbalance that they leave from. */
export function leavingOf(view: MatchView): { readonly instrument: Instrument; readonly from: Lots } | null {
  for (const instrument of view.instruments()) {
    if (instrument.leavingFrom !== null) return { instrument, from: instrument.leavingFrom }
  }
  return null
}

/** Whether users wait for the match to close their positions: at full time, or since a price has fired their levels. */
export function isClosing(view: MatchView): boolean {
  const { settling, settledAt } = view.info
  return (settling !== null && settledAt === null) || leavingOf(view) !== null
}

/**
 * Finds the positions of the step that are still open. Looks at each once; waits for `pause` in between, so that no
 * turn of the event loop takes long. Nothing on the instrument may change meanwhile.
 */
export async function findStep(
  view: MatchView,
  instrument: Instrument,
  leavingFrom: Lots,
  pause: () => Promise<void>,
): Promise<SharedStep> {
  const began = atBegin(instrument, leavingFrom)
  const due: Due[] = []
  let looked = 0
  let leaving = 0
  for (const position of watchedOn(view, began)) {
    const one = dueOf(began, position)
    if (one !== null) {
      due.push(one)
      leaving += exposureOfLeaving([one])
    }
    if (++looked % TURN_MAX === 0) await pause()
  }
  const out = leavingFrom - instrument.imbalance
  return { instrumentId: instrument.id, due, price: exitPrice(began, lots(out + leaving)) }
}

/**
 * Closes as many positions as the batch has room for. After the last one, fires the triggers that the step has reached;
 * a match that ended meanwhile then stands still.
 * Returns the positions that are still open, or null when the step is complete.
 */ // T35
export function continueStep(draft: Draft, step: SharedStep, terms: Terms): SharedStep | null {
  const { instrumentId, due, price } = step
  const count = draft.room
  leaveTogether(draft, { due: due.slice(0, count), price }, instrumentId, terms)
  if (due.length > count) return { instrumentId, due: due.slice(count), price }
  draft.emit({ kind: 'leaving_changed', instrumentId, leavingFrom: null })
  fireTriggers(draft, instrumentId, terms)
  followWhistle(draft)
  return null
}
