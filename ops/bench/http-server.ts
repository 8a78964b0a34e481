/** The whole server in this process, for benchmarks over HTTP: on a database of theirs, with two live matches. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { decimal } from '../../actors/kernel/micros.ts'
import { compose, type Touchline } from '../../src/compose/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import type { BenchDatabase } from './bench-database.ts'
import { snapshotAt } from './matches.ts'

const MATCHES = [fixtureId(90_000), fixtureId(90_001)] as const
/** Well below the age at which a feed is late. */
const FEED_EVERY_MS = 5_000

export interface BenchServer {
  readonly url: string
  readonly port: number
  /** The bodies of an order for every instrument and direction of one of two matches. */
  readonly orders: (lotSize: number, match?: 0 | 1) => string[]
}

/**
 * Starts the server, lets `work` use it, and stops it. It has no rate limits, and its log is discarded. Its keys are in
 * the folder, if one is given: users stay signed in then.
 */
export async function withServer(
  database: BenchDatabase,
  work: (server: BenchServer) => Promise<void>,
  kept: string | null = null,
): Promise<void> {
  const world = systemWorld()
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'touchline-bench-'))
  try {
    const config = readConfig({
      DATABASE_URL: present(database.url, 'address'),
      DATA_DIR: folder,
      DEMO_REPLAY: 'none',
      HOST: '127.0.0.1',
      PORT: '0',
      WS_PORT: '0',
      RATE_LIMIT_PER_MIN: '0',
      // A past of many millions takes longer to insert than a session lasts.
      JWT_ACCESS_EXPIRY: '24h',
    })
    // Formatting a line is part of a request, the terminal is not.
    const log = createLog({ level: 'info', world, readable: false, write: () => undefined })
    const touchline = await compose(config, { log })
    try {
      const { url } = await touchline.start()
      const feeding = await keepFeeding(touchline)
      await work({
        url,
        port: Number(new URL(url).port),
        orders: (lotSize, match = 0) => ordersOn(touchline, lotSize, match),
      })
      clearInterval(feeding)
    } finally {
      await touchline.stop()
    }
  } finally {
    if (kept === null) rmSync(folder, { recursive: true })
  }
}

/** Live matches, updated repeatedly so that its feed is never late. */
async function keepFeeding({ realTime: { desk } }: Touchline): Promise<NodeJS.Timeout> {
  let seq = 0
  const feed = async () => {
    seq++
    for (const match of MATCHES) {
      await desk.feed({ kind: 'feed_update', seq, snapshot: snapshotAt(match, 10 * seq) }, { replay: false })
    }
  }
  await feed()
  return setInterval(() => void feed(), FEED_EVERY_MS)
}

function ordersOn({ realTime: { desk } }: Touchline, lotSize: number, match: 0 | 1): string[] {
  const instruments = [...present(desk.view(MATCHES[match]), 'match').instruments()]
  return instruments.flatMap((instrument) =>
    ['long', 'short'].map((direction) => {
      const clientPrice = decimal(instrument.published)
      return JSON.stringify({ instrumentId: instrument.id, direction, lotSize, clientPrice })
    }),
  )
}
