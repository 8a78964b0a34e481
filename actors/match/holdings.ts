/** What users hold in one match: the part of their equity that this match knows. */
import { present } from '../kernel/assert.ts'
import type { UserId } from '../kernel/ids.ts'
import { money } from '../kernel/micros.ts'
import type { WalletKey } from '../kernel/purse.ts'
import { closingFill } from '../position/fills.ts'
import { realisedPnl } from '../position/position.ts'
import type { MatchView } from './state.ts'
import type { Holding } from './store.ts'

/**
 * The holdings of wallets, at most one of each user, in their order. Each position is valued at the fill of closing it
 * alone. The cost grows with the number of their positions.
 */
export function holdingsOf(view: MatchView, wallets: readonly WalletKey<UserId>[]): readonly Holding[] {
  return wallets.map(({ userId, purse }) => {
    const positions = view.positionsOf(userId).filter((position) => position.purse === purse)
    const worth = positions.reduce((sum, position) => {
      const instrument = present(view.instrument(position.instrumentId), `instrument of ${position.id}`)
      return sum + realisedPnl(position, closingFill(instrument, position))
    }, 0)
    return { userId, purse, openPositions: positions.length, unrealizedPnl: money(worth) }
  })
}
