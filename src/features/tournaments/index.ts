/** Tournaments: leagues over a match that is made from a secret seed and played once. */
import { ReplayRuns } from '../../../db/replays.ts'
import type { Feature, Opened } from '../feature.ts'
import { deciding } from '../leagues/index.ts'
import { adminTournaments } from './admin-routes.ts'
import { tournamentErrors } from './errors.ts'
import { type TournamentPorts, tournamentRoutes } from './routes.ts'
import { tournamentKind, Tournaments } from './store.ts'

export const tournamentApi = (ports: TournamentPorts): Opened => ({
  routes: [tournamentRoutes, adminTournaments].map((routes) => (deps, gates) => routes({ ...deps, ...ports }, gates)),
})

export const tournaments: Feature = {
  name: 'tournaments',
  errors: tournamentErrors.table,
  things: ['tournament'],
  notExported: { tournaments: 'what is played as a tournament' },
  open: (host) => {
    const { stores, world, log, market } = host
    const runs = new ReplayRuns(stores.db, world, market.audit)
    const store = new Tournaments(stores.db, { world, audit: market.audit, runs })
    return {
      ...tournamentApi({ tournaments: store }),
      tasks: [
        {
          // About a second: how late a tournament may begin.
          name: 'tournaments',
          everyMs: 1_031,
          roles: ['api'],
          run: async () => {
            for (const tournament of await store.begin()) log.info('tournament_begun', { tournament })
          },
        },
        // About seven seconds, beside the minute that a tournament rests once it is over.
        deciding(host, { name: 'tournament-results', everyMs: 7_019, kind: tournamentKind }),
      ],
    }
  },
}
