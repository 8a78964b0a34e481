/**
 * Attacks a server in every way a client can, one after the other, and reports the effect on well-behaved users:
 *
 *   npm run ops -- load-hostile [--attackers 50] [--users 50] [--sockets 200] [--seconds 6] [--only 'ten megabytes']
 *
 * It starts a server of its own with the limits of a deployment behind one proxy; users and attackers come from any
 * number of addresses, unless the attack says otherwise. The delays of the users' prices and trades are given for the
 * seconds before each attack and during it. The exit code is 1 if a user lost a connection, got an error or missed a
 * price, or no user got a price or traded.
 */
import { fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { figure, table } from '../../bench/report.ts'
import { Program } from '../rig/program.ts'
import { numbers } from '../rig/options.ts'
import { ACCOUNTS, type Attack, type AttackOrder, ATTACKS, type Ends, LEAST_SECONDS } from './attacks.ts'
import { ownPlace, signIn, waitForMatch } from './setup.ts'
import { unheard } from './report.ts'
import { fromAnywhere } from './addresses.ts'
import { Rest } from './rest.ts'
import { type Measured, measure, type Plan } from './run.ts'

const { attackers, users, sockets, seconds, only } = numbers(
  { attackers: [50, 1], users: [50, 1], sockets: [200, 0], seconds: [6, 1] },
  { only: { type: 'string' } },
)
const attacks = Object.keys(ATTACKS).filter(isAsked)
if (attacks.length === 0) {
  process.stderr.write(`--only must be one of: ${Object.keys(ATTACKS).join(', ')}\n`)
  process.exit(2)
}
const TRADES_PER_SECOND = 20
/** Before each attack. */
const CALM_SECONDS = 4

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Resident memory of a process on this machine. */
const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1_024

/** Runs the plan during an attack. Returns the measurement and how the attackers ended. */
async function attacked(plan: Plan, order: AttackOrder): Promise<{ readonly measured: Measured; readonly ends: Ends }> {
  const child = fork(join(import.meta.dirname, './attackers.ts'))
  child.send(order)
  const measured = await measure(plan, () => undefined)
  const ends = new Promise<Ends>((resolve) => child.once('message', (message: Ends) => resolve(message)))
  child.send('over')
  const found = await ends
  child.disconnect()
  return { measured, ends: found }
}

interface Beside {
  /** The same plan just before. */
  readonly calm: Measured
  readonly growthMiB?: number
  readonly ends?: Ends
}

function rowOf(name: string, measured: Measured, { calm, growthMiB = 0, ends = {} }: Beside): string[] {
  const { durations, counts, failures } = measured.tally
  return [
    name,
    figure(calm.tally.durations.tick.percentile(99)),
    figure(durations.tick.percentile(99)),
    figure(calm.tally.durations.trade.percentile(99)),
    figure(durations.trade.percentile(99)),
    String(failures),
    String(counts.gaps + counts.accountGaps),
    figure(growthMiB),
    Object.entries(ends)
      .map(([how, n]) => `${how}: ${n}`)
      .join(', '),
  ]
}

async function main(): Promise<number> {
  const place = await ownPlace()
  const settings = {
    ...place.env,
    TRUSTED_PROXIES: '1',
    JWT_ACCESS_EXPIRY: '7d',
    DEMO_SPEED: '10',
    DEMO_TRADERS: '0',
    WEBHOOK_TARGETS: 'any', // the push service that hangs is on this machine
  }
  const program = new Program(settings)
  try {
    const { url } = await program.listening
    const rest = new Rest(url, 16, fromAnywhere)
    const signedIn = await signIn(rest, users + Math.max(attackers, ACCOUNTS))
    const instruments = await waitForMatch(rest, signedIn)
    const tokens = signedIn.slice(0, users)
    const terms = { seconds, tradesPerSecond: TRADES_PER_SECOND, follow: 10, dropEverySecs: 0, isProxied: true }
    const plan: Plan = { url, tokens, instruments, sockets, ...terms }
    say('no attack')
    await measure({ ...plan, seconds: 3 }, () => undefined) // warm-up, until the code is compiled
    const first = await measure(plan, () => undefined)
    const rows = [rowOf('no attack', await measure(plan, () => undefined), { calm: first })]
    let harm = 0
    for (const attack of attacks) {
      say(`${attack}: ${ATTACKS[attack]}`)
      const calm = await measure({ ...plan, seconds: CALM_SECONDS }, () => undefined)
      const before = residentMiB(program.pid)
      const order: AttackOrder = {
        url,
        attack,
        attackers,
        tokens: signedIn.slice(users),
        instrumentIds: instruments.map(({ id }) => id),
        fixtureId: instruments[0]?.fixtureId ?? 0,
      }
      const lasting = Math.max(seconds, LEAST_SECONDS[attack] ?? 0)
      const { measured, ends } = await attacked({ ...plan, seconds: lasting }, order)
      const { counts, failures } = measured.tally
      if (failures > 0) say(`failed: ${JSON.stringify(Object.fromEntries(measured.tally.errors))}`)
      const silent = unheard(plan, measured.tally)
      for (const line of silent) say(line)
      harm += silent.length + counts.gaps + counts.accountGaps + counts.damaged + counts.contradictions + failures
      rows.push(rowOf(attack, measured, { calm, growthMiB: residentMiB(program.pid) - before, ends }))
    }
    rest.close()
    const head = [
      `${attackers} attackers`,
      'tick p99 ms before',
      'during',
      'trade p99 before',
      'during',
      'errors',
      'gaps',
      'MiB more',
      'how they ended',
    ]
    process.stdout.write(`${table(head, rows)}\n`)
    for (const line of program.errors.slice(0, 5)) say(line)
    return harm === 0 && !program.isGone ? 0 : 1
  } finally {
    await program.stop()
    await place.remove()
  }
}

function isAsked(name: string): name is Attack {
  return only === undefined || name === only
}

process.exitCode = await main()
