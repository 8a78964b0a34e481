/** What networks show beside the link to a player: the last settled match, which is no news to anybody. */
import { instrumentId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { World } from '../../../actors/kernel/world.ts'
import { percentWords } from '../../../actors/market/reason-words.ts'
import type { Catalogue } from '../../../db/catalogue.ts'
import type { SharedPage } from '../../http/api-part.ts'
import type { Share } from '../../http/web-files.ts'
import type { PlayerProfiles } from './store.ts'

interface Sources {
  readonly catalogue: Pick<Catalogue, 'instrument'>
  readonly profiles: Pick<PlayerProfiles, 'played'>
  readonly world: Pick<World, 'now'>
  /** What visitors see of matches is so old. */
  readonly delayMs: () => number
}

const INVITED = 'Go long or short on footballers while they play.'

export const profileShare = ({ catalogue, profiles, world, delayMs }: Sources): SharedPage => ({
  path: '/player/:parameter{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}}',
  // H29
  of: async (id) => {
    const listing = await catalogue.instrument(instrumentId(id))
    if (listing === null) return null
    const { name } = listing.instrument
    const until = world.now() - delayMs()
    const played = await profiles.played(listing.instrument.id)
    const last = played.find(({ info }) => info.settledAt !== null && info.settledAt <= until)
    if (last === undefined) return { title: `${name} on Touchline`, text: INVITED }
    const { info, from, to } = last
    const score = `${info.home.name} ${info.home.goals ?? 0}–${info.away.goals ?? 0} ${info.away.name}`
    return {
      title: `${name} ${percentWords(from, to)}`,
      text: `${decimal(to).toFixed(2)} after ${score}. ${INVITED}`,
    } satisfies Share
  },
})
