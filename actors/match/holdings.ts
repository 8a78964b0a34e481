/** What users hold in one match: the part of their equity that this match knows. */
import { present } from '../kernel/assert.ts'
import type { UserId } from '../kernel/ids.ts'
import { money } from '../kernel/micros.ts'
import { exitPrice } from '../market/instrument.ts'
import { exposureOf, realisedPnl } from '../position/position.ts'
import type { MatchView } from './state.ts'
import type { Holding } from './store.ts'

/**
 * The holdings of users, in their order. Each position is valued at the fill of closing it alone. The cost grows with
 * the number of their positions.
 */
export function holdingsOf(view: MatchView, users: readonly UserId[]): readonly Holding[] {
  return users.map((userId) => {
    const positions = view.positionsOf(userId)
    const worth = positions.reduce((sum, position) => {
      const instrument = present(view.instrument(position.instrumentId), `instrument of ${position.id}`)
      return sum + realisedPnl(position, exitPrice(instrument, exposureOf(position)))
    }, 0)
    return { userId, purse: view.info.purse, openPositions: positions.length, unrealizedPnl: money(worth) }
  })
}
