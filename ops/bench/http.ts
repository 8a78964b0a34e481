/**
 * Measures opens over HTTP through the whole server, against an order that is refused without asking the database:
 *
 *   npm run bench:http -- [--rounds 3] [--seconds 3] [--quick] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; a database is made there and dropped. Server, clients
 * and PostgreSQL share the machine, so only the ratio is meaningful.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import { compose, type Touchline } from '../../src/compose/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { audit, createOnServer } from './bench-database.ts'
import type { Load } from './closed-loop.ts'
import { loadOverHttp, signedInUsers } from './http-loads.ts'
import { snapshotAt } from './matches.ts'
import { figure, paceOf, spreadOf, table, withSpread } from './report.ts'

const CONNECTIONS = [16, 64, 256]
const MATCH = fixtureId(90_000)
/** Well below the age at which a feed is late. */
const FEED_EVERY_MS = 5_000

const world = systemWorld()
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const pace = paceOf(options)

const database = await createOnServer(server, 0)
const folder = mkdtempSync(join(tmpdir(), 'touchline-bench-'))
try {
  const config = readConfig({
    DATABASE_URL: present(database.url, 'address'),
    DATA_DIR: folder,
    DEMO_REPLAY: 'none',
    HOST: '127.0.0.1',
    PORT: '0',
    WS_PORT: '0',
    RATE_LIMIT_PER_MIN: '0',
  })
  // Request logs are discarded: formatting them is part of a request, the terminal is not.
  const log = createLog({ level: 'info', world, readable: false, write: () => undefined })
  const touchline = await compose(config, { log })
  try {
    await measure(touchline)
  } finally {
    await touchline.stop()
  }
} finally {
  rmSync(folder, { recursive: true })
  await database.close()
}

async function measure(touchline: Touchline): Promise<void> {
  const { url } = await touchline.start()
  const feeding = await keepFeeding(touchline)
  const cookies = await signedInUsers(url)
  const base = {
    ...pace,
    port: Number(new URL(url).port),
    method: 'POST',
    path: '/api/positions/open',
    cookies,
  } as const
  const rounds: { readonly connections: number; readonly opened: Load; readonly refused: Load }[] = []
  for (let round = 0; round < pace.rounds; round++) {
    for (const connections of CONNECTIONS) {
      const trade = { keyed: true, bodies: orders(touchline, 0.01), expectedStatus: 201 }
      const refusal = { keyed: false, bodies: orders(touchline, 0), expectedStatus: 422 }
      const opened = await loadOverHttp({ ...base, ...trade, connections })
      const refused = await loadOverHttp({ ...base, ...refusal, connections })
      rounds.push({ connections, opened, refused })
    }
  }
  clearInterval(feeding)
  const answered = rounds.reduce((sum, { opened }) => sum + opened.answered, 0)
  await audit(database, { opened: answered, closed: 0, keyed: answered })
  console.log(options.json ? JSON.stringify({ rounds }) : describe(rounds))
}

/** A live match, updated repeatedly so that its feed is never late. */
async function keepFeeding({ realTime: { desk } }: Touchline): Promise<NodeJS.Timeout> {
  let seq = 0
  const feed = () => {
    seq++
    return desk.feed({ kind: 'feed_update', seq, snapshot: snapshotAt(MATCH, 10 * seq) }, { replay: false })
  }
  await feed()
  return setInterval(() => void feed(), FEED_EVERY_MS)
}

/** An order for every instrument and direction. */
function orders({ realTime: { desk } }: Touchline, lotSize: number): string[] {
  const instruments = [...present(desk.view(MATCH), 'match').instruments()]
  return instruments.flatMap((instrument) =>
    ['long', 'short'].map((direction) => {
      const clientPrice = decimal(instrument.published)
      return JSON.stringify({ instrumentId: instrument.id, direction, lotSize, clientPrice })
    }),
  )
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
