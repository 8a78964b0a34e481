/** Referrals, a card of the club. */
import type { PageFeature } from '../feature.ts'
import { lazy } from '../../parts/loaded.ts'

export const referrals: PageFeature = { cards: { club: [lazy(async () => (await import('./card.ts')).Friends).Part] } }
