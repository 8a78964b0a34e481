/** What users hold in one match: the part of their equity that this match knows. */
import type { InstrumentId, UserId } from '../kernel/ids.ts'
import { money, type Price } from '../kernel/micros.ts'
import { realisedPnl } from '../position/position.ts'
import type { MatchView } from './state.ts'
import type { Holding } from './store.ts'

/** In the order of `users`. The cost grows with the positions they hold. */
export function holdingsOf(
  view: MatchView,
  users: readonly UserId[],
  priceOf: (id: InstrumentId) => Price,
): readonly Holding[] {
  return users.map((userId) => {
    const positions = view.positionsOf(userId)
    const worth = positions.reduce((sum, position) => sum + realisedPnl(position, priceOf(position.instrumentId)), 0)
    return { userId, openPositions: positions.length, unrealizedPnl: money(worth) }
  })
}
