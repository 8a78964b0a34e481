/** Messages on a device, a card of the account. */
import type { PageFeature } from '../feature.ts'
import { lazy } from '../../parts/loaded.ts'

export const push: PageFeature = { cards: { account: [lazy(async () => (await import('./card.ts')).PushCard).Part] } }
