/** The table of each match: who has made most of it, live from the first close, kept after full time. */
import { sql } from 'kysely'
import { ownRows } from '../../../db/data-export.ts'
import type { Feature, Opened } from '../feature.ts'
import { MatchBoardKeeper } from './keeper.ts'
import { type MatchBoardPorts, matchTable } from './routes.ts'
import { MatchBoards } from './store.ts'

export const matchBoardApi = (ports: MatchBoardPorts): Opened => ({
  routes: [(deps, gates) => matchTable({ ...deps, ...ports }, gates)],
})

export const matchBoard: Feature = {
  name: 'match-board',
  exported: [
    {
      name: 'matchPlaces',
      table: 'match_board_places',
      from: ownRows('match_board_places'),
      by: [['t.match_id', 'bigint']],
      without: ['key'],
    },
  ],
  notExported: {
    match_boards: 'work of the server: how far the table of a match has counted',
    match_board_steps: 'work of the server: every 64th place of a table; the places are exported',
  },
  // The places behind each of theirs move up.
  erase: async (tx, user) =>
    void (await sql`
      with gone as (delete from match_board_places where user_id = ${user}::uuid returning match_id)
      update match_boards b set is_stepped = false from gone where b.match_id = gone.match_id`.execute(tx)),
  rerank: async (tx, user) =>
    void (await sql`
      with places as (
        select match_id from match_boards
         where match_id in (select match_id from match_board_places where user_id = ${user}::uuid)
         order by match_id for no key update)
      update match_boards b set is_stepped = false from places where b.match_id = places.match_id`.execute(tx)), // C2
  open: ({ stores, community }) => {
    const keeper = new MatchBoardKeeper(stores.db, community.boardRules)
    return {
      ...matchBoardApi({ matchBoards: new MatchBoards(stores.db, community.boardRules) }),
      tasks: [{ name: 'match-tables', everyMs: 1_511, roles: ['api'], run: () => keeper.run() }],
    }
  },
}
