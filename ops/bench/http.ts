/**
 * Measures opens over HTTP through the whole server, against an order that is refused without asking the database:
 *
 *   npm run bench:http -- [--rounds 3] [--seconds 3] [--quick] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped. Server, clients
 * and PostgreSQL share the machine, so only the ratio is meaningful.
 */
import { parseArgs } from 'node:util'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { audit, createOnServer } from './bench-database.ts'
import type { Load } from './closed-loop.ts'
import { loadOverHttp, signedInUsers } from './http-loads.ts'
import { type BenchServer, withServer } from './http-server.ts'
import { figure, PACED, paceOf, spreadOf, table, withSpread } from './report.ts'

const CONNECTIONS = [16, 64, 256]
const { values: options } = parseArgs({ options: PACED })
const pace = paceOf(options)

await using database = await createOnServer(namedServer(), 0)
await withServer(database, measure)

async function measure({ url, port, orders }: BenchServer): Promise<void> {
  const cookies = await signedInUsers(url)
  const base = { ...pace, port, method: 'POST', path: '/api/positions/open', cookies } as const
  const rounds: { readonly connections: number; readonly opened: Load; readonly refused: Load }[] = []
  for (let round = 0; round < pace.rounds; round++) {
    for (const connections of CONNECTIONS) {
      const trade = { keyed: true, bodies: orders(0.01), expectedStatus: 201 }
      const refusal = { keyed: false, bodies: orders(0), expectedStatus: 422 }
      const opened = await loadOverHttp({ ...base, ...trade, connections })
      const refused = await loadOverHttp({ ...base, ...refusal, connections })
      rounds.push({ connections, opened, refused })
    }
  }
  const answered = rounds.reduce((sum, { opened }) => sum + opened.answered, 0)
  await audit(database, { opened: answered, closed: 0, keyed: answered })
  console.log(options.json ? JSON.stringify({ rounds }) : describe(rounds))
}

function describe(
  rounds: readonly { readonly connections: number; readonly opened: Load; readonly refused: Load }[],
): string {
  const rows = CONNECTIONS.map((connections) => {
    const mine = rounds.filter((round) => round.connections === connections)
    const spread = (of: (round: (typeof mine)[number]) => number): string => withSpread(spreadOf(mine.map(of)))
    return [
      `${connections} connections`,
      spread((r) => r.opened.perSecond),
      figure(spreadOf(mine.map((r) => r.opened.p50Ms)).median),
      figure(spreadOf(mine.map((r) => r.opened.p99Ms)).median),
      spread((r) => r.refused.perSecond),
      spread((r) => (100 * r.opened.perSecond) / r.refused.perSecond),
    ]
  })
  const head = ['', 'opened a second', 'p50 ms', 'p99 ms', 'refused a second', 'opened : refused, %']
  return `POST /api/positions/open, a key with each\n${table(head, rows)}`
}
