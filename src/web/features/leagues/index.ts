/** Private leagues: a card of the league view, and the table of one at its address. */
import type { PageFeature } from '../feature.ts'
import { lazy } from '../../parts/loaded.ts'

export const leagues: PageFeature = {
  cards: {
    leagueEnd: [lazy(async () => (await import('./card.ts')).PrivateLeagues).Part],
    leagueItem: [lazy(async () => (await import('./card.ts')).LeagueTable).Part],
  },
}
