/** Referrals, a card of the club. */
import type { PageFeature } from '../feature.ts'
import { Friends } from './card.ts'

export const referrals: PageFeature = { cards: { club: [Friends] } }
