/** The table of a match, beside its pitch. */
import type { PageFeature } from '../feature.ts'
import { MatchRanks } from './card.ts'

export const matchBoard: PageFeature = { cards: { match: [MatchRanks] } }
