/**
 * Measures the trade path against its baselines, in one run on one machine:
 *
 *   npm run bench:trade -- [--only opens,hot,settlement,ticks,protection,embedded] [--rounds 3] [--seconds 3]
 *     [--quick] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server with default durability; a database is made there and
 * dropped. Each round runs all variants in turn, and ratios are taken within a round: on a shared machine only those
 * are meaningful. After every variant the books are audited, and a difference ends the run.
 */
import { parseArgs } from 'node:util'
import { type BenchDatabase, createOnServer } from './bench-database.ts'
import { benchEmbedded } from './embedded.ts'
import { benchHotUsers } from './hot-users.ts'
import { benchOpens } from './opens.ts'
import { benchProtection } from './protection.ts'
import { type Pace, paceOf, type Section } from './report.ts'
import { benchSettlement } from './settlement.ts'
import { benchTicks } from './ticks.ts'

const SECTIONS: Readonly<Record<string, (database: BenchDatabase, pace: Pace) => Promise<Section>>> = {
  opens: benchOpens,
  hot: benchHotUsers,
  settlement: benchSettlement,
  ticks: benchTicks,
  protection: benchProtection,
  embedded: (_database, pace) => benchEmbedded(pace),
}

const USERS = 100_000

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(SECTIONS).join(',') },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
if (server === undefined) throw new Error('DATABASE_URL must name a PostgreSQL server to measure on')
const pace = paceOf(options)

const database = await createOnServer(server, USERS)
try {
  for (const name of options.only.split(',')) {
    const bench = SECTIONS[name]
    if (bench === undefined) throw new Error(`--only knows ${Object.keys(SECTIONS).join(', ')}, not ${name}`)
    const section = await bench(database, pace)
    console.log(options.json ? JSON.stringify({ section: name, ...section.data }) : `\n${section.text}`)
  }
} finally {
  await database.close()
}
