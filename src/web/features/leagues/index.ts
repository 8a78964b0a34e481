/** Private leagues: a card of the league view, and the table of one at its address. */
import type { PageFeature } from '../feature.ts'
import { LeagueTable, PrivateLeagues } from './card.ts'

export const leagues: PageFeature = { cards: { leagueEnd: [PrivateLeagues], leagueItem: [LeagueTable] } }
