/** Leagues: contests with a purse of their own, which move no price and count nowhere else. */
import { ownRows } from '../../../db/data-export.ts'
import type { Task } from '../../compose/task-runner.ts'
import type { Routes } from '../../http/api-part.ts'
import type { Feature, Host, Opened } from '../feature.ts'
import { eraseFromLeagues } from './erase.ts'
import { leagueErrors } from './errors.ts'
import { leagueMembership } from './membership.ts'
import { publicLeague } from './outline.ts'
import { type LeagueKind, LeagueResults, PRIVATE } from './results.ts'
import { leagueShare } from './share.ts'
import { Leagues } from './store.ts'
import { leagueTables } from './tables.ts'
import { UnnamedPurses } from './unnamed.ts'

/** Decides the leagues of a kind, and tells their members. */
export function deciding(
  { stores, world, community }: Host,
  { kind, ...when }: Pick<Task, 'name' | 'everyMs'> & { readonly kind: LeagueKind },
): Task {
  const results = new LeagueResults(stores.db, world, kind)
  const run = async (): Promise<void> => {
    const told = await results.decide()
    if (told.length > 0) community.notify(told)
  }
  return { ...when, roles: ['api'], run }
}

type LeaguesPort = Pick<
  Leagues,
  'found' | 'join' | 'leave' | 'list' | 'find' | 'byCode' | 'table' | 'matchTable' | 'trading'
>

export const leagueApi = (leagues: LeaguesPort, unnamed: Pick<UnnamedPurses, 'of'>) =>
  ({
    routes: [leagueMembership, leagueTables, publicLeague].map((routes): Routes => {
      return (deps, gates) => routes({ ...deps, leagues }, gates)
    }),
    shares: [leagueShare(leagues)],
    purses: {
      own: (user, limit) => leagues.list(user, limit),
      unnamed: (user, instrument) => unnamed.of(user, instrument),
      trading: (user, league, match) => leagues.trading(user, league, match),
    },
  }) satisfies Opened

export const leagues: Feature = {
  name: 'leagues',
  topics: [
    {
      name: 'Leagues',
      description: 'Private contests with a purse of their own, which move no price and count nowhere else.',
    },
  ],
  errors: leagueErrors.table,
  exported: [
    { name: 'leagues', table: 'league_members', from: ownRows('league_members'), by: [['t.league_id', 'uuid']] },
    { name: 'leaguesFounded', table: 'leagues', from: ownRows('leagues', 'founder_id'), by: [['t.id', 'uuid']] },
  ],
  notExported: { league_matches: 'which matches a league has chosen' },
  erase: eraseFromLeagues,
  open: (host) => {
    const { stores, world } = host
    const store = new Leagues(stores.db, world, stores.connection.reads)
    return {
      ...leagueApi(store, new UnnamedPurses(stores.db)),
      // About seven seconds, beside the minute that a league rests once it is over.
      tasks: [deciding(host, { name: 'league-results', everyMs: 7_001, kind: PRIVATE })],
    }
  },
}
