/** How far trading is open, for the platform, a match and a player: an operator's brake. System closes know none. */
import type { FixtureId, InstrumentId } from './ids.ts'

/** From the mildest to the strictest: everything; closes only; nothing that a user asks for. */
export const TRADING_MODES = ['open', 'reduce_only', 'halted'] as const
export type TradingMode = (typeof TRADING_MODES)[number]

export interface TradingModes {
  readonly platform: TradingMode
  /** Matches and players that have a mode of their own. */
  readonly matches: ReadonlyMap<FixtureId, TradingMode>
  readonly instruments: ReadonlyMap<InstrumentId, TradingMode>
}

export const ALL_OPEN: TradingModes = { platform: 'open', matches: new Map(), instruments: new Map() }

/** The strictest of what holds for the platform, the match and, unless null, the player. */
export function tradingMode(modes: TradingModes, matchId: FixtureId, instrumentId: InstrumentId | null): TradingMode {
  const own = [modes.platform, modes.matches.get(matchId), instrumentId && modes.instruments.get(instrumentId)]
  return TRADING_MODES.findLast((mode) => own.includes(mode)) ?? 'open'
}
