/** Recaps: what a match, a week or a year made of a user's positions; the first two also as a picture to share. */
import { ownRows } from '../../../db/data-export.ts'
import { FairQueue, Queue } from '../../http/queue.ts'
import type { Feature, Opened } from '../feature.ts'
import { picture } from '../share-picture.ts'
import { recordRoutes } from './record-routes.ts'
import { type RecapPorts, recapRoutes } from './routes.ts'
import { Recaps } from './store.ts'

/** Pictures that are drawn at a time, and that wait. */
const DRAWING = { together: 2, waiting: 50, withinMs: 5_000 }
/**
 * What 20,000 positions came to takes a connection for two seconds, and the process has ten for all of its reads. Most
 * users have few positions, so that a whole crowd passes after a match.
 */
const READING = { together: 3, waiting: 2_000, waitingOfOne: 8, withinMs: 10_000 }

export const recapApi = (ports: RecapPorts): Opened => {
  const reading = new FairQueue(READING)
  return {
    routes: [recapRoutes, recordRoutes].map((routes) => (deps, gates) => routes({ ...deps, ...ports, reading }, gates)),
  }
}

export const recaps: Feature = {
  name: 'recaps',
  things: ['recap'],
  exported: [
    {
      name: 'ranks',
      table: 'match_ranks',
      from: ownRows('match_ranks'),
      by: [
        ['t.purse', 'text'],
        ['t.match_id', 'bigint'],
      ],
    },
  ],
  notExported: { ranked_matches: 'which matches have been ranked' },
  open: ({ stores, world, community }) => {
    const drawing = new Queue(DRAWING)
    const store = new Recaps(stores.connection, world, community.boardRules)
    return {
      ...recapApi({ recaps: store, picture: (svg, gone) => drawing.run(gone, () => picture(svg)) }),
      tasks: [
        {
          // About thirty seconds, beside the minutes that a settled match rests.
          name: 'match-ranks',
          everyMs: 30_011,
          roles: ['api'],
          run: async () => void (await store.rankMatches()),
        },
      ],
    }
  },
}
