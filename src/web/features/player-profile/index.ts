/** A player over all matches: a view of its own, and the way to it below the chart. */
import type { PageFeature } from '../feature.ts'
import { Beforehand } from './beforehand.ts'
import { ToProfile, View } from './view.ts'

export const playerProfile: PageFeature = {
  view: { name: 'player-profile', Page: View, shared: /^\/player\/([0-9a-f-]{36})$/ },
  cards: { player: [ToProfile, Beforehand] },
}
