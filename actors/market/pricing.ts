import type { PlayerId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
import type { FixtureSnapshot, PlayerPosition } from './fixture.ts'

export interface PricingMemory {
  readonly version: 1
}
export const EMPTY_PRICING: PricingMemory = { version: 1 }

export interface PricedPlayer {
  readonly playerId: PlayerId
  readonly position: PlayerPosition
  readonly start: Price
  readonly base: Price
}
export interface MatchNews {
  readonly eventId: number
  readonly kind: 'goal' | 'red_card' | 'penalty' | 'var' | 'goal_cancelled'
  readonly playerIds: readonly PlayerId[]
  readonly wholeMatch: boolean
}
export interface Pricing {
  readonly accepted: boolean
  readonly memory: PricingMemory
  readonly bases: ReadonlyMap<PlayerId, Price>
  readonly news: readonly MatchNews[]
}
export interface ScoringModel {
  readonly bound: number
}
export const DEFAULT_MODEL: ScoringModel = { bound: 0.35 }

export function priceMatch(
  _snapshot: FixtureSnapshot,
  _players: readonly PricedPlayer[],
  memory: PricingMemory,
  _model: ScoringModel,
): Pricing {
  return { accepted: true, memory, bases: new Map(), news: [] }
}
