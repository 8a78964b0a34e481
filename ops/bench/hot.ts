/**
 * What a crowd costs the others of its process:
 *
 *   npm run ops -- bench-hot [--only match,orders,sign-ins] [--rounds 5] [--seconds 5] [--quick] [--json]
 *
 * First single orders on one match, alone and beside 1,000 orders under way on another; the same over HTTP. Then the
 * orders of one trader over HTTP, alone and while 2,000 users sign in at once. DATABASE_URL (or TEST_DATABASE_URL)
 * names a PostgreSQL server; a database is made there and dropped. Only the ratios are meaningful: the crowd's load
 * shares the machine.
 */
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { refuse } from '../rehearse/rig/options.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { audit, type BenchDatabase, createOnServer, reset } from './bench-database.ts'
import { closedLoop, type Load } from './closed-loop.ts'
import { loadBeside, loadOverHttp, signedInUsers } from './http-loads.ts'
import { type BenchServer, withServer } from './http-server.ts'
import { BenchMatch } from './matches.ts'
import { figure, type Pace, PACED, paceOf, type Section, spreadOf, table, withSpread } from './report.ts'

const CROWD = 1_000
const SIGN_INS = 2_000
const USERS = 100_000
/** A user may hold 100 positions: enough of them for the orders of one trader. */
const TRADERS = 500

/** One round: the few alone, the few beside the crowd, and the crowd. */
interface Round {
  readonly calm: Load
  readonly meanwhile: Load
  readonly crowd: Load
}

const SECTIONS: Readonly<Record<string, (server: string, pace: Pace) => Promise<Section>>> = {
  match: besideHotMatch,
  orders: besideHotOrders,
  'sign-ins': besideSignIns,
}

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(SECTIONS).join(',') },
    ...PACED,
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
  },
})
const server = namedServer()
const pace = paceOf(options)

const only = options.only.split(',').map((name) => {
  const bench = SECTIONS[name] ?? refuse(`--only knows ${Object.keys(SECTIONS).join(', ')}, not ${name}`)
  return { name, bench }
})

for (const { name, bench } of only) {
  const section = await bench(server, pace)
  console.log(options.json ? JSON.stringify({ section: name, ...section.data }) : `\n${section.text}`)
}

async function besideHotMatch(address: string, terms: Pace): Promise<Section> {
  await using database = await createOnServer(address, USERS)
  const rounds: Round[] = []
  for (let n = 0; n < terms.rounds; n++) rounds.push(await oneHotMatch(database, terms))
  const title = `Single orders, alone and beside ${CROWD} under way on another match of the process`
  return describe(title, 'orders beside a hot match', rounds)
}

async function oneHotMatch(database: BenchDatabase, terms: Pace): Promise<Round> {
  await reset(database)
  const [hot, quiet] = await BenchMatch.start(database.connection, 2)
  let turn = 0
  // Far more users than orders under way, so that none waits for their own wallet.
  const openOn = async (match: BenchMatch | undefined): Promise<void> => {
    await present(match, 'match').open(present(database.users[turn++ % database.users.length], 'user'))
  }
  const few = { ...terms, callers: 1, ask: () => openOn(quiet) }
  const calm = await closedLoop(few)
  const [crowd, meanwhile] = await Promise.all([
    closedLoop({ ...terms, callers: CROWD, ask: () => openOn(hot) }),
    closedLoop(few),
  ])
  for (const match of [hot, quiet]) await match?.stop()
  const opened = calm.answered + crowd.answered + meanwhile.answered
  await audit(database, { opened, closed: 0, keyed: opened })
  return { calm, meanwhile, crowd }
}

type OneRound = (bench: BenchServer, cookies: string[], terms: Pace) => Promise<Round>

/** The rounds, on a server of their own. */
async function overHttp(address: string, terms: Pace, one: OneRound): Promise<Round[]> {
  await using database = await createOnServer(address, 0)
  const rounds: Round[] = []
  await withServer(database, async (bench) => {
    const cookies = await signedInUsers(bench.url)
    for (let n = 0; n < terms.rounds; n++) rounds.push(await one(bench, cookies, terms))
  })
  return rounds
}

async function besideSignIns(address: string, terms: Pace): Promise<Section> {
  const rounds = await overHttp(address, terms, oneCrowdSigningIn)
  return describe(
    `Orders of one trader over HTTP, alone and while ${SIGN_INS} users sign in at once`,
    'orders beside sign-ins',
    rounds,
  )
}

async function besideHotOrders(address: string, terms: Pace): Promise<Section> {
  const rounds = await overHttp(address, terms, oneHotCrowd)
  const title = `Orders of one trader over HTTP, alone and beside ${CROWD} under way on another match`
  return describe(title, 'orders over HTTP beside a hot match', rounds)
}

async function oneHotCrowd({ port, orders }: BenchServer, cookies: string[], terms: Pace): Promise<Round> {
  // Users of their own, so that the trader never waits for an order of their own in the crowd.
  const [traders, others] = [cookies.slice(0, TRADERS), cookies.slice(TRADERS)]
  const opens = {
    ...terms,
    port,
    method: 'POST',
    path: '/api/positions/open',
    keyed: true,
    expectedStatus: 201,
  } as const
  const few = { ...opens, cookies: traders, bodies: orders(0.01, 1), connections: 1 }
  const many = { ...opens, cookies: others, bodies: orders(0.01, 0), connections: CROWD }
  return { calm: await loadOverHttp(few), ...(await loadBeside(few, many)) }
}

async function oneCrowdSigningIn({ port, orders }: BenchServer, cookies: string[], terms: Pace): Promise<Round> {
  const asked = { ...terms, port, method: 'POST' } as const
  const trades = {
    ...asked,
    path: '/api/positions/open',
    cookies,
    bodies: orders(0.01),
    connections: 1,
    keyed: true,
    expectedStatus: 201,
  }
  const signIns = {
    ...asked,
    path: '/api/auth/dev',
    cookies: ['none=none'],
    // The names of users that exist.
    bodies: cookies.map((_, n) => JSON.stringify({ displayName: `Bench ${Math.floor(n / 1_000)} ${(n % 1_000) + 1}` })),
    connections: SIGN_INS,
    keyed: false,
    expectedStatus: 200,
  }
  const calm = await loadOverHttp(trades)
  return { calm, ...(await loadBeside({ ...trades, warmUpSeconds: 0 }, { ...signIns, warmUpSeconds: 0 })) }
}

function describe(title: string, name: string, rounds: readonly Round[]): Section {
  const spread = (of: (round: Round) => number): string => withSpread(spreadOf(rounds.map(of)))
  const row = (label: string, of: (round: Round) => Load): string[] => [
    label,
    spread((round) => of(round).p50Ms),
    spread((round) => of(round).p99Ms),
    spread((round) => of(round).perSecond),
  ]
  const ratio = (of: (load: Load) => number): string => spread((round) => of(round.meanwhile) / of(round.calm))
  const rows = [
    row('alone', ({ calm }) => calm),
    row('beside the crowd', ({ meanwhile }) => meanwhile),
    row('the crowd itself', ({ crowd }) => crowd),
    ['beside : alone', ratio(({ p50Ms }) => p50Ms), ratio(({ p99Ms }) => p99Ms), ''],
  ]
  const text = `${title}: median (min..max) of ${figure(rounds.length)} rounds\n${table(['', 'p50 ms', 'p99 ms', 'a second'], rows)}`
  return { text, data: { name, rounds } }
}
