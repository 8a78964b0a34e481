/** Watchlists: users follow players, are told what happens to them, wait for prices and are reminded of matches. */
import { sql } from 'kysely'
import { ownRows } from '../../../db/data-export.ts'
import type { Feature, Opened } from '../feature.ts'
import { watchlistErrors } from './errors.ts'
import { Moves } from './moves.ts'
import { reminderRoutes } from './reminder-routes.ts'
import { follows, type WatchlistPorts } from './routes.ts'
import { Watchlists } from './store.ts'
import { Teller } from './teller.ts'

export const watchlistApi = (ports: WatchlistPorts): Opened => ({
  routes: [
    (_deps, gates) => follows(ports, gates),
    ({ catalogue }, gates) => reminderRoutes({ ...ports, catalogue }, gates),
  ],
})

export const watchlist: Feature = {
  name: 'watchlist',
  errors: watchlistErrors.table,
  things: ['alert'],
  exported: [
    {
      name: 'follows',
      table: 'watchlist_players',
      from: ownRows('watchlist_players'),
      by: [['t.instrument_id', 'uuid']],
    },
    {
      name: 'followKinds',
      table: 'watchlist_choices',
      from: ownRows('watchlist_choices'),
      by: [['t.user_id', 'uuid']],
    },
    {
      name: 'reminders',
      table: 'watchlist_reminders',
      from: ownRows('watchlist_reminders'),
      by: [['t.match_id', 'bigint']],
    },
    { name: 'priceAlerts', table: 'watchlist_alerts', from: ownRows('watchlist_alerts'), by: [['t.id', 'uuid']] },
  ],
  notExported: {
    watchlist_matches: 'work of the server: what has been noticed of a match',
    watchlist_news: 'work of the server: news on their way to followers; the notifications are exported',
  },
  erase: async (tx, user) => {
    for (const table of ['watchlist_players', 'watchlist_choices', 'watchlist_alerts', 'watchlist_reminders']) {
      await sql`delete from ${sql.table(table)} where user_id = ${user}::uuid`.execute(tx)
    }
  },
  open: ({ stores, world, community, realTime, pause }) => {
    const teller = new Teller(stores.db, world, community.notify, pause)
    const moves = new Moves()
    realTime.listen((events) => moves.add(events))
    return {
      ...watchlistApi({ watchlists: new Watchlists(stores.db, world) }),
      tasks: [
        { name: 'player-news', everyMs: 2_003, roles: ['api'], run: () => teller.run() },
        {
          name: 'price-alerts',
          everyMs: 1_009,
          roles: ['rooms'],
          run: () => moves.take((some) => teller.judge(some)),
        },
      ],
    }
  },
}
