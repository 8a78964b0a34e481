/** The end of a match, as its prices take it: they stand still, and follow again if play goes on. */
import type { Phase } from '../market/phase.ts'
import type { Draft } from './state.ts'

export const hasEnded = (phase: Phase): boolean => phase === 'ended' || phase === 'final'

/**
 * When the match has ended its quotes stand still, so that everyone leaves at the price that was published then. If
 * play goes on they follow the crowd again. What a price has fired leaves first.
 */ // T33
export function followWhistle(draft: Draft): void {
  const isOver = hasEnded(draft.info.phase)
  for (const { id, impactCapPpm, imbalance, leavingFrom, endedImbalance } of Array.from(draft.instruments())) {
    if ((endedImbalance !== null) === isOver || leavingFrom !== null) continue
    draft.emit({ kind: 'curve_changed', instrumentId: id, impactCapPpm, endedImbalance: isOver ? imbalance : null })
  }
}
