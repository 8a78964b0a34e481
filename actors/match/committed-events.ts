/** From what happened in a match to what its reactions are told. */
import type { CommittedEvent } from '../community/committed-event.ts'
import type { Position } from '../position/position.ts'
import type { MatchEvent } from './messages.ts'

/** Those of a batch's events that something may follow from, in their order; none for a batch of mere price moves. */
export function committedEvents(events: readonly MatchEvent[]): readonly CommittedEvent[] {
  return events.flatMap((event): CommittedEvent[] => {
    switch (event.kind) {
      case 'position_opened':
        return [{ kind: 'opened', ...of(event.position) }]
      case 'margin_warned':
        if (event.position.warned === 0) return []
        return [{ kind: 'margin_warned', ...of(event.position), lostPct: event.position.warned }]
      case 'position_closed':
        return [{ kind: 'closed', ...of(event.position), pnl: event.position.close.pnl, by: event.position.close.by }]
      case 'match_updated':
        return event.info.settledAt === null ? [] : [{ kind: 'match_settled' }]
      case 'instrument_listed':
      case 'instrument_suspended':
      case 'instrument_settled':
      case 'price_moved':
      case 'levels_changed':
        return []
    }
  })
}

const of = ({ id, userId, instrumentId, direction, lots, margin }: Position) => ({
  positionId: id,
  userId,
  instrumentId,
  direction,
  lots,
  margin,
})
