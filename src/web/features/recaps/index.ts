/** Recaps: the week beside the boards, the match with its notice, the year's record in the account. */
import type { PageFeature } from '../feature.ts'
import { MatchOf, WeekRecap } from './card.ts'
import { Record } from './record.ts'
import './style.css'

export const recaps: PageFeature = { cards: { ranks: [WeekRecap], account: [Record] }, notices: [MatchOf] }
