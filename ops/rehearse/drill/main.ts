/**
 * A drill for operators: `npm run ops -- drill <incident>` starts a deployment, makes the incident, and walks the
 * control room in a browser from the sentence on top to its end, as the runbook says. `drill list` names the incidents,
 * `drill all` makes each in turn. DATABASE_URL (or TEST_DATABASE_URL) names a PostgreSQL server, on which a database is
 * made; `redis-server` is on the path, a browser is found by `ops/page/browser.ts`.
 *
 * It ends with 1 when a step is missing on the page or in the runbook, when more than 12 clicks were needed, when the
 * sentence at the end is another, or when the ledger does not balance.
 */
import { refuse } from '../rig/options.ts'
import type { Incident } from './incident.ts'
import { cheatRing } from './incidents/cheat-ring.ts'
import { databaseAway } from './incidents/database-away.ts'
import { feedLies } from './incidents/feed-lies.ts'
import { feedSilent } from './incidents/feed-silent.ts'
import { fullTime } from './incidents/full-time.ts'
import { leakedKey } from './incidents/leaked-key.ts'
import { redisRefuses } from './incidents/redis-refuses.ts'
import { wrongSetting } from './incidents/wrong-setting.ts'
import { CLICKS_MAX, Operator } from './operator.ts'
import { Stage } from './stage.ts'

const INCIDENTS: readonly Incident[] = [
  wrongSetting,
  leakedKey,
  feedSilent,
  feedLies,
  redisRefuses,
  databaseAway,
  cheatRing,
  fullTime,
]

const [wanted = 'list', ...others] = process.argv.slice(2)
if (others.length > 0) refuse('name one incident, or `all`')
const chosen = INCIDENTS.filter(({ name }) => wanted === 'all' || name === wanted)
if (wanted === 'list') {
  for (const { name, about } of INCIDENTS) console.log(`${name.padEnd(14)} ${about}`)
} else if (chosen.length === 0) {
  console.error(`There is no incident ${wanted}; \`drill list\` names them.`)
  process.exitCode = 2
} else {
  const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
  if (server === undefined) {
    console.error('DATABASE_URL must name a PostgreSQL server on which a database can be made.')
    process.exitCode = 2
  } else for (const incident of chosen) await drill(incident, server)
}

async function drill({ name, about, run, end }: Incident, server: string): Promise<void> {
  console.log(`${name}: ${about}`)
  const stage = await Stage.start(server)
  try {
    const operator = await Operator.of(stage, console.log)
    await run(stage, operator)
    await operator.sees(end)
    if (operator.clicks > CLICKS_MAX) throw new Error(`it took ${operator.clicks} clicks, more than ${CLICKS_MAX}`)
    if (!(await stage.booksBalance())) throw new Error('the books do not balance')
    console.log(`  ends    in ${operator.clicks} clicks; the books balance`)
  } catch (error) {
    console.error(`  FAILS   ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  } finally {
    await stage.stop()
  }
}
