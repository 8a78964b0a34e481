/**
 * What brings fans back, of a match with many of them: how long until all followers of a scorer are told, what that
 * costs those who trade in another match of the same process meanwhile, and how long a reader waits for their place in
 * the table of a match, for the page of a player that all of them hold, and for the record of 1,000 closes.
 *
 *   npm run ops -- bench-week [--users 100000] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped.
 */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, PlayerId, UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { uuids } from '../../db/postgres/arrays.ts'
import { MatchBoardKeeper } from '../../src/features/match-board/keeper.ts'
import { MatchBoards } from '../../src/features/match-board/store.ts'
import { PlayerProfiles } from '../../src/features/player-profile/store.ts'
import { recordOf } from '../../src/features/recaps/record.ts'
import { Recaps } from '../../src/features/recaps/store.ts'
import { Teller } from '../../src/features/watchlist/teller.ts'
import { systemWorld } from '../../src/system-world.ts'
import { numbers } from '../rehearse/rig/options.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import { type Latency, Trading } from './fulltime-match.ts'
import { BenchMatch, snapshotAt } from './matches.ts'
import { figure, spreadOf, table, withSpread } from './report.ts'
import { stock } from './stock.ts'

const { users: USERS, json } = numbers(
  { users: [100_000, 1_000, 1_000_000] },
  { json: { type: 'boolean', default: false } },
)
/** Users who trade in another match. */
const TRADERS = 500
const WARM_UP_MS = 2_000
const CALM_MS = 10_000
/** Rows of one insert: more would exceed the statement timeout. */
const CHUNK = 10_000
const READS = 500
/** Of the largest league. */
const MEMBERS = 1_000
const CLOSES = 1_000
const OPEN_PRICE = 200_000_000
/** Goals, each told to all, with trades alone before it. */
const ROUNDS = 3
const GOAL = {
  kind: 'goal',
  minute: 1,
  extraMinute: null,
  period: 1,
  side: 'home',
  playerName: 'Player 0',
  relatedPlayerId: null,
  relatedPlayerName: null,
  addition: null,
  rescinded: false,
} as const

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

/** A league of the largest size, of the first users. */
async function unite({ connection: { db } }: BenchDatabase, users: readonly UserId[]) {
  const members = users.slice(0, MEMBERS)
  await sql`
    with founded as (
      insert into leagues (id, code, name, founder_id, scope, starting_micros, created_at, starts_at, ends_at, members)
        values (gen_random_uuid(), 'bench', 'Bench', ${members[0]}::uuid, 'all', 1000000, now(), now(),
                now() + interval '1 day', ${members.length}::integer) returning id)
    insert into league_members (league_id, user_id, joined_at)
      select founded.id, m.id, now() from founded, unnest(${uuids(members)}::uuid[]) m (id)`.execute(db)
}

/** A position of each user, and `CLOSES` of the first that are closed. */
async function hold(
  database: BenchDatabase,
  { match, instrumentId }: { match: FixtureId; instrumentId: InstrumentId },
  users: readonly UserId[],
) {
  const one = { instrumentId, sign: 1, lots: 10_000, open: OPEN_PRICE, margin: 1_000, takeProfit: null } as const
  const { db } = database.connection
  const closed = await stock(
    database,
    match,
    Array.from({ length: CLOSES }, () => one),
    users.slice(0, 1),
  )
  await sql`
    update positions set closed_at = now(), closed_by = 'user', close_micros = open_micros, pnl_micros = 0,
                         close_base_micros = open_micros, closed_marker = opened_marker + 1000000
     where id = any(${uuids(closed)}::uuid[])`.execute(db)
  for (let from = 0; from < users.length; from += CHUNK) {
    const some = users.slice(from, from + CHUNK)
    await stock(
      database,
      match,
      some.map(() => one),
      some,
    )
  }
  // Now, and not by the database beside what is read.
  await sql`vacuum (analyze) positions, league_members, notifications`.execute(db)
}

/** How long readings take, of one user after another. */
async function timed(users: readonly UserId[], read: (user: UserId) => Promise<unknown>) {
  const tookMs: number[] = []
  for (let n = 0; n < READS; n++) {
    const user = present(users[Math.floor((n * users.length) / READS)], 'user')
    const begun = performance.now()
    present((await read(user)) ?? undefined, 'what was read')
    tookMs.push(performance.now() - begun)
  }
  const sorted = tookMs.toSorted((a, b) => a - b)
  return { p50Ms: sorted[READS / 2] ?? Number.NaN, p99Ms: sorted[Math.floor(READS * 0.99)] ?? Number.NaN }
}

