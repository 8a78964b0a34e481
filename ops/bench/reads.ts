/**
 * What each read of the API costs: its latency under load, and the processor time of the server's own thread.
 *
 *   npm run ops -- bench-reads [--seconds 2] [--json]
 *
 * Every GET of the description is asked that answers a user with 200, by ten connections, over two live matches in
 * which thousands hold positions; what operators read, and what is streamed, is left out. DATABASE_URL (or TEST_…)
 * names a PostgreSQL server; a database is made there and dropped. Server, clients and PostgreSQL share the machine.
 * Beside the most usual ones stands the plain query for the same rows (naive-reads.ts). At the end a crowd asks for
 * what a page asks for after a goal, which is made once for all who wait for it.
 */
import { sql } from 'kysely'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { numbers } from '../rehearse/rig/options.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { createOnServer } from './bench-database.ts'
import { loadOverHttp, signedInUsers } from './http-loads.ts'
import { type BenchServer, withServer } from './http-server.ts'
import { naivePool } from './naive.ts'
import { naiveQuery, naiveRead } from './naive-reads.ts'
import { figure, table } from './report.ts'

const { seconds, json } = numbers({ seconds: [2, 1, 3_600] }, { json: { type: 'boolean', default: false } })
const STOCK_SECONDS = 10
const CONNECTIONS = 10
const CROWD = 1_000
const AFTER_A_GOAL = ['/api/instruments', '/api/matches/{id}', '/api/matches/{id}/events', '/api/matches/{id}/squad']
/** Microseconds of one core. */
const GOAL_MICROS = 3_000
const OF_OPERATORS = /^\/api\/admin/

const Description = z.object({ paths: z.record(z.string(), z.object({ get: z.unknown().optional() })) })
const Ids = z.object({
  matches: z.array(z.object({ id: z.number() })).optional(),
  instruments: z.array(z.object({ id: z.string() })).optional(),
  positions: z.array(z.object({ id: z.string() })).optional(),
})

interface Read {
  readonly path: string
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of the server's thread, for each request. */
  readonly micros: number
  /** The plain query of the same, where there is one. */
  readonly naive?: { readonly p50Ms: number; readonly micros: number }
}

await using database = await createOnServer(namedServer(), 0)
await withServer(database, measure)

async function measure({ url, port, orders }: BenchServer): Promise<void> {
  const cookies = await signedInUsers(url)
  const opening = { method: 'POST', path: '/api/positions/open', keyed: true, expectedStatus: 201 } as const
  const stock = { port, connections: 64, seconds: STOCK_SECONDS, warmUpSeconds: 0 }
  const { answered } = await loadOverHttp({ ...opening, ...stock, cookies, bodies: orders(0.01) })

  // Who asks for a position is its owner.
  const cookie = present(cookies[0], 'a user')
  const ask = (path: string) => fetch(url + path, { headers: { cookie } })
  const idsIn = async (path: string) => Ids.parse(await (await ask(path)).json())
  const { matches = [] } = await idsIn('/api/matches')
  const { instruments = [] } = await idsIn('/api/instruments')
  const { positions = [] } = await idsIn('/api/positions')
  const ids: Readonly<Record<string, unknown>> = {
    matches: matches[0]?.id,
    instruments: instruments[0]?.id,
    positions: positions[0]?.id,
    district: 1,
  }
  const addressOf = (path: string): string =>
    path
      .replace(/\{(matchId|id|districtId)\}/, (_, name: string) => {
        const kind =
          name === 'matchId' ? 'matches' : name === 'districtId' ? 'district' : (path.split('/').at(-2) ?? '')
        const known = ids[kind] ?? ids[Object.keys(ids).find((one) => path.includes(`/${one}/`)) ?? '']
        return String(known)
      })
      .replace(/\/squad$/, '/squad?team=home')

  const holder = await sql<{ user: string }>`select user_id as user from positions limit 1`.execute(
    database.connection.db,
  )
  const rows = { user: present(holder.rows[0], 'a holder').user, match: ids['matches'], instrument: ids['instruments'] }
  const pool = naivePool(database.url, CONNECTIONS)

  const { paths } = Description.parse(await (await fetch(`${url}/api/openapi.json`)).json())
  const expected = { method: 'GET', keyed: false, bodies: [], expectedStatus: 200 } as const
  const reads: Read[] = []
  const read = async (path: string, readers: readonly string[], connections: number): Promise<Read> => {
    const before = process.threadCpuUsage()
    const load = await loadOverHttp({
      ...expected,
      port,
      connections,
      seconds,
      warmUpSeconds: 0.5,
      path: addressOf(path),
      cookies: readers,
    })
    const { user, system } = process.threadCpuUsage(before)
    process.stderr.write(`${path}\n`)
    return { path, p50Ms: load.p50Ms, p99Ms: load.p99Ms, micros: (user + system) / load.answered }
  }
  for (const path of Object.keys(paths).filter((one) => paths[one]?.get !== undefined && !OF_OPERATORS.test(one))) {
    const probe = await ask(addressOf(path))
    await probe.body?.cancel()
    // What is streamed has no length beforehand.
    if (probe.status !== 200 || probe.headers.get('content-length') === null) continue
    const known = await read(path, path.includes('/positions/') ? [cookie] : cookies, CONNECTIONS)
    const query = naiveQuery(path, rows)
    reads.push(
      query === null ? known : { ...known, naive: await naiveRead(pool, query, { connections: CONNECTIONS, seconds }) },
    )
  }
  await pool.end()
  const crowd: Read[] = []
  for (const path of AFTER_A_GOAL) crowd.push(await read(path, cookies, CROWD))
  const dearest = reads.toSorted((a, b) => b.micros - a.micros)
  const naive = ['the plain query: p50 ms', 'µs of a core']
  const head = ['GET', 'p50 ms', 'p99 ms', 'a core-second', 'µs of a core', `goal ${GOAL_MICROS}`, ...naive]
  const text = [
    `${answered.toLocaleString('en')} open positions; ${CONNECTIONS} connections`,
    table(head, dearest.map(rowOf)),
    `${CROWD.toLocaleString('en')} connections`,
    table(head, crowd.map(rowOf)),
  ]
  console.log(json ? JSON.stringify({ answered, reads: dearest, crowd }) : text.join('\n'))
}

function rowOf({ path, p50Ms, p99Ms, micros, naive }: Read): string[] {
  const over = micros > GOAL_MICROS ? 'over' : ''
  const beside = naive === undefined ? ['', ''] : [figure(naive.p50Ms), figure(naive.micros)]
  return [path, figure(p50Ms), figure(p99Ms), figure(1e6 / micros), figure(micros), over, ...beside]
}
