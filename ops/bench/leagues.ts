/**
 * What leagues cost, in one run on one machine:
 *
 *   npm run ops -- bench-leagues [--rounds 3] [--seconds 5] [--quick] [--json]
 *
 * Durable opens with 1,000 under way: without a league in the database, with 10,000 leagues of 20 members beside, and
 * in those leagues. The table of a league, live, by members who hold positions. The recap of each of 10,000 users,
 * compared with the ledger. DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and
 * dropped.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { recapOf } from '../../actors/community/recap.ts'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type LeagueId, leagueId, type UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { money } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { Leagues } from '../../db/leagues.ts'
import { Recaps } from '../../db/recaps.ts'
import { systemWorld } from '../../src/system-world.ts'
import { audit, type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import { closedLoop } from './closed-loop.ts'
import { commitTime, describeCommitTime } from './commit-time.ts'
import { BenchMatch } from './matches.ts'
import { figure, type Pace, paceOf, type Section, spreadOf, table, withSpread } from './report.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')

const UNDER_WAY = 1_000
const MATCHES = 2
/** Of a league; each user is in so many leagues as well. */
const MEMBERS = 20
const READS = 2_000
const WARM_UP = 200
/** Closed positions of each user whose recap is made. */
const CLOSES = 20

const world = systemWorld()
const chance = chanceFrom(10)
const pace = paceOf(options)
const users = pace.quick ? 1_000 : 10_000

interface Times {
  readonly p50Ms: number
  readonly p99Ms: number
}

const database = await createOnServer(server, users)

async function opensAndTables(on: BenchDatabase, { rounds, seconds, warmUpSeconds }: Pace): Promise<Section> {
  const commits = []
  const rates = { none: [] as number[], beside: [] as number[], within: [] as number[] }
  let reads: { readonly tables: Times; readonly baseline: Times } | null = null
  for (let round = 0; round < rounds; round++) {
    commits.push(await commitTime(present(on.url ?? undefined, 'an address')))
    for (const [name, list] of Object.entries(rates)) {
      await reset(on)
      const ids = name === 'none' ? [] : await makeLeagues(on)
      const matches = await BenchMatch.start(on.connection, MATCHES)
      let turn = 0
      const load = await closedLoop({
        callers: UNDER_WAY,
        seconds,
        warmUpSeconds,
        ask: async (caller) => {
          const user = turn++ % users
          const league = name === 'within' ? leagueOf(ids, user, chance.below(MEMBERS)) : undefined
          await present(matches[caller % MATCHES], 'a match').open(present(on.users[user], 'a user'), league)
        },
      })
      for (const match of matches) await match.stop()
      await audit(on, { opened: load.answered, closed: 0, keyed: load.answered })
      list.push(load.perSecond)
      if (name === 'within') reads = { tables: await readTables(on, ids), baseline: await readNothing(on) }
    }
  }
  const { tables, baseline } = present(reads ?? undefined, 'a read')
  const ratio = (list: readonly number[]) => spreadOf(list.map((rate, n) => rate / present(rates.none[n], 'a rate')))
  const data = {
    users,
    leagues: users,
    members: MEMBERS,
    opensPerSecond: Object.fromEntries(Object.entries(rates).map(([name, list]) => [name, spreadOf(list)])),
    beside: ratio(rates.beside),
    within: ratio(rates.within),
    table: tables,
    emptyStatement: baseline,
    commits,
  }
  const row = (name: string, list: readonly number[]) => [name, figure(spreadOf(list).median), withSpread(ratio(list))]
  const text = [
    `Durable opens, ${UNDER_WAY} under way, ${MATCHES} matches, ${users} users`,
    table(
      ['', 'a second', 'of the first'],
      [
        row('no league', rates.none),
        row(`${users} leagues of ${MEMBERS} beside`, rates.beside),
        row('in those leagues', rates.within),
      ],
    ),
    '',
    `The table of a league: median ${ms(tables.p50Ms)}, p99 ${ms(tables.p99Ms)}; ` +
      `an empty statement ${ms(baseline.p50Ms)}, p99 ${ms(baseline.p99Ms)}.`,
    describeCommitTime(commits),
  ].join('\n')
  return { text, data }
}

/** The nth league of a user: leagues are the lines of a square, wrapped around. */
const leagueOf = (ids: readonly LeagueId[], user: number, nth: number): LeagueId =>
  present(ids[(user + nth) % ids.length], 'a league')

/** As many leagues as users, each with MEMBERS members, and each user in MEMBERS leagues; with wallets, booked. */
async function makeLeagues({ connection: { db } }: BenchDatabase): Promise<readonly LeagueId[]> {
  const { rows } = await sql<{ id: string }>`
    with numbered as (select id, row_number() over (order by username)::integer - 1 as n from users)
    insert into leagues (id, code, name, founder_id, scope, starting_micros, created_at, starts_at, ends_at, members)
      select gen_random_uuid(), 'code ' || n, 'League ' || n, id, 'all', ${STARTING_BALANCE}::bigint, now(),
             now() - interval '1 hour', now() + interval '1 day', ${MEMBERS}::integer
        from numbered order by n
      returning id`.execute(db)
  const ids = rows.map((row) => leagueId(row.id))
  for (let k = 0; k < MEMBERS; k++) {
    await sql`
    with numbered as (select id, row_number() over (order by ordinality)::bigint - 1 as n
                        from unnest(${uuidsOf(database.users)}::uuid[]) with ordinality as u (id, ordinality)),
         listed as (select id, ordinality - 1 as n from unnest(${uuidsOf(ids)}::uuid[]) with ordinality as l (id, ordinality)),
         members as (
           insert into league_members (league_id, user_id, joined_at)
             select l.id, u.id, now() from numbered u                join listed l on l.n = (u.n + ${k}::bigint) % ${ids.length}::bigint
             returning league_id, user_id
         ), filled as (
           insert into wallets (user_id, purse, balance_micros)
             select user_id, league_id::text, ${STARTING_BALANCE}::bigint from members returning user_id, purse, balance_micros
         )
    insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
      select user_id, 'user', user_id, purse, balance_micros, 'grant', user_id, now() from filled
      union all
      select user_id, 'house', null, purse, -balance_micros, 'grant', user_id, now() from filled`.execute(db)
  }
  await sql`vacuum analyze leagues, league_members, wallets, ledger_entries`.execute(db)
  await sql`checkpoint`.execute(db)
  return ids
}

