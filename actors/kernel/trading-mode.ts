/** The operator's brake on trading: for the platform, a match or a player. It never stops system closes. */
import type { FixtureId, InstrumentId } from './ids.ts'

/** From mildest to strictest: everything, closes only, no user commands. */
export const TRADING_MODES = ['open', 'reduce_only', 'halted'] as const
export type TradingMode = (typeof TRADING_MODES)[number]

export interface TradingModes {
  readonly platform: TradingMode
  /** Matches and players with their own mode. */
  readonly matches: ReadonlyMap<FixtureId, TradingMode>
  readonly instruments: ReadonlyMap<InstrumentId, TradingMode>
}

export const ALL_OPEN: TradingModes = { platform: 'open', matches: new Map(), instruments: new Map() }

/** The strictest mode of the platform, the match and, unless null, the player. */
export function tradingMode(modes: TradingModes, matchId: FixtureId, instrumentId: InstrumentId | null): TradingMode {
  const own = [modes.platform, modes.matches.get(matchId), instrumentId && modes.instruments.get(instrumentId)]
  return TRADING_MODES.findLast((mode) => own.includes(mode)) ?? 'open'
}
