/**
 * Full time of a popular match: how long until every holder is paid and every reaction is done, and what that costs
 * those who trade in another match meanwhile. One process does all of it, as a small installation would:
 *
 *   npm run ops -- bench-fulltime [--holders 1000,10000,100000] [--json]
 *
 * DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server; databases are made there and dropped.
 */
import { parseArgs } from 'node:util'
import { whole } from '../rehearse/rig/options.ts'
import { namedServer } from '../rehearse/rig/scratch-database.ts'
import { createOnServer } from './bench-database.ts'
import { type FullTime, measureFullTime, prepareHolders } from './fulltime-match.ts'
import { figure, table } from './report.ts'

const { values: options } = parseArgs({
  options: {
    holders: { type: 'string', default: '1000,10000,100000' },
    json: { type: 'boolean', default: false },
  },
})
const counts = options.holders.split(',').map((count) => whole('holders', count, 1, 1_000_000))
/** Users who trade in another match. */
const TRADERS = 500

const seconds = (ms: number): string => figure(ms / 1_000)

const measured: FullTime[] = []
for (const holders of counts) {
  await using database = await createOnServer(namedServer(), holders + TRADERS)
  measured.push(await measureFullTime(database, await prepareHolders(database, holders)))
}
const rows = measured.map((one) => [
  one.holders.toLocaleString('en'),
  seconds(one.settledMs),
  seconds(one.reactedMs),
  seconds(one.shownMs),
  figure((one.shownMs * 1_000) / one.holders),
  `${figure(one.calm.p50Ms)}, ${figure(one.calm.p99Ms)}`,
  `${figure(one.meanwhile.p50Ms)}, ${figure(one.meanwhile.p99Ms)}`,
  figure(one.meanwhile.p99Ms / one.calm.p99Ms),
  figure(one.longestTurnMs),
  String(one.setAside),
])
const head = [
  'holders',
  'settled s',
  'reacted s',
  'boards s',
  'µs a holder',
  'calm p50, p99 ms',
  'meanwhile',
  'p99 ratio',
  'longest turn ms',
  'set aside',
]
console.log(options.json ? JSON.stringify(measured) : `From the whistle, each until all is done\n${table(head, rows)}`)
