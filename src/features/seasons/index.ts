/** Seasons: leagues that the server runs for all users, one a month, in groups of a division. */
import { ownRows } from '../../../db/data-export.ts'
import type { Feature, Opened } from '../feature.ts'
import { deciding } from '../leagues/index.ts'
import { Leagues } from '../leagues/store.ts'
import { seasonErrors } from './errors.ts'
import { type SeasonPorts, seasonRoutes } from './routes.ts'
import { seasonKind, Seasons } from './store.ts'

export const seasonApi = (ports: SeasonPorts): Opened => ({
  routes: [(deps, gates) => seasonRoutes({ ...deps, ...ports }, gates)],
})

export const seasons: Feature = {
  name: 'seasons',
  errors: seasonErrors.table,
  exported: [{ name: 'seasons', table: 'season_entries', from: ownRows('season_entries'), by: [['t.season', 'text']] }],
  open: (host) => {
    const { stores, world } = host
    return {
      ...seasonApi({ seasons: new Seasons(stores.db, world), leagues: new Leagues(stores.db, world) }),
      // About seven seconds, beside the minute that a group rests once it is over.
      tasks: [deciding(host, { name: 'season-results', everyMs: 7_013, kind: seasonKind(world) })],
    }
  },
}
