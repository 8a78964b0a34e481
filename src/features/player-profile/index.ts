/** A player over all matches: what each did to the price, the next one, and who of one's leagues holds them. */
import { SECOND_MS } from '../../../actors/kernel/world.ts'
import { Queue } from '../../http/queue.ts'
import type { Feature, Opened } from '../feature.ts'
import { picture } from '../share-picture.ts'
import { type ProfilePorts, profileRoutes } from './routes.ts'
import { profileShare } from './share.ts'
import { PlayerProfiles } from './store.ts'

/** Pictures for visitors: how many are drawn at a time, and how many wait. Those of users have a queue of their own. */
const DRAWING = { together: 1, waiting: 20, withinMs: 5_000 }

export const profileApi = (ports: ProfilePorts): Opened => ({
  routes: [(deps, gates) => profileRoutes({ ...deps, ...ports }, gates)],
})

export const playerProfile: Feature = {
  name: 'player-profile',
  open: ({ stores, market, world }) => {
    const profiles = new PlayerProfiles(stores.connection.reads)
    const drawing = new Queue(DRAWING)
    const drawn = (svg: string, gone: AbortSignal) => drawing.run(gone, () => picture(svg))
    const delayMs = () => market.settings.value('watch.delay_secs') * SECOND_MS
    return {
      ...profileApi({ profiles }),
      shares: [profileShare({ catalogue: market.catalogue, profiles, world, delayMs, picture: drawn })],
    }
  },
}
