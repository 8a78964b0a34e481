/** The events of a commit that the outbox keeps for reactions. Price moves are left out. */
import type { InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import type { Lots, Money } from '../kernel/micros.ts'
import type { Purse } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import type { ClosedBy, Direction, VoidReason } from '../position/position.ts'

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

interface Closing extends Earned {
  readonly openedAt: Instant
  readonly by: ClosedBy
  readonly voidReason: VoidReason | null
}

export type CommittedEvent =
  /** Who opened a position is all that follows from it, and every trade pays for what is kept. */
  | ({ readonly kind: 'opened' } & Owned)
  /** This share of the margin is lost. */
  | ({ readonly kind: 'margin_warned'; readonly lostPct: 50 | 80 } & PositionFacts)
  | ({ readonly kind: 'closed' } & PositionFacts & Closing)
  /** Late news corrects a close: what it had counted for, and what it counts for now. */
  | ({ readonly kind: 'corrected'; readonly before: Earned } & PositionFacts & Omit<Closing, 'voidReason'>)
  /** An operator has voided a closed position: what it had counted for. It follows the end of its match, too. */
  | ({ readonly kind: 'voided'; readonly before: Earned; readonly closedAt: Instant } & PositionFacts &
      Pick<Closing, 'openedAt' | 'by'>)
  /** The last position is closed; nothing but voids follows. */
  | { readonly kind: 'match_settled' }

export type VoidedEvent = Extract<CommittedEvent, { readonly kind: 'voided' }>

export type CorrectedEvent = Extract<CommittedEvent, { readonly kind: 'corrected' }>

export type ClosedEvent = Extract<CommittedEvent, { readonly kind: 'closed' }>

/** Whether an event is a close that rankings count, in its purse. A void one never happened. */
export const isCountedClose = (event: CommittedEvent): event is ClosedEvent =>
  event.kind === 'closed' && event.by !== 'void'
