/** Match events → the committed events that reactions read from the outbox. */
import type { CommittedEvent } from '../community/committed-event.ts'
import { baseMoveOf, type Close, type Position } from '../position/position.ts'
import type { FillMoved, MatchEvent } from './messages.ts'

/** The events of a batch that have reactions, in order. A batch of price moves alone has none. */
export function committedEvents(events: readonly MatchEvent[]): readonly CommittedEvent[] {
  return events.flatMap((event): CommittedEvent[] => {
    switch (event.kind) {
      case 'position_opened':
        return [{ kind: 'opened', userId: event.position.userId, purse: event.position.purse }]
      case 'margin_warned':
        if (event.position.warned === 0) return []
        return [{ kind: 'margin_warned', ...aboutPosition(event.position), lostPct: event.position.warned }]
      case 'position_closed':
        return [
          { kind: 'closed', ...aboutPosition(event.position), ...closingOf(event.position, event.position.close) },
        ]
      case 'match_updated':
        return event.info.settledAt === null ? [] : [{ kind: 'match_settled' }]
      case 'fill_moved':
        return movedEvents(event)
      case 'news_changed':
      case 'close_forgotten':
      case 'instrument_listed':
      case 'curve_changed':
      case 'leaving_changed':
      case 'instrument_settled':
      case 'price_moved':
      case 'position_split':
      case 'levels_changed':
        return []
    }
  })
}

/** None where a close has only been decided to stand, or to wait. */
function movedEvents({ position, before, amount, rest }: FillMoved): CommittedEvent[] {
  const { close } = position
  if (close === null || before.close === null) {
    return [{ kind: 'fill_moved', ...aboutPosition(position), from: before.openPrice, to: position.openPrice }]
  }
  const [was, is] = [baseMoveOf(before, before.close.base), baseMoveOf(position, close.base)]
  if (amount === 0 && was === is) return []
  const earned = { before: { pnl: before.close.pnl, baseMove: was }, pnl: close.pnl, baseMove: is }
  const told = { ...partsOf(position), ...(rest === undefined ? {} : { waits: true as const }) }
  return [
    { kind: 'corrected', ...aboutPosition(position), ...earned, openedAt: position.openedAt, by: close.by, ...told },
  ]
}

/** What every event of a position says of it. */
export const aboutPosition = ({ id, userId, purse, instrumentId, direction, lots, margin }: Position) => ({
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
  ...partsOf(position),
})

const partsOf = ({ partOf, parted }: Position) => ({
  ...(partOf === undefined ? {} : { partOf }),
  ...(parted === undefined ? {} : { parted }),
})
