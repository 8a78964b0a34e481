/** What a strategy of the battery is: what it knows, what it sees after each update, and how it acts. */
import type { InstrumentId, PlayerId, PositionId } from '../../../actors/kernel/ids.ts'
import type { Lots, Price } from '../../../actors/kernel/micros.ts'
import type { Instant } from '../../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../../actors/market/fixture.ts'
import type { Instrument } from '../../../actors/market/instrument.ts'
import type { InstrumentHistory } from '../../../actors/match/store.ts'
import type { MatchView } from '../../../actors/match/state.ts'
import type { Direction, Levels, Position } from '../../../actors/position/position.ts'
import type { Plot } from './plot.ts'

/** A trader's order. One that the rules refuse is counted and forgotten. */
export interface Order extends Partial<Levels> {
  readonly at: Instant
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  /** How long it is held after it may be closed; null until full time. */
  readonly heldForMs: number | null
  /** Asks again with the next updates while the market is suspended. */
  readonly insists?: boolean
}

/** Acts at once, on behalf of an account of the strategy. Null, or false, when the rules refuse. */
export interface Desk {
  readonly now: Instant
  readonly view: MatchView
  open(account: string, order: DeskOrder): Promise<Position | null>
  close(account: string, id: PositionId): Promise<boolean>
  change(account: string, id: PositionId, levels: Partial<Levels>): Promise<boolean>
  held(account: string): readonly Position[]
}

export interface DeskOrder extends Partial<Levels> {
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  readonly lots: Lots
}

export interface Hands {
  /** Opens with a size that moves no price worth mentioning, and closes by itself. */
  open(order: Order): void
  /** Closes a position as soon after an instant as the rules allow. */
  close(at: Instant, id: PositionId): void
  /** Does something at an instant. */
  later(at: Instant, act: (desk: Desk) => Promise<void>): void
}

/** What a strategy sees after each update. */
export interface Floor extends Hands {
  readonly now: Instant
  /** Index of the update. */
  readonly index: number
  readonly snapshot: FixtureSnapshot
  readonly before: FixtureSnapshot | null
  readonly view: MatchView
  /** Prices before this update, by instrument. */
  readonly pricesBefore: ReadonlyMap<InstrumentId, Price>
  priceOf(id: InstrumentId): Price
  instrumentOf(player: PlayerId | null): Instrument | undefined
  /** The strategy's own open positions. */
  held(): readonly Position[]
}

/**
 * The whole match, for strategies that are ahead of the feed. Others may use it to find their moment, not their bet.
 */
export interface Foresight {
  /** When the update at this index is received. */
  readonly atOf: (index: number) => Instant
  readonly snapshots: readonly FixtureSnapshot[]
  /** As the feed shows it, and as it happened. */
  readonly plot: Plot
  readonly truth: Plot
  /** Bases after each update. No trade moves them. */
  readonly bases: readonly ReadonlyMap<InstrumentId, Price>[]
  /** What players were worth before the match, which everybody knows. */
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
}

export interface Strategy {
  readonly name: string
  /**
   * Seconds ahead of the feed at which it acts: 0 for what the feed has shown everybody, Infinity for who has seen the
   * whole match.
   */
  readonly leadSecs: number
  /** The account that the others work for. It has a line of its own: it may win what they lose. */
  readonly leader?: string
  /** The leader holds a player whom the match favours later: what the match makes of that position is not counted. */
  readonly isLeaderLucky?: boolean
  /** Called once before kick-off; orders may be placed for any later instant. */
  readonly prepare?: (foresight: Foresight, hands: Hands) => void
  readonly onUpdate?: (floor: Floor, foresight: Foresight) => void
}

export const UPDATE_MS = 10_000
