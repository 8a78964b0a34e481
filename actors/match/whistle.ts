/** The end of a match, as its prices take it: they stand still, and follow again if play goes on. */
import type { Phase } from '../market/phase.ts'
import type { Draft } from './state.ts'

export const hasEnded = (phase: Phase): boolean => phase === 'ended' || phase === 'final'

/**
 * When the match has ended, or is void, its quotes stand still: everyone leaves an ended one at the price that was
 * published then, and a settled price keeps the imbalance that it contains. If play goes on they follow the crowd
 * again. What a price has fired leaves first.
 */ // T33
export function followWhistle(draft: Draft): void {
  const isOver = hasEnded(draft.info.phase) || draft.info.settling !== null
  for (const before of Array.from(draft.instruments())) {
    const { id, impactCapPpm, imbalance, leavingFrom, endedImbalance, settlement } = before
    if ((endedImbalance !== null) === isOver || leavingFrom !== null || settlement !== null) continue
    draft.emit({ kind: 'curve_changed', instrumentId: id, impactCapPpm, endedImbalance: isOver ? imbalance : null })
  }
}