const uuidsOf = (ids: readonly string[]): string => `{${ids.join(',')}}`

/** Tables of random leagues, one after another, while their members hold what they have opened. */
function readTables({ connection: { db } }: BenchDatabase, ids: readonly LeagueId[]): Promise<Times> {
  const leagues = new Leagues(db, world)
  return timed(async () => {
    const places = await leagues.table(present(ids[chance.below(ids.length)], 'a league'))
    if (places.length !== MEMBERS) throw new Error(`${places.length} members in a table of ${MEMBERS}`)
  })
}

const readNothing = ({ connection: { db } }: BenchDatabase): Promise<Times> => timed(() => sql`select 1`.execute(db))

async function timed(work: () => Promise<unknown>): Promise<Times> {
  const times: number[] = []
  for (let n = 0; n < WARM_UP + READS; n++) {
    const began = performance.now()
    await work()
    if (n >= WARM_UP) times.push(performance.now() - began)
  }
  return timesOf(times)
}

function timesOf(times: readonly number[]): Times {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => present(sorted[Math.floor(sorted.length * share)], 'a time')
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

/** Every user has closed CLOSES positions in two matches; the recap of each is made, and compared with the ledger. */
async function recaps(on: BenchDatabase): Promise<Section> {
  const { db } = on.connection
  await reset(on)
  for (let k = 1; k <= CLOSES; k++) {
    await sql`
    with lives as (
      select u.id as user_id, ${k}::bigint as k, gen_random_uuid() as id, 1 + (${k}::bigint % 2) as match_id,
             1000000 + floor(random() * 50000000)::bigint as margin, floor(random() * 60000000)::bigint - 25000000 as made,
             now() - interval '3 hours' + ${k}::integer * interval '1 minute' as opened_at
        from users u
    ), paid as (select *, greatest(-margin, made) as pnl from lives
    ), held as (
      insert into positions (id, user_id, purse, match_id, instrument_id, sign, lots_micros, open_micros, open_base_micros,
                             margin_micros, opened_at, closable_at, close_micros, close_base_micros, pnl_micros, closed_at,
                             closed_by, opened_marker, closed_marker)
        select id, user_id, 'main', match_id, gen_random_uuid(), 1, 1000000, 200000000, 200000000, margin, opened_at,
               opened_at, 200000000, 200000000, pnl, opened_at + interval '30 minutes', 'user', 2 * k - 1, 2 * k
          from paid
    ), booked as (
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at, marker)
        select gen_random_uuid(), 'user', user_id, 'main', amount, kind, id, at, marker from paid cross join lateral (
          values (-margin, 'margin', opened_at, (2 * k - 1)::bigint),
                 (margin + pnl, 'release', opened_at + interval '30 minutes', (2 * k)::bigint)) e (amount, kind, at, marker)
    )
    update wallets w set balance_micros = w.balance_micros + t.pnl
      from (select user_id, sum(pnl) as pnl from paid group by user_id) t
     where w.user_id = t.user_id and w.purse = 'main'`.execute(db)
  }
  await sql`vacuum analyze positions, ledger_entries, wallets`.execute(db)
  const made = new Recaps(db, world, () => ({ roiFloor: money(0), ranksBots: false }))
  const { rows } = await sql<{ user_id: string; booked: number }>`
    select e.user_id, sum(e.amount_micros)::bigint as booked from ledger_entries e
      join positions p on p.id = e.reference where e.account = 'user' and p.match_id = 1 group by e.user_id`.execute(db)
  const booked = new Map(rows.map((row) => [row.user_id, row.booked]))
  const times: number[] = []
  for (const user of on.users) times.push(await timeOf(made, user, booked.get(user) ?? 0))
  const recap = timesOf(times)
  const text =
    `The recap of a match, ${users} users with ${CLOSES} closes each: median ${ms(recap.p50Ms)}, p99 ${ms(recap.p99Ms)}. ` +
    'Each adds up to what the ledger has booked.'
  return { text, data: { users, closes: CLOSES, recap } }
}

/** Makes one recap; throws unless it is what the ledger has booked. Returns how long it took. */
async function timeOf(made: Recaps, user: UserId, due: number): Promise<number> {
  const now = world.now()
  const began = performance.now()
  const query = {
    purse: 'main',
    match: fixtureId(1),
    from: instant(now - 8 * 24 * HOUR_MS),
    to: instant(now + 1),
  } as const
  const found = present((await made.closes(user, query)) ?? undefined, 'a wallet')
  await made.rank(user, query)
  const { result } = recapOf(found.start, found.closes)
  const took = performance.now() - began
  if (result !== due) throw new Error(`the recap of ${user} says ${result}, the ledger ${due}`)
  return took
}

const ms = (time: number): string => `${time.toFixed(2)} ms`

try {
  for (const section of [await opensAndTables(database, pace), await recaps(database)]) {
    console.log(options.json ? JSON.stringify(section.data) : `\n${section.text}`)
  }
} finally {
  await database.close()
}
