import type { InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
import type { Instrument } from '../market/instrument.ts'
import type { PricingMemory } from '../market/pricing.ts'
import type { Position } from '../position/position.ts'
import type { MatchInfo } from './messages.ts'

/** What rules and rooms may read of a match. */
export interface MatchView {
  readonly info: MatchInfo
  readonly pricing: PricingMemory
  instrument(id: InstrumentId): Instrument | undefined
  instruments(): Iterable<Instrument>
  /** An open position; a closed one is not here any more. */
  position(id: PositionId): Position | undefined
  openPositions(): Iterable<Position>
  positionsOf(userId: UserId): Iterable<Position>
  /** Open positions of an instrument that a price closes, earliest opened first. */
  firing(id: InstrumentId, at: Price): readonly Position[]
}
