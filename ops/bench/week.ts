/**
 * What brings fans back, of a match with many of them: how long until all followers of a scorer are told, what that
 * costs those who trade in another match of the same process meanwhile, and how long a trader waits for their place in
 * the table of a match.
 *
 *   npm run ops -- bench-week [--users 100000] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped.
 */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { uuids } from '../../db/postgres/arrays.ts'
import { MatchBoardKeeper } from '../../src/features/match-board/keeper.ts'
import { MatchBoards } from '../../src/features/match-board/store.ts'
import { Teller } from '../../src/features/watchlist/teller.ts'
import { systemWorld } from '../../src/system-world.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import { Trading } from './fulltime-match.ts'
import { BenchMatch, snapshotAt } from './matches.ts'
import { figure, table } from './report.ts'

const { values: options } = parseArgs({
  options: { users: { type: 'string', default: '100000' }, json: { type: 'boolean', default: false } },
})
const USERS = Number(options.users)
/** Users who trade in another match. */
const TRADERS = 500
const WARM_UP_MS = 2_000
const CALM_MS = 10_000
/** Rows of one insert: more would exceed the statement timeout. */
const CHUNK = 10_000
const READS = 500

async function follow({ connection: { db } }: BenchDatabase, instrument: InstrumentId, users: readonly UserId[]) {
  for (let from = 0; from < users.length; from += CHUNK) {
    await sql`
      insert into watchlist_players (user_id, instrument_id, since)
        select id, ${instrument}::uuid, now() - interval '1 minute'
          from unnest(${uuids(users.slice(from, from + CHUNK))}::uuid[]) u (id)`.execute(db)
  }
}

/** Gives each user a place in the table, in an order of chance. */
async function rank({ connection: { db } }: BenchDatabase, match: FixtureId, users: readonly UserId[]) {
  for (let from = 0; from < users.length; from += CHUNK) {
    await sql`
      insert into match_board_places (user_id, match_id, district_id, closed, wins, pnl_micros, base_moves_micros,
                                      margin_micros, stake_micros, first_trade_at, key, shown)
        select id, ${match}::bigint, 1, 1, 0, -n, -n, 1000000, 1000000, to_timestamp(0), array[n, 0, n, 0], true
          from (select id, ('x' || substr(md5(id::text), 1, 8))::bit(32)::bigint as n
                  from unnest(${uuids(users.slice(from, from + CHUNK))}::uuid[]) u (id)) made`.execute(db)
  }
  await sql`insert into match_boards (match_id, is_stepped) values (${match}::bigint, false)`.execute(db)
  await sql`analyze match_board_places, watchlist_players`.execute(db)
}

async function readTable({ connection: { db } }: BenchDatabase, match: FixtureId, users: readonly UserId[]) {
  const rules = () => ({ roiFloor: money(0), ranksBots: false })
  await new MatchBoardKeeper(db, rules).run()
  const boards = new MatchBoards(db, rules)
  const tookMs: number[] = []
  for (let n = 0; n < READS; n++) {
    const user = present(users[Math.floor((n * users.length) / READS)], 'user')
    const begun = performance.now()
    const { me } = await boards.table({ match, group: { kind: 'everybody' }, user, limit: 10 })
    tookMs.push(performance.now() - begun)
    present(me ?? undefined, 'place')
  }
  const sorted = tookMs.toSorted((a, b) => a - b)
  return { p50Ms: sorted[READS / 2] ?? Number.NaN, p99Ms: sorted[Math.floor(READS * 0.99)] ?? Number.NaN }
}

async function measure(database: BenchDatabase) {
  await reset(database)
  const { connection, users } = database
  const [popular, other] = await BenchMatch.start(connection, 2)
  const [match, elsewhere] = [present(popular, 'match'), present(other, 'match')]
  const { matchId } = match.actor
  const [scorer] = match.actor.view.instruments()
  const { id, playerId } = present(scorer, 'scorer')
  const followers = users.slice(0, USERS)
  await follow(database, id, followers)
  await rank(database, matchId, followers)

  let told = 0
  const teller = new Teller(connection.db, systemWorld(), (notices) => (told += notices.length))
  // The kick-off is told first.
  await teller.run()
  told = 0
  const load = new Trading(elsewhere, users.slice(USERS))
  await pause(WARM_UP_MS)
  load.take()
  await pause(CALM_MS)
  const calm = load.take()

  const begun = performance.now()
  const goal = {
    id: 1,
    kind: 'goal',
    minute: 1,
    extraMinute: null,
    period: 1,
    side: 'home',
    playerId,
    playerName: 'Player 0',
    relatedPlayerId: null,
    relatedPlayerName: null,
    result: '1-0',
    addition: null,
    rescinded: false,
  } as const
  const home = { id: 1, name: 'Harbour', goals: 1 }
  await match.actor.feed({ kind: 'feed_update', seq: 2, snapshot: snapshotAt(matchId, 20, { home, events: [goal] }) })
  while (told < USERS) await teller.run()
  const toldMs = performance.now() - begun
  const meanwhile = load.take()
  await load.stop()
  if (told !== USERS) throw new Error(`${told} of ${USERS} were told`)

  const read = await readTable(database, matchId, followers)
  await Promise.all([match.stop(), elsewhere.stop()])
  return { users: USERS, toldMs, calm, meanwhile, read }
}

const database = await createOnServer(namedServer(), USERS + TRADERS)
try {
  const { toldMs, calm, meanwhile, read, ...of } = await measure(database)
  const row = [
    of.users.toLocaleString('en'),
    figure(toldMs / 1_000),
    `${figure(calm.p50Ms)}, ${figure(calm.p99Ms)}`,
    `${figure(meanwhile.p50Ms)}, ${figure(meanwhile.p99Ms)}`,
    figure(meanwhile.p99Ms / calm.p99Ms),
    `${figure(read.p50Ms)}, ${figure(read.p99Ms)}`,
  ]
  const head = ['followers', 'told s', 'trades calm p50, p99 ms', 'meanwhile', 'p99 ratio', 'table p50, p99 ms']
  console.log(options.json ? JSON.stringify({ ...of, toldMs, calm, meanwhile, read }) : table(head, [row]))
} finally {
  await database.close()
}
