/** The table of each match: who has made most of it, live from the first close, kept after full time. */
import { sql, type Transaction } from 'kysely'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { ownRows } from '../../../db/data-export.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { Feature, Opened } from '../feature.ts'
import { MatchBoardKeeper } from './keeper.ts'
import { type MatchBoardPorts, matchTable } from './routes.ts'
import { MatchBoards } from './store.ts'

export const matchBoardApi = (ports: MatchBoardPorts): Opened => ({
  routes: [(deps, gates) => matchTable({ ...deps, ...ports }, gates)],
})

/** Steps of the tables that a user is on are counted again: places move. */
async function placeAgain(tx: Transaction<Database>, user: UserId): Promise<void> {
  await sql`
    with places as (
      select match_id from match_boards
       where match_id in (select match_id from match_board_places where user_id = ${user}::uuid)
       order by match_id for no key update)
    update match_boards b set is_stepped = false from places where b.match_id = places.match_id`.execute(tx)
}

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
  erase: async (tx, user) => {
    await placeAgain(tx, user)
    await sql`delete from match_board_places where user_id = ${user}::uuid`.execute(tx)
  },
  rerank: placeAgain, // C2
  open: ({ stores, community }) => {
    const keeper = new MatchBoardKeeper(stores.db, community.boardRules)
    return {
      ...matchBoardApi({ matchBoards: new MatchBoards(stores.db, community.boardRules) }),
      tasks: [{ name: 'match-tables', everyMs: 1_511, roles: ['api'], run: () => keeper.run() }],
    }
  },
}
