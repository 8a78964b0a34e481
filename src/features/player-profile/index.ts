/** A player over all matches: what each did to the price, the next one, and who of one's leagues holds them. */
import { SECOND_MS } from '../../../actors/kernel/world.ts'
import type { Feature, Opened } from '../feature.ts'
import { type ProfilePorts, profileRoutes } from './routes.ts'
import { profileShare } from './share.ts'
import { PlayerProfiles } from './store.ts'

export const profileApi = (ports: ProfilePorts): Opened => ({
  routes: [(deps, gates) => profileRoutes({ ...deps, ...ports }, gates)],
})

export const playerProfile: Feature = {
  name: 'player-profile',
  open: ({ stores, market, world }) => {
    const profiles = new PlayerProfiles(stores.connection.reads)
    const delayMs = () => market.settings.value('watch.delay_secs') * SECOND_MS
    return {
      ...profileApi({ profiles }),
      shares: [profileShare({ catalogue: market.catalogue, profiles, world, delayMs })],
    }
  },
}
