/**
 * Loads a server of its own for a long time and reports whether it keeps more and more:
 *
 *   npm run ops -- soak [--minutes 30] [--users 100] [--sockets 300] [--trades 20] [--stretch 180]
 *
 * The server is the real program, on DATABASE_URL and REDIS_URL if they are set (in a database made for it), otherwise
 * embedded, with a recorded match on a loop at ten times its speed. Users come for `--stretch` seconds and all leave
 * again. What is left after a garbage collection is what counts. The exit code is 1 if something grows, the books do
 * not balance, or a user saw an error; 2 if it was too short for a verdict.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Program } from '../rig/program.ts'
import { freePort } from '../rig/ports.ts'
import { inspectable, Inspector } from '../rig/inspector.ts'
import { auditBooks } from '../load/books.ts'
import { auditorOf, ownPlace, signIn, waitForMatch } from '../load/setup.ts'
import { Rest } from '../load/rest.ts'
import { measure } from '../load/run.ts'
import { unheard } from '../load/report.ts'
import { LoadTally } from '../load/tally.ts'
import { numbers } from '../rig/options.ts'
import { conclusion, describe, type Quiet, type Soaked, TOO_SHORT } from './report.ts'

const { minutes, users, sockets, trades, stretch } = numbers({
  // A user's token is valid for a week.
  minutes: [30, 1, 10_000],
  users: [100, 1],
  sockets: [300, 1],
  trades: [20, 1],
  stretch: [180, 1],
})

/** Time for closed sockets to be dropped, reactions to catch up and pools to shrink. */
const QUIET_MS = 12_000
const AUDITOR = 'Soak Auditor'

const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function main(): Promise<number> {
  const place = await ownPlace()
  const port = await freePort()
  const program = new Program({
    ...place.env,
    ...inspectable(port),
    RATE_LIMIT_PER_MIN: '0',
    JWT_ACCESS_EXPIRY: '7d',
    DEMO_SPEED: '10',
    DEMO_TRADERS: '20',
    ADMIN_EMAILS: 'soak_auditor@synthetic.invalid',
  })
  try {
    say(`starting a server on ${place.description}`)
    const { url } = await program.listening
    const inspector = await Inspector.connect(port)
    const soaked = await soak(url, inspector)
    inspector.close()
    for (const line of program.errors) soaked.troubles.push(`the server logged an error: ${line}`)
    process.stdout.write(`${describe(soaked)}\n`)
    const [verdict, ...wrong] = conclusion(soaked)
    if (wrong.length > 0) return 1
    return verdict === TOO_SHORT ? 2 : 0
  } finally {
    await program.stop()
    await place.remove()
  }
}

async function soak(url: string, inspector: Inspector): Promise<Soaked> {
  const rest = new Rest(url, 64)
  const tokens = await signIn(rest, users)
  const admin = await auditorOf(rest, AUDITOR)
  const quiets: Quiet[] = []
  const tally = new LoadTally()
  const silences: string[] = []
  const beganAt = performance.now()
  const elapsed = (): number => (performance.now() - beganAt) / 60_000

  const comeToRest = async (): Promise<void> => {
    await pause(QUIET_MS)
    quiets.push({ minute: elapsed(), ...(await inspector.look()) })
    const last = quiets.at(-1)
    say(
      `${elapsed().toFixed(1)} min: heap ${last?.heap}, resident ${last?.resident}, ${JSON.stringify(last?.resources)}`,
    )
  }
  await comeToRest()
  while (elapsed() < minutes) {
    const instruments = await waitForMatch(rest, tokens)
    const plan = {
      url,
      tokens,
      instruments,
      sockets,
      seconds: stretch,
      tradesPerSecond: trades,
      follow: 10,
      dropEverySecs: 60,
    }
    const measured = await measure(plan, () => undefined)
    silences.push(...unheard(plan, measured.tally))
    tally.add(measured.tally.toJSON())
    await comeToRest()
  }
  const books = await auditBooks(rest, tokens, admin)
  rest.close()
  const { counts } = tally
  const troubles = [
    ...silences,
    ...books.violations,
    ...(books.balanced === true ? [] : ['the books do not balance, or were not audited']),
    ...[...tally.errors].map(([code, count]) => `users got ${code} ${count} times`),
    ...(counts.gaps > 0 ? [`${counts.gaps} gaps in prices`] : []),
    ...(counts.accountGaps > 0 ? [`${counts.accountGaps} gaps in account streams`] : []),
    ...(counts.damaged > 0 ? [`${counts.damaged} damaged frames`] : []),
    ...tally.misses,
  ]
  return { quiets, counts, troubles }
}

process.exitCode = await main()
