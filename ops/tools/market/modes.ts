/** The rules under which the battery is played, and what they promise. */
import { DEFAULT_PROTECTION, DEFAULT_RULES, type TradingRules } from '../../../actors/kernel/limits.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../../actors/market/pricing.ts'
import { inFull } from '../../../actors/match/protection/in-full.ts'

export interface Mode {
  readonly rules: TradingRules
  readonly model: ScoringModel
  /** Who acts at most so many seconds ahead of the feed earns nothing; 0 promises it of what everybody can see. */
  readonly safeLeadSecs: number
}

/** By what `trading.protection` is set to. */
export const MODES: Readonly<Record<string, Mode>> = {
  off: { rules: DEFAULT_RULES, model: DEFAULT_MODEL, safeLeadSecs: 0 },
  on: { rules: { ...DEFAULT_RULES, protection: DEFAULT_PROTECTION }, model: inFull(DEFAULT_MODEL), safeLeadSecs: 40 },
}
