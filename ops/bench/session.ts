/**
 * Measures the cost of authenticating a caller: the same empty route without authentication, with verified tokens
 * cached, and with every signature verified again.
 *
 *   npm run ops -- bench-session [--rounds 5] [--seconds 3] [--quick] [--json]
 *
 * REDIS_URL names a Redis that knows which sessions are over; without it memory does. Server and clients share the
 * machine, so only the ratios are meaningful.
 */
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { connectEmbedded } from '../../db/postgres/connect.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { connectRedis } from '../../db/fast/fast-redis.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { Rates } from '../../db/rates.ts'
import { seedDistricts } from '../../db/seed.ts'
import { EndedSessions } from '../../db/ended-sessions.ts'
import { Sessions } from '../../db/sessions.ts'
import { Users } from '../../db/users.ts'
import { ACCESS_COOKIE } from '../../src/auth/cookies.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createSessions } from '../../src/auth/sessions.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import type { HttpEnv } from '../../src/http/answers.ts'
import { crossOrigin } from '../../src/http/edge.ts'
import { createGates } from '../../src/http/gates.ts'
import { createRateLimits } from '../../src/http/rate-limits.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import type { Load } from './closed-loop.ts'
import { loadOverHttp } from './http-loads.ts'
import { figure, paceOf, spreadOf, table, withSpread } from './report.ts'

const USERS = 1_000
const CONNECTIONS = 64
const LIFETIMES = { accessSecs: 900, refreshSecs: 604_800, wsSecs: 60 }
const WAYS = ['open', 'remembered', 'verified again'] as const
type Way = (typeof WAYS)[number]
/** Only the variant without a cache forgets verified tokens. */
const REMEMBERED_MAX = { open: 0, remembered: 100_000, 'verified again': 0 } as const

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const pace = paceOf(options)

const world = systemWorld()
const connection = await connectEmbedded(null)
const redisUrl = process.env['REDIS_URL'] ?? ''
const fast = redisUrl === '' ? new FastMemory(world) : await connectRedis({ url: redisUrl, prefix: 'bench-session:' })
try {
  console.log(report(await measure()))
} finally {
  await fast.close()
  await connection.close()
}

async function measure(): Promise<readonly Readonly<Record<Way, Load>>[]> {
  const { db } = connection
  await migrate(db)
  await seedDistricts(db)
  const keys = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: null })
  const ask = fastOrElse(fast, world)
  const ended = new EndedSessions({ db, ask, installation: 'bench', world, tokenLifeMs: 900_000 })
  const rows = new Sessions({ db, ended, world, sessionLifeMs: 604_800_000, maxDays: () => 60, keep: async () => true })
  const log = createLog({ level: 'silent', world })
  const limits = createRateLimits({ perMinute: 0, trustedProxies: 0, rates: new Rates(ask, world) })
  const sessionsOf = (cachedTokensMax: number) =>
    createSessions({
      tokens: createTokens({ keys, lifetimes: LIFETIMES, world, cachedTokensMax }),
      rows,
      ended,
      claimSocketToken: async () => true,
      onNewDevice: () => {},
      onReuse: () => {},
      log,
    })
  const serve = (way: Way) => {
    const gates = createGates({
      sessions: sessionsOf(REMEMBERED_MAX[way]),
      keys: { needsLookup: () => false, verify: async () => null, markBot: async () => undefined },
      scopeOf: () => null,
      accounts: { find: async () => null },
      flags: () => ({ coming_soon: false }),
      limits,
    })
    const app = new Hono<HttpEnv>().use(crossOrigin([])) // the real server also checks the origin of every request
    if (way !== 'open') app.use(gates.signedIn)
    app.get('/', (c) => c.json({ ok: true }))
    return createAdaptorServer({ fetch: (request, env) => app.fetch(request, env) })
  }

  const made = await new Users(db, world).createSyntheticMany(Array.from({ length: USERS }, (_, n) => `Bench ${n}`))
  const pairs = await sessionsOf(0).start(
    made.map(({ user }) => user),
    { userAgent: null, addressPrefix: '127.0.0.0/24' },
  )
  const cookies = pairs.map(({ access }) => `${ACCESS_COOKIE}=${access}`)
  const servers = WAYS.map((way) => ({ way, server: serve(way) }))
  await Promise.all(servers.map(({ server }) => new Promise<void>((up) => server.listen(0, '127.0.0.1', () => up()))))

  const rounds: Readonly<Record<Way, Load>>[] = []
  for (let round = 0; round < pace.rounds; round++) {
    const loads: [Way, Load][] = []
    for (const { way, server } of servers) {
      const { port } = server.address() as AddressInfo
      const work = { method: 'GET', path: '/', cookies, bodies: [], keyed: false, expectedStatus: 200 } as const
      loads.push([way, await loadOverHttp({ ...pace, ...work, port, connections: CONNECTIONS })])
    }
    rounds.push(Object.fromEntries(loads) as Record<Way, Load>)
  }
  for (const { server } of servers) server.close()
  return rounds
}

function report(rounds: readonly Readonly<Record<Way, Load>>[]): string {
  if (options.json) return JSON.stringify({ rounds })
  const lines = WAYS.map((way) => {
    const spread = (of: (round: Readonly<Record<Way, Load>>) => number) => withSpread(spreadOf(rounds.map(of)))
    return [
      way,
      spread((round) => round[way].perSecond),
      figure(spreadOf(rounds.map((round) => round[way].p99Ms)).median),
      spread((round) => 1e6 / round[way].perSecond - 1e6 / round.open.perSecond),
      spread((round) => (100 * round[way].perSecond) / round.open.perSecond),
    ]
  })
  const head = ['', 'requests a second', 'p99 ms', 'cost over open, µs', 'of open, %']
  const asked = redisUrl === '' ? 'memory' : 'Redis'
  return `GET by ${USERS} users on ${CONNECTIONS} connections; ${asked} says whether a session is over\n${table(head, lines)}`
}
