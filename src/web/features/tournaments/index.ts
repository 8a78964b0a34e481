/** Tournaments, a card of the league view. */
import type { PageFeature } from '../feature.ts'
import { Tournaments } from './card.ts'

export const tournaments: PageFeature = { cards: { league: [Tournaments] } }
