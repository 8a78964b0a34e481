/** Whether protection holds a player after news. */
import type { TradingRules } from '../../kernel/limits.ts'
import type { Instant } from '../../kernel/world.ts'
import type { Instrument } from '../../market/instrument.ts'

/** Whether news holds opens, or closes too, at this instant. */ // N3
export function heldBy({ news }: Instrument, now: Instant, rules: TradingRules): 'opens' | 'closes' | null {
  if (rules.protection === null || news === null || news.hold === null || now >= news.hold.opensFrom) return null
  return now < news.hold.closesFrom ? 'closes' : 'opens'
}
