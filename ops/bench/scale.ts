/**
 * Measures the gain from more processes on one machine. The same load, trades over HTTP and prices to sockets at once,
 * runs on one, two, three and four processes. It also shows where the processor time is used.
 *
 *   npm run ops -- bench-scale [--seconds 8] [--connections 128] [--sockets 400]
 *
 * DATABASE_URL and REDIS_URL (or TEST_…) name servers on this machine; a database is made for each measurement and
 * dropped. Load, PostgreSQL and Redis share the cores with the measured processes, so those cores are the limit. Linux
 * only.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Redis } from 'ioredis'
import pg from 'pg'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { SimulatedClient } from '../rehearse/rig/simulated-client.ts'
import { serverPlace } from '../rehearse/rig/data-place.ts'
import { Program, type Settings } from '../rehearse/rig/program.ts'
import type { Load } from './closed-loop.ts'
import type { ClientPlan, ClientsCommand, ClientsReport } from './fanout-clients.ts'
import { loadOverHttp, signedInUsers } from './http-loads.ts'
import { figure, table } from './report.ts'
import { processorSeconds } from './processor-time.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    connections: { type: 'string', default: '128' },
    sockets: { type: 'string', default: '400' },
  },
})
const [seconds, connections, sockets] = [Number(values.seconds), Number(values.connections), Number(values.sockets)]
const database = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
const redisUrl = process.env['REDIS_URL'] ?? process.env['TEST_REDIS_URL']
if (database === undefined || redisUrl === undefined) throw new Error('DATABASE_URL and REDIS_URL must name servers')

/** The roles of each process. */
const CONFIGURATIONS = [['api,rooms'], ['api', 'rooms'], ['api', 'api', 'rooms'], ['api', 'api', 'rooms', 'rooms']]
const SOCKETS_PER_USER = 4
const FOLLOWED = 10
const WARM_UP_SECS = 3
/** Two, so that two processes can have one each. At normal speed nothing happens in them during a measurement. */
const MATCHES = ['slow-burner', 'cup-night']
const PATIENCE_MS = 20_000
const LOOK_MS = 100

const Listing = z.object({
  instruments: z.array(
    z.looseObject({ id: z.string(), fixtureId: z.int(), currentPrice: z.number(), tradingStatus: z.string() }),
  ),
})
const Ticket = z.looseObject({ token: z.string() })
type Listed = z.output<typeof Listing>['instruments']

interface Running {
  readonly program: Program
  readonly roles: string
  readonly url: string
  readonly wsPort: number
}

interface Result {
  readonly roles: readonly string[]
  readonly trades: Load
  readonly prices: number
  /** Cores used by each: the processes, PostgreSQL, Redis, the load. */
  readonly cores: readonly number[]
  readonly postgres: number
  readonly redis: number
  readonly load: number
}

async function measure(roles: readonly string[]): Promise<Result> {
  const place = await serverPlace(present(database, 'database'), present(redisUrl, 'Redis'))
  const running: Running[] = []
  const crew = fork(join(import.meta.dirname, './fanout-clients.ts'))
  try {
    for (const role of roles) running.push(await start(role, place.settings))
    const edges = running.filter((one) => one.roles.includes('api'))
    const { url } = present(edges[0], 'a process for clients')
    const admin = new SimulatedClient('Scale Admin')
    await admin.signIn(url)
    const instruments = await kickOff(url, admin)
    const cookies = await signedInUsers(url)
    for (const [n, edge] of edges.entries()) {
      const mine = cookies.filter((_, user) => user % edges.length === n)
      await connectSockets(crew, edge, { cookies: mine, count: Math.floor(sockets / edges.length), instruments })
    }
    const usage = await usageBy(running, crew, present(place.settings['DATABASE_URL'], 'database'))
    const loads = edges.map((edge) => trade(edge, { cookies, instruments, share: edges.length }))
    await pause(WARM_UP_SECS * 1_000)
    const [before, beganAt] = [await usage(), performance.now()]
    command(crew, { kind: 'begin' })
    await pause(seconds * 1_000)
    const [after, took] = [await usage(), (performance.now() - beganAt) / 1_000]
    const reported = once(crew, 'message')
    command(crew, { kind: 'end' })
    const { report } = (await reported)[0] as { report: ClientsReport }
    if (report.lost > 0) throw new Error(`${report.lost} sockets were lost`)
    const trades = await Promise.all(loads)
    const cores = (of: string): number => ((after.get(of) ?? 0) - (before.get(of) ?? 0)) / took
    return {
      roles,
      trades: {
        answered: trades.reduce((sum, { answered }) => sum + answered, 0),
        perSecond: trades.reduce((sum, { perSecond }) => sum + perSecond, 0),
        p50Ms: Math.max(...trades.map(({ p50Ms }) => p50Ms)),
        p99Ms: Math.max(...trades.map(({ p99Ms }) => p99Ms)),
      },
      prices: report.deliveries / took,
      cores: running.map(({ program }) => cores(String(program.pid))),
      postgres: cores('postgres'),
      redis: cores('redis'),
      load: cores('load'),
    }
  } finally {
    crew.disconnect()
    for (const { program } of running) await program.kill()
    await place.remove([])
  }
}