async function readAll(
  database: BenchDatabase,
  { match, instrumentId }: { match: FixtureId; instrumentId: InstrumentId },
  users: readonly UserId[],
) {
  const { db } = database.connection
  const world = systemWorld()
  const rules = () => ({ roiFloor: money(0), ranksBots: false })
  await new MatchBoardKeeper(db, rules).run()
  await unite(database, users)
  await hold(database, { match, instrumentId }, users)
  const boards = new MatchBoards(db, rules)
  const group = { kind: 'everybody' } as const
  const profiles = new PlayerProfiles(db)
  const recaps = new Recaps(database.connection, world, rules)
  const veteran = users.slice(0, 1)
  const all = { purse: 'main', match: null, from: instant(0), to: instant(world.now() + HOUR_MS) } as const
  return {
    table: await timed(users, async (user) => (await boards.table({ match, group, user, limit: 10, after: null })).me),
    page: await timed(users.slice(0, MEMBERS), async (user) => {
      const [, , [holder]] = await Promise.all([
        profiles.played(instrumentId),
        profiles.beginning(instrumentId),
        profiles.holders({ reader: user, friends: [] }, instrumentId, match, world.now()),
      ])
      return holder
    }),
    record: await timed(veteran, async (user) => {
      const closes = (await recaps.closes(user, all))?.closes ?? []
      const players = await recaps.players([...new Set(closes.map((one) => one.instrumentId))])
      return closes.length === CLOSES ? recordOf(closes, (id) => players.get(id)?.role) : null
    }),
  }
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
  const teller = new Teller(connection.db, systemWorld(), (notices) => (told += notices.length), pause)
  // The kick-off is told first.
  await teller.run()
  told = 0
  const load = new Trading(elsewhere, users.slice(USERS))
  await pause(WARM_UP_MS)
  load.take()

  const goals: (typeof GOAL & { id: number; playerId: PlayerId; result: string })[] = []
  const rounds: { toldMs: number; calm: Latency; meanwhile: Latency }[] = []
  for (let goal = 1; goal <= ROUNDS; goal++) {
    await pause(CALM_MS)
    const calm = load.take()
    const begun = performance.now()
    goals.push({ ...GOAL, id: goal, playerId, result: `${goal}-0` })
    const home = { id: 1, name: 'Harbour', goals: goal }
    const snapshot = snapshotAt(matchId, 20 * goal, { home, events: goals })
    await match.actor.feed({ kind: 'feed_update', seq: 1 + goal, snapshot })
    while (told < goal * USERS) await teller.run()
    rounds.push({ toldMs: performance.now() - begun, calm, meanwhile: load.take() })
    if (told !== goal * USERS) throw new Error(`${told} of ${goal * USERS} were told`)
  }
  await load.stop()

  await Promise.all([match.stop(), elsewhere.stop()])
  const read = await readAll(database, { match: matchId, instrumentId: id }, followers)
  return { users: USERS, rounds, read }
}

await using database = await createOnServer(namedServer(), USERS + TRADERS)
const { rounds, read, users } = await measure(database)
const spread = (of: (round: (typeof rounds)[number]) => number) => withSpread(spreadOf(rounds.map(of)))
const told = [
  users.toLocaleString('en'),
  spread((round) => round.toldMs / 1_000),
  spread((round) => round.calm.p50Ms),
  spread((round) => round.calm.p99Ms),
  spread((round) => round.meanwhile.p50Ms / round.calm.p50Ms),
  spread((round) => round.meanwhile.p99Ms / round.calm.p99Ms),
]
const pair = ({ p50Ms, p99Ms }: Omit<Latency, 'trades'>) => `${figure(p50Ms)}, ${figure(p99Ms)}`
const text = [
  `trades while followers are told of a goal: median (min..max) of ${ROUNDS}`,
  table(['followers', 'told s', 'alone p50 ms', 'p99 ms', 'p50 ratio', 'p99 ratio'], [told]),
  'readings, p50, p99 ms',
  table(['table', 'page', 'record'], [[read.table, read.page, read.record].map(pair)]),
]
console.log(json ? JSON.stringify({ users, rounds, read }) : text.join('\n'))
