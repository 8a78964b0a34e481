/** Tournaments: a card of the league view, and one of the control room. */
import type { PageFeature } from '../feature.ts'
import { Tournaments } from './card.ts'

export const tournaments: PageFeature = {
  cards: { league: [Tournaments] },
  replays: { card: async () => (await import('./scheduled.ts')).ScheduledTournaments },
}
