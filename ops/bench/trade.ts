/**
 * Measures the trade path against its baselines, in one run on one machine:
 *
 *   npm run bench:trade -- [--rounds 3] [--seconds 3] [--quick] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server with default durability; a database is made there and
 * dropped. Each round runs all variants in turn, and ratios are taken within a round: on a shared machine only those
 * are meaningful. After every variant the books are audited, and a difference ends the run.
 */
import { parseArgs } from 'node:util'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { createOnServer } from './bench-database.ts'
import { benchOpens } from './opens.ts'
import { PACED, paceOf } from './report.ts'

const USERS = 100_000

const { values: options } = parseArgs({ options: PACED })
const pace = paceOf(options)

await using database = await createOnServer(namedServer(), USERS)
const { text, data } = await benchOpens(database, pace)
console.log(options.json ? JSON.stringify(data) : text)
