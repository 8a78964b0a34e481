/** How an operator voids a position. */
import { money, price } from '../kernel/micros.ts'
import type { VoidPosition } from './messages.ts'
import { forgetClose } from './protection/protect.ts'
import type { Draft } from './state.ts'
import { emitMove, fireTriggers } from './trading.ts'
import type { Terms } from './terms.ts'

/**
 * Closes an open position at its own opening: its margin is given back and nothing else, whatever the price and the
 * trade window are. What a closed one has earned is taken back in the database.
 * @returns false when it is not open in this match.
 */ // C3
export function voidPosition(draft: Draft, { positionId }: VoidPosition, terms: Terms): boolean {
  const position = draft.position(positionId)
  if (position === undefined) {
    forgetClose(draft, positionId)
    return false
  }
  const before = draft.listed(position.instrumentId)
  // A corrupt record has no open price to show as its close.
  const at = price(position.openPrice === 0 ? before.base : position.openPrice)
  const how = { at: terms.at, by: 'void', voidReason: 'operator' } as const
  const close = { price: at, base: position.openBase, pnl: money(0), ...how }
  draft.emit({ kind: 'position_closed', position: { ...position, close } })
  emitMove(draft, before, 'trade', 0, terms)
  fireTriggers(draft, before.id, terms)
  return true
}
