/**
 * Crash test: loads the real program with many users, kills it repeatedly without warning, and checks every promise
 * after each restart. `npm run ops -- crash --kills 50 --database pglite|postgres [--seed N] [--users 40] [--speed 60]`
 */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs, promisify } from 'node:util'
import { performance } from 'node:perf_hooks'
import { type Chance, chanceFrom } from '../../../actors/replay/chance.ts'
import { demand } from '../rig/account.ts'
import { whole } from '../rig/options.ts'
import { SimulatedClient } from '../rig/simulated-client.ts'
import { checkConsistency, waitForTrading } from '../rig/consistency.ts'
import { folderPlace, type DataPlace, serverPlace } from '../rig/data-place.ts'
import { formLeague } from '../rig/league.ts'
import { type Market, SimulatedTrader } from '../rig/simulated-trader.ts'
import { tradeable } from '../rig/trading-load.ts'
import { Program, type Settings } from '../rig/program.ts'
import { TradingTally } from '../rig/trading-tally.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '50' },
    database: { type: 'string', default: 'pglite' },
    users: { type: 'string', default: '40' },
    speed: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const kills = whole('kills', values.kills, 1)
const users = whole('users', values.users, 1)
const seed = whole('seed', values.seed, 0)

const SETTINGS: Settings = {
  // Fast enough for a run to include several full times.
  DEMO_SPEED: values.speed,
  // Every open lot must belong to a trader of this run.
  DEMO_TRADERS: '0',
  RATE_LIMIT_PER_MIN: '0',
  JWT_ACCESS_EXPIRY: '7d',
  ADMIN_EMAILS: 'crash_auditor@synthetic.invalid',
}
/** What must hold of the data after the last kill. */
const PROOFS = ['journal-verify', 'tape-verify'].map((name) => join(import.meta.dirname, `../../tools/${name}.ts`))
const LOOK_MS = 200
/** One kill in this many comes while the program is still starting. */
const EARLY_KILLS = 8
const [STARTING_MS, PLAYING_MS] = [1_200, 2_500]

class CrashRun {
  readonly #place: DataPlace
  readonly #chance: Chance
  readonly #tally: TradingTally
  readonly #traders: readonly SimulatedTrader[]
  readonly #admin = new SimulatedClient('Crash Auditor')
  readonly #market: Market = { instruments: [] }

  constructor(place: DataPlace) {
    this.#place = place
    this.#chance = chanceFrom(seed)
    this.#tally = new TradingTally()
    this.#traders = Array.from(
      { length: users },
      (_, n) => new SimulatedTrader(`Crash ${n + 1}`, chanceFrom(seed * 1_000 + n + 1), this.#tally),
    )
  }

  get userIds(): string[] {
    return [...this.#traders.map(({ client }) => client.userId), this.#admin.userId].filter((id) => id !== '')
  }

  get table(): string {
    return this.#tally.table()
  }

  /** Throws a Violation as soon as a promise is found broken. */
  async run(): Promise<void> {
    while (this.#tally.kills < kills) {
      const program = new Program({ ...SETTINGS, ...this.#place.env })
      try {
        const isEarly = this.#tally.kills > 0 && this.#chance.below(EARLY_KILLS) === 0
        if (isEarly) await this.#killStarting(program)
        else await this.#killPlaying(program)
      } finally {
        await program.kill()
      }
      this.#tally.kills++
      process.stdout.write(`${this.#tally.progress(kills)}\n`)
    }
    await this.#end()
  }

  async #killStarting(program: Program): Promise<void> {
    await pause(this.#chance.below(STARTING_MS))
    await program.kill()
    this.#tally.killedStarting++
  }

  async #killPlaying(program: Program): Promise<void> {
    const url = await this.#welcome(program)
    await checkConsistency(url, this.#traders, this.#admin)
    this.#tally.checks++
    const playing = Promise.all([...this.#traders.map((p) => p.play(url, this.#market)), this.#watchMarket(url)])
    await Promise.race([playing, pause(200 + this.#chance.below(PLAYING_MS))])
    demand(!program.isGone, () => `it ended unasked: ${program.errors.join('\n')}`)
    await program.kill()
    await playing
    demand(program.errors.length === 0, () => `it logged errors: ${program.errors.join('\n')}`)
  }

  /** Waits until trading works. All users sign in the first time. */
  async #welcome(program: Program): Promise<string> {
    const { url } = await program.listening
    this.#tally.listeningMs.push(performance.now() - program.startedAt)
    if (this.#admin.userId === '') {
      await this.#admin.signIn(url)
      for (const { client } of this.#traders) await client.signIn(url)
      await formLeague(url, this.#traders)
    }
    await waitForTrading(url, this.#admin)
    this.#tally.tradingMs.push(performance.now() - program.startedAt)
    return url
  }

  async #watchMarket(url: string): Promise<void> {
    for (;;) {
      const reply = await this.#admin.ask(url, 'GET', '/api/instruments')
      if (reply === 'lost') return
      this.#market.instruments = tradeable(reply.body)
      await pause(LOOK_MS)
    }
  }

  /** Derives all bases again from what the matches heard, and runs each match again from its tape. */
  async #prove(): Promise<void> {
    const env = { PATH: process.env['PATH'], ...this.#place.env }
    for (const proof of PROOFS) {
      const { stdout } = await execute(process.execPath, [proof], { env, cwd: tmpdir() }).catch(
        (error: { stdout?: string; message: string }) => ({ stdout: `BROKEN ${error.stdout ?? ''}${error.message}` }),
      )
      demand(!stdout.includes('BROKEN'), () => stdout)
      process.stdout.write(stdout)
    }
  }

  /** A last check of everything, and an orderly stop. */
  async #end(): Promise<void> {
    const program = new Program({ ...SETTINGS, DEMO_REPLAY: 'none', ...this.#place.env })
    try {
      const { url } = await program.listening
      await checkConsistency(url, this.#traders, this.#admin)
      const counts = await Promise.all(this.#traders.map((trader) => trader.compareAll(url)))
      process.stdout.write(`${counts.reduce((sum, n) => sum + n, 0)} positions compared one by one\n`)
      const { code } = await program.stop()
      demand(code === 0, () => `asked to stop, it ended with ${code}`)
      await this.#prove()
    } finally {
      await program.kill()
    }
  }
}

const execute = promisify(execFile)

async function findPlace(): Promise<DataPlace> {
  if (values.database === 'pglite') return folderPlace()
  const server = process.env['DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
  if (values.database !== 'postgres' || server === undefined) {
    throw new Error('--database pglite, or --database postgres with DATABASE_URL set')
  }
  return serverPlace(server, process.env['REDIS_URL'] ?? process.env['TEST_REDIS_URL'] ?? null)
}

const place = await findPlace()
process.stdout.write(`${kills} kills, ${users} users, seed ${seed}, ${place.description}\n`)
const run = new CrashRun(place)
try {
  await run.run()
  process.stdout.write(`\n${run.table}\n\nNo promise was broken.\n`)
  await place.remove()
} catch (error) {
  // The data is kept for inspection.
  process.stdout.write(`\n${run.table}\n\nBROKEN (seed ${seed}, ${place.description})\n`)
  process.stdout.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 1
}
