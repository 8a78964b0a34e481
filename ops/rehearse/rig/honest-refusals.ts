/** Codes of refusals that an honest trader can get. Any other refusal is a finding. */
export const HONEST_REFUSALS: ReadonlySet<string> = new Set([
  'MARKET_CLOSED',
  'MARKET_SUSPENDED',
  'PRICE_MOVED',
  'LEVELS_INVALID',
  'POSITION_LIMIT',
  'INSUFFICIENT_MARGIN',
  'POSITION_NOT_OPEN',
  'COOLDOWN_ACTIVE',
])
