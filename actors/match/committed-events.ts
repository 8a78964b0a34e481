/** Match events → the committed events that reactions read from the outbox. */
import type { CommittedEvent } from '../community/committed-event.ts'
import { baseMoveOf, type Close, type Position } from '../position/position.ts'
import { money } from '../kernel/micros.ts'
import { baseMoveShifted } from '../position/recent-close.ts'
import type { CloseCorrected, MatchEvent } from './messages.ts'

/** The events of a batch that have reactions, in order. A batch of price moves alone has none. */
export function committedEvents(events: readonly MatchEvent[]): readonly CommittedEvent[] {
  return events.flatMap((event): CommittedEvent[] => {
    switch (event.kind) {
      case 'position_opened':
        return [{ kind: 'opened', userId: event.position.userId, purse: event.position.purse }]
      case 'margin_warned':
        if (event.position.warned === 0) return []
        return [{ kind: 'margin_warned', ...of(event.position), lostPct: event.position.warned }]
      case 'position_closed':
        return [{ kind: 'closed', ...of(event.position), ...closingOf(event.position, event.position.close) }]
      case 'close_corrected':
        return correctedEvents(event)
      case 'match_updated':
        return event.info.settledAt === null ? [] : [{ kind: 'match_settled' }]
      case 'instrument_listed':
      case 'news_changed':
      case 'curve_changed':
      case 'leaving_changed':
      case 'instrument_settled':
      case 'price_moved':
      case 'levels_changed':
      case 'close_forgotten':
        return []
    }
  })
}

/** None for a close whose proceeds were only held, or let go. */
function correctedEvents({ position, amount, shift }: CloseCorrected): CommittedEvent[] {
  const { pnl, by } = position.close
  const [was, is] = [baseMoveShifted(position, shift.before), baseMoveShifted(position, shift.after)]
  if (amount === 0 && was === is) return []
  const before = { pnl: money(pnl - amount), baseMove: was }
  return [{ kind: 'corrected', ...of(position), before, pnl, baseMove: is, openedAt: position.openedAt, by }]
}

const of = ({ id, userId, purse, instrumentId, direction, lots, margin }: Position) => ({
  positionId: id,
  userId,
  purse,
  instrumentId,
  direction,
  lots,
  margin,
})

const closingOf = (position: Position, { base, pnl, by, voidReason }: Close) => ({
  pnl,
  baseMove: baseMoveOf(position, base),
  openedAt: position.openedAt,
  by,
  voidReason,
})
