/** Followed players: a star beside each, price alerts on the chart, and the list in the account. */
import type { PageFeature } from '../feature.ts'
import { FollowsCard } from './card.ts'
import { PlayerTools } from './star.ts'
import { alertLines, chooseLevel, refreshFollows, takeFired } from './state.ts'
import { Upcoming } from './upcoming.ts'

export const watchlist: PageFeature = {
  cards: { player: [PlayerTools], fixtures: [Upcoming], account: [FollowsCard] },
  lines: alertLines,
  tapped: chooseLevel,
  live: { begin: refreshFollows, take: takeFired },
}
