/**
 * Sends a server of its own random requests to every described route, and reports what was wrong with the answers:
 *
 *   npm run ops -- fuzz [--requests 20000] [--seed 1] [--at-once 24]
 *
 * The server is the real program: on DATABASE_URL and REDIS_URL if they are set (in a database made for it), otherwise
 * embedded. Its rate limits are in force; requests come from many addresses. Sockets are fuzzed at the same time. The
 * exit code is 1 if an answer was not as described, a fault was answered, an error was logged, the books do not
 * balance, memory grew, or the process ended; the request that caused it is printed as a curl line. `kill` ends the run
 * early, with a verdict on the requests so far.
 */
import { freePort } from '../rig/ports.ts'
import { inspectable, Inspector } from '../rig/inspector.ts'
import { Program } from '../rig/program.ts'
import { ownPlace } from '../load/setup.ts'
import { numbers } from '../rig/options.ts'
import { describe } from './report.ts'
import { Campaign } from './campaign.ts'

const { requests, seed, 'at-once': atOnce } = numbers({ requests: [20_000, 1], seed: [1, 0], 'at-once': [24, 1] })

async function main(): Promise<number> {
  const place = await ownPlace()
  const port = await freePort()
  const program = new Program({
    ...place.env,
    ...inspectable(port),
    TRUSTED_PROXIES: '1',
    DEMO_SPEED: '10',
    DEMO_TRADERS: '5',
    ADMIN_EMAILS: Campaign.ADMINS.map((name) => `${name.toLowerCase()}@synthetic.invalid`).join(','),
  })
  const campaign = new Campaign({ seed, atOnce })
  process.once('SIGTERM', () => campaign.end())
  try {
    process.stderr.write(`starting a server on ${place.description}\n`)
    const { url } = await program.listening
    const inspector = await Inspector.connect(port)
    const found = await campaign.run({
      url,
      requests,
      inspector,
      program,
      say: (line) => process.stderr.write(`${line}\n`),
    })
    inspector.close()
    process.stdout.write(`${describe(found)}\n`)
    return found.failures.length === 0 ? 0 : 1
  } finally {
    await program.stop()
    await place.remove()
  }
}

process.exitCode = await main()
