/** What networks show beside the link to a player: the last settled match, whose result is public. */
import { type InstrumentId, instrumentId } from '../../../actors/kernel/ids.ts'
import { decimal } from '../../../actors/kernel/micros.ts'
import type { World } from '../../../actors/kernel/world.ts'
import { percentWords } from '../../../actors/market/reason-words.ts'
import type { Catalogue } from '../../../db/catalogue.ts'
import type { SharedPage } from '../../http/api-part.ts'
import { cardOf, scoreOf } from './card.ts'
import type { PlayedMatch, PlayerProfiles } from './store.ts'

interface Sources {
  readonly catalogue: Pick<Catalogue, 'instrument'>
  readonly profiles: Pick<PlayerProfiles, 'played'>
  readonly world: Pick<World, 'now'>
  /** What visitors see of matches is so old. */
  readonly delayMs: () => number
  /** Draws an SVG as a PNG; null when too many are being drawn. */
  readonly picture: (svg: string, gone: AbortSignal) => Promise<Uint8Array<ArrayBuffer> | null>
}

const INVITED = 'Go long or short on footballers while they play.'

export function profileShare({ catalogue, profiles, world, delayMs, picture }: Sources): SharedPage {
  /** The settled matches that visitors have seen the end of, latest first. */ // H29
  const seen = async (id: InstrumentId): Promise<readonly PlayedMatch[]> => {
    const until = world.now() - delayMs()
    return (await profiles.played(id)).filter(({ info }) => info.settledAt !== null && info.settledAt <= until)
  }
  return {
    path: '/player/:parameter{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}}',
    of: async (id) => {
      const listing = await catalogue.instrument(instrumentId(id))
      if (listing === null) return null
      const { name } = listing.instrument
      const [last] = await seen(listing.instrument.id)
      if (last === undefined) return { title: `${name} on Touchline`, text: INVITED }
      return {
        title: `${name} ${percentWords(last.from, last.to)}`,
        text: `${decimal(last.to).toFixed(2)} after ${scoreOf(last)}. ${INVITED}`,
        picture: `/player/${id}/picture`,
      }
    },
    picture: async (id, gone) => {
      const listing = await catalogue.instrument(instrumentId(id))
      const [last, ...before] = listing === null ? [] : await seen(listing.instrument.id)
      if (listing === null || last === undefined) return null
      return (await picture(cardOf({ name: listing.instrument.name, played: [last, ...before] }), gone)) ?? 'busy'
    },
  }
}