async function start(roles: string, settings: Settings): Promise<Running> {
  const program = new Program({
    ...settings,
    ROLES: roles,
    DEMO_REPLAY: 'none',
    RATE_LIMIT_PER_MIN: '0',
    LOG_LEVEL: 'info',
    ADMIN_EMAILS: 'scale_admin@synthetic.invalid',
  })
  const url = await program.listening
  return { program, roles, url, wsPort: Number(new URL(present(program.wsUrl, 'socket address')).port) }
}

/**
 * Starts the matches one after the other, so that two processes share them. Returns the instruments open for trading.
 */
async function kickOff(url: string, admin: SimulatedClient): Promise<Listed> {
  const until = performance.now() + PATIENCE_MS
  for (const [n, fixtureId] of MATCHES.entries()) {
    const asked = await admin.ask(url, 'POST', '/api/admin/gameplay-bot/start', { fixtureId, speed: 1, traders: 0 })
    if (asked === 'lost' || asked.status >= 300) throw new Error(`no replay: ${JSON.stringify(asked)}`)
    for (;;) {
      const { instruments } = await admin.read(url, '/api/instruments', Listing)
      const open = instruments.filter(({ tradingStatus }) => tradingStatus === 'OPEN')
      if (new Set(open.map((one) => one.fixtureId)).size > n) break
      if (performance.now() > until) throw new Error(`${fixtureId} has not kicked off`)
      await pause(LOOK_MS)
    }
  }
  const { instruments } = await admin.read(url, '/api/instruments', Listing)
  return instruments.filter(({ tradingStatus }) => tradingStatus === 'OPEN')
}

interface Sockets {
  readonly cookies: readonly string[]
  readonly count: number
  readonly instruments: Listed
}

/** Sockets to one process; each follows players that its neighbour does not. */
async function connectSockets(crew: ChildProcess, { url, wsPort }: Running, wanted: Sockets): Promise<void> {
  const clients: ClientPlan[] = []
  for (let n = 0; n < wanted.count; n++) {
    const cookie = present(wanted.cookies[Math.floor(n / SOCKETS_PER_USER)], 'a user')
    const response = await fetch(`${url}/api/ws/token`, { method: 'POST', headers: { cookie } })
    const { token } = Ticket.parse(await response.json())
    const ids = Array.from({ length: FOLLOWED }, (_, i) => {
      return present(wanted.instruments[(n * FOLLOWED + i) % wanted.instruments.length], 'an instrument').id
    })
    const greeting = JSON.stringify({ type: 'subscribe', id: 1, instrumentIds: ids })
    clients.push({ path: `/?token=${token}`, greeting, snapshots: FOLLOWED, updatesPerPatch: 0 })
  }
  const connected = once(crew, 'message')
  command(crew, { kind: 'connect', order: { port: wsPort, clients, stalled: 0 } })
  await connected
}

const command = (crew: ChildProcess, what: ClientsCommand): void => void crew.send(what)

interface Trading {
  readonly cookies: readonly string[]
  readonly instruments: Listed
  /** The number of processes that share the connections. */
  readonly share: number
}

function trade({ url }: Running, { cookies, instruments, share }: Trading): Promise<Load> {
  const bodies = instruments.flatMap(({ id, currentPrice: clientPrice }) =>
    ['long', 'short'].map((direction) => JSON.stringify({ instrumentId: id, direction, lotSize: 0.01, clientPrice })),
  )
  return loadOverHttp({
    port: Number(new URL(url).port),
    connections: Math.floor(connections / share),
    seconds,
    warmUpSeconds: WARM_UP_SECS,
    method: 'POST',
    path: '/api/positions/open',
    cookies,
    bodies,
    keyed: true,
    expectedStatus: 201,
  })
}

/** The processor time that each of them has used so far, in seconds. */
async function usageBy(
  running: readonly Running[],
  crew: ChildProcess,
  databaseUrl: string,
): Promise<() => Promise<ReadonlyMap<string, number>>> {
  const redis = new Redis(present(redisUrl, 'Redis'))
  const redisPid = /process_id:(\d+)/.exec(await redis.info('server'))?.[1] ?? ''
  redis.disconnect()
  return async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() or backend_type <> 'client backend'`,
    )
    await client.end()
    const own = process.cpuUsage()
    return new Map([
      ...running.map(({ program }) => [String(program.pid), processorSeconds(String(program.pid))] as const),
      ['postgres', rows.reduce((sum, { pid }) => sum + processorSeconds(String(pid)), 0)],
      ['redis', processorSeconds(redisPid)],
      ['load', (own.user + own.system) / 1e6 + processorSeconds(String(crew.pid))],
    ])
  }
}

const results: Result[] = []
for (const roles of CONFIGURATIONS) results.push(await measure(roles))
const rows = results.map(({ roles, trades, prices, cores, postgres, redis, load }) => [
  `${roles.length}: ${roles.join(' + ')}`,
  figure(trades.perSecond),
  `${figure(trades.p50Ms)}, ${figure(trades.p99Ms)}`,
  figure(prices),
  cores.map((each) => each.toFixed(2)).join(' + '),
  postgres.toFixed(2),
  redis.toFixed(2),
  load.toFixed(2),
])
console.log(
  `${availableParallelism()} cores, ${connections} connections that trade, ${sockets} sockets with ${FOLLOWED} of ${MATCHES.length} matches' players each; processor time in cores\n`,
)
const head = ['processes', 'trades/s', 'p50, p99 ms', 'prices/s', 'each process', 'PostgreSQL', 'Redis', 'load']
console.log(table(head, rows))
process.exit()
