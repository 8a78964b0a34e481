/** Seasons, a card of the league view. */
import type { PageFeature } from '../feature.ts'
import { Season } from './card.ts'

export const seasons: PageFeature = { cards: { league: [Season] } }
