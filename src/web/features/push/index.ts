/** Messages on a device, a card of the account. */
import type { PageFeature } from '../feature.ts'
import { PushCard } from './card.ts'

export const push: PageFeature = { cards: { account: [PushCard] } }
