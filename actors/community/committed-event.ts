/** The events of a commit that the outbox keeps for reactions. Price moves are left out. */
import type { InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import { type Lots, lots, type Money, money, type Price } from '../kernel/micros.ts'
import type { Purse } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import type { ClosedBy, Direction, Parted, VoidReason } from '../position/position.ts'

interface Owned {
  readonly userId: UserId
  readonly purse: Purse
}

interface PositionFacts extends Owned {
  readonly positionId: PositionId
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  readonly lots: Lots
  readonly margin: Money
}

/** What a close has brought. */
export interface Earned {
  readonly pnl: Money
  /** What the match alone made of it: the PnL that returns are ranked by. */
  readonly baseMove: Money
}

/** How the close of a position in parts is described. */
interface InParts {
  /** The position that it is a part of; absent for the last part, and for a position that had none. */
  readonly partOf?: PositionId
  /** Of the last part: what those before it came to. */
  readonly parted?: Parted
}

interface Closing extends Earned {
  readonly openedAt: Instant
  readonly by: ClosedBy
  readonly voidReason: VoidReason | null
}

export type CommittedEvent =
  /** Only the owner, which is all that reactions need: every trade pays for what is kept here. */
  | ({ readonly kind: 'opened' } & Owned)
  /** This share of the margin is lost. */
  | ({ readonly kind: 'margin_warned'; readonly lostPct: 50 | 80 } & PositionFacts)
  | ({ readonly kind: 'closed' } & PositionFacts & Closing & InParts)
  /** Protection: news has moved the fill of an open position. */
  | ({ readonly kind: 'fill_moved'; readonly from: Price; readonly to: Price } & PositionFacts)
  /** Protection: news has moved a close: what it had counted for, and what it counts for now. */
  | ({ readonly kind: 'corrected'; readonly before: Earned } & PositionFacts &
      Omit<Closing, 'voidReason'> &
      InParts & {
        /** Of a part whose rest is open: the last close will count it. */
        readonly waits?: true
      })
  /** An operator has voided a closed position: what it had counted for. It may come after the end of the match. */
  | ({ readonly kind: 'voided'; readonly before: Earned; readonly closedAt: Instant } & PositionFacts &
      Pick<Closing, 'openedAt' | 'by'> &
      Pick<InParts, 'partOf'> & {
        /** What the other parts of the position that are not void have realised; absent without any. */
        readonly others?: Money
      })
  /** The last position is closed; nothing but voids follows. */
  | { readonly kind: 'match_settled' }

export type VoidedEvent = Extract<CommittedEvent, { readonly kind: 'voided' }>

export type FillMovedEvent = Extract<CommittedEvent, { readonly kind: 'fill_moved' }>

export type CorrectedEvent = Extract<CommittedEvent, { readonly kind: 'corrected' }>

export type ClosedEvent = Extract<CommittedEvent, { readonly kind: 'closed' }>

/**
 * What an event counts for; null for nothing. A position counts once, when its last part closes, with all of them. If
 * the last is void, those before it count as closed by their owner.
 */ // R24
export function counted(event: CommittedEvent): CommittedEvent | null {
  if (event.kind === 'corrected') return event.waits === true ? null : event
  if (event.kind !== 'closed') return event
  if (event.partOf !== undefined) return null
  const { parted, ...last } = event
  if (parted === undefined) return event
  const isVoid = event.by === 'void'
  return {
    ...last,
    lots: lots(parted.lots + (isVoid ? 0 : event.lots)),
    margin: money(parted.margin + (isVoid ? 0 : event.margin)),
    pnl: money(parted.pnl + event.pnl),
    baseMove: money(parted.baseMove + event.baseMove),
    ...(isVoid ? { by: 'user', voidReason: null } : {}),
  }
}

/** Whether a counted event is a close that rankings count, in its purse. A void one never happened. */
export const isCountedClose = (event: CommittedEvent): event is ClosedEvent =>
  event.kind === 'closed' && event.by !== 'void'
