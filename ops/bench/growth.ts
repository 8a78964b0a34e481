/**
 * How costs grow with what is stored, and with how many matches are live.
 *
 *   npm run ops -- bench-growth [--rows 100000,1000000,10000000] [--matches 2,10,100,1000] [--json]
 *
 * `--rows`: closed positions of 100,000 users, each with its two entries in the ledger, beside two live matches.
 * `--matches`: live matches without a past. Each number is measured in a database of its own, which is made on the
 * server that DATABASE_URL (or TEST_…) names and dropped. A cost that follows the work is the same in every row.
 */
import { performance } from 'node:perf_hooks'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type PositionId, type UserId } from '../../actors/kernel/ids.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { refuse, whole } from '../rehearse/rig/options.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { createOnServer, reset } from './bench-database.ts'
import { signedInUsers } from './http-loads.ts'
import { withServer } from './http-server.ts'
import { BenchMatch, snapshotAt } from './matches.ts'
import { insertPast } from './past.ts'
import { figure, spreadOf, table } from './report.ts'
import { smallPosition, stock } from './stock.ts'

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000,1000000,10000000' },
    matches: { type: 'string', default: '2,10,100,1000' },
    json: { type: 'boolean', default: false },
  },
})

const USERS = 100_000
const HOLDERS = 5_000
/** A figure is the median of this many requests or trades. */
const TIMES = 200
const LOOK_EVERY_MS = 5
const FIRST_MATCH = fixtureId(90_000)
const READS = [
  '/api/positions?status=closed',
  '/api/wallet/ledger',
  '/api/leaderboard/global',
  '/api/leaderboard/me/context',
  '/api/matches',
] as const

/** Milliseconds by what was done. */
type Costs = Readonly<Record<string, number>>

const note = (text: string): boolean => process.stderr.write(`${text}\n`)

/** None in an empty list. */
const sizesOf = (name: 'rows' | 'matches'): number[] =>
  options[name]
    .split(',')
    .filter((one) => one !== '')
    .map((one) => whole(name, one, 1))
const sizes = { rows: sizesOf('rows'), matches: sizesOf('matches') }
if (sizes.rows.length + sizes.matches.length === 0) refuse('--rows and --matches are empty: nothing would be measured')

const since = (at: number): number => performance.now() - at

async function medianOf(work: (n: number) => Promise<unknown>, times = TIMES): Promise<number> {
  const took: number[] = []
  for (let n = 0; n < times; n++) {
    const at = performance.now()
    await work(n)
    took.push(since(at))
  }
  return spreadOf(took).median
}

/** Openings and closes, one at a time, in turn over the matches. */
async function trades(matches: readonly BenchMatch[], users: readonly UserId[]): Promise<Costs> {
  const matchOf = (n: number): BenchMatch => present(matches[n % matches.length], 'match')
  const userOf = (n: number): UserId => present(users[n], 'user')
  const held: PositionId[] = []
  await medianOf((n) => matchOf(n).open(userOf(TIMES + n)), 50) // plans
  const open = await medianOf(async (n) => held.push(await matchOf(n).open(userOf(n))))
  const close = await medianOf((n) => matchOf(n).close(userOf(n), present(held[n], 'position')))
  return { open, close }
}

async function fullTime(match: BenchMatch): Promise<Costs> {
  const at = performance.now()
  const seq = match.actor.view.info.feedSeq + 1
  const snapshot = snapshotAt(match.actor.matchId, 10 * seq, { state: 'FINISHED', stateId: 5, periods: [] })
  if (!(await match.actor.feed({ kind: 'feed_update', seq, snapshot }))) throw new Error('the end of the match was old')
  while (match.actor.view.info.settledAt === null && match.fault === null) {
    await match.actor.clock()
    await pause(LOOK_EVERY_MS)
  }
  if (match.fault !== null) throw match.fault
  return { [`settle ${HOLDERS.toLocaleString('en')}`]: since(at) }
}

async function overRows(rows: number): Promise<Costs> {
  await using database = await createOnServer(namedServer(), USERS)
  const folder = await mkdtemp(join(tmpdir(), 'touchline-growth-'))
  try {
    let cookies: readonly string[] = []
    await withServer(database, async ({ url }) => void (cookies = await signedInUsers(url)), folder)
    await reset(database)
    const made = await BenchMatch.start(database.connection, 2)
    for (const match of made) await match.stop()
    await insertPast(database, FIRST_MATCH, rows, (n) => note(`${n.toLocaleString('en')} positions`))

    const costs: Record<string, number> = {}
    const at = performance.now()
    await withServer(
      database,
      async ({ url }) => {
        costs['start'] = since(at)
        for (const path of READS) {
          costs[path] = await medianOf(async (n) => {
            const answer = await fetch(url + path, { headers: { cookie: present(cookies[n], 'cookie') } })
            if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
            await answer.arrayBuffer()
          })
        }
      },
      folder,
    )
    const [popular, other] = await Promise.all(
      made.map((one) => BenchMatch.load(database.connection, one.actor.matchId)),
    )
    Object.assign(costs, await trades([present(other, 'match')], database.users))
    await popular?.stop()
    const players = [...present(popular, 'match').actor.view.instruments()]
    const holders = database.users.slice(-HOLDERS)
    const positions = holders.map((_, n) =>
      smallPosition(present(players[n % players.length], 'player'), n % 2 === 0 ? 1 : -1),
    )
    await stock(database, FIRST_MATCH, positions, holders)
    const held = await BenchMatch.load(database.connection, FIRST_MATCH)
    Object.assign(costs, await fullTime(held))
    for (const match of [held, other]) await match?.stop()
    const wallets = new Wallets(database.connection.db, new WalletCache(null, () => undefined))
    const audited = performance.now()
    await wallets.auditLedger()
    costs['audit'] = since(audited)
    return costs
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function overMatches(count: number): Promise<Costs> {
  await using database = await createOnServer(namedServer(), 1_000)
  await reset(database)
  for (const match of await BenchMatch.start(database.connection, count)) await match.stop()
  const at = performance.now()
  const matches: BenchMatch[] = []
  for (let n = 0; n < count; n++) {
    matches.push(await BenchMatch.load(database.connection, fixtureId(FIRST_MATCH + n)))
  }
  const load = since(at) / count
  const costs = { load, ...(await trades(matches, database.users)) }
  for (const match of matches) await match.stop()
  return costs
}

async function curve(counts: readonly number[], what: string, measure: (count: number) => Promise<Costs>) {
  const rows: { count: number; costs: Costs }[] = []
  for (const count of counts) {
    note(`${count.toLocaleString('en')} ${what}`)
    const costs = await measure(count)
    rows.push({ count, costs })
    note(JSON.stringify(costs))
  }
  return rows
}

function tableOf(what: string, rows: Awaited<ReturnType<typeof curve>>): string {
  const [first] = rows
  if (first === undefined) return ''
  const names = Object.keys(first.costs)
  return table(
    ['ms', ...rows.map(({ count }) => `${count.toLocaleString('en')} ${what}`)],
    names.map((name) => [name, ...rows.map(({ costs }) => figure(present(costs[name], name)))]),
  )
}

const byRows = await curve(sizes.rows, 'positions', overRows)
const byMatches = await curve(sizes.matches, 'matches', overMatches)
console.log(
  options.json
    ? JSON.stringify({ byRows, byMatches })
    : [tableOf('positions', byRows), tableOf('matches', byMatches)].filter((one) => one !== '').join('\n'),
)
