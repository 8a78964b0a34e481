/** Recaps: the week beside the boards, the match at its end, the year's record in the account. */
import type { PageFeature } from '../feature.ts'
import { lazy } from '../../parts/loaded.ts'
import { MatchOf, WeekRecap } from './card.ts'
import { YourMatch } from './full-time.ts'

export const recaps: PageFeature = {
  cards: {
    ranks: [WeekRecap],
    account: [lazy(async () => (await import('./record.ts')).Record).Part],
    fullTime: [YourMatch],
  },
  notices: [MatchOf],
}
