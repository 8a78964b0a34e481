/** Recaps: the week beside the boards, the match with its notice. */
import type { PageFeature } from '../feature.ts'
import { MatchOf, WeekRecap } from './card.ts'
import './style.css'

export const recaps: PageFeature = { cards: { ranks: [WeekRecap] }, notices: [MatchOf] }
