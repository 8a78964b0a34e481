/** The weekly spinner, a card of the league view. */
import type { PageFeature } from '../feature.ts'
import { Spinner } from './card.ts'

export const spinner: PageFeature = { cards: { league: [Spinner] } }
