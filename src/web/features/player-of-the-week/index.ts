/** The player of the week: a view of its own. */
import type { PageFeature } from '../feature.ts'
import './style.css'
import { own, PlayerOfTheWeek } from './view.ts'

export const playerOfTheWeek: PageFeature = {
  view: {
    name: 'player-of-the-week',
    label: own.title,
    icon: 'M10 2l2.3 4.9 5.2.7-3.8 3.7.9 5.3L10 14l-4.6 2.6.9-5.3L2.5 7.6l5.2-.7z',
    Page: PlayerOfTheWeek,
  },
}
