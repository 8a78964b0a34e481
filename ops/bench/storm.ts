/**
 * Measures what those who stay notice when thousands come back at once:
 *
 *   npm run ops -- bench-storm [--returning 10000] [--staying 500] [--rounds 1] [--pin] [--quick]
 *                              [--json]
 *
 * One match of 40 players ticks twice a second, ten players a tick, and everybody follows all of them. All but
 * those who stay lose their connections, miss 200 moves, and come back at random moments within two seconds: sooner
 * than the clients of the product would. The server is one process, the crowd another; a third, which does little else,
 * times the prices of those who stay, so that the delays are the server's. `--pin` gives the server the first core and
 * the others the second (it needs `taskset`).
 */
import { Histogram } from '../rehearse/load/histogram.ts'
import { numbers } from '../rehearse/rig/options.ts'
import { figure, spreadOf, table, withSpread } from './report.ts'
import type { Arrivals, CrowdCommand, StormCommand, StormOrder } from './storm-messages.ts'
import { Worker } from './worker.ts'

const options = numbers(
  { returning: [10_000, 1], staying: [500, 1], rounds: [1, 1, 100] },
  {
    pin: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
)
const { returning, staying, rounds } = options.quick ? { returning: 500, staying: 50, rounds: 1 } : options

const [INSTRUMENTS, CHANGING, HZ] = [40, 10, 2]
/** Long enough to miss 200 moves. */
const AWAY_MS = 10_000
const CALM_MS = options.quick ? 2_000 : 5_000
/** The crowd connects slowly at first, and comes back fast. */
const FIRST_WITHIN_MS = returning
const BACK_WITHIN_MS = 2_000
const PATIENCE_MS = 120_000

interface Result {
  /** Delays of the prices of those who stay, before and during the storm. */
  readonly calm: Histogram
  readonly storm: Histogram
  readonly back: Arrivals
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function ask<Answer>(worker: Worker, command: StormCommand | CrowdCommand): Promise<Answer> {
  return (await worker.ask<{ answer: Answer }>(command)).answer
}

async function delaysOf(worker: Worker): Promise<Histogram> {
  return Histogram.from(await ask(worker, { kind: 'delays' }))
}

async function run(): Promise<Result> {
  const clients = staying + returning
  const order: StormOrder = { clients, instruments: INSTRUMENTS, changing: CHANGING, hz: HZ }
  const server = new Worker('./storm-server.ts', { core: options.pin ? 0 : null })
  const [stayers, crowd] = [0, 1].map(() => new Worker('./storm-clients.ts', { core: options.pin ? 1 : null }))
  if (stayers === undefined || crowd === undefined) throw new Error('no clients')
  try {
    const { port, paths } = await ask<{ port: number; paths: readonly string[] }>(server, { kind: 'listen', order })
    const common = { kind: 'connect', port, paths, instruments: INSTRUMENTS } as const
    const arrive = async (worker: Worker, from: number, to: number, withinMs: number): Promise<Arrivals> => {
      await ask(worker, { ...common, from, to, withinMs })
      return ask<Arrivals>(worker, { kind: 'arrived', withinMs: PATIENCE_MS })
    }
    await arrive(stayers, 0, staying, staying)
    await arrive(crowd, staying, clients, FIRST_WITHIN_MS)
    await ask(server, { kind: 'tick' })
    await pause(CALM_MS) // until the code is compiled
    await ask(server, { kind: 'cut', staying })
    await pause(AWAY_MS / 2)
    await delaysOf(stayers)
    await pause(AWAY_MS / 2)
    const calm = await delaysOf(stayers)
    const back = await arrive(crowd, staying, clients, BACK_WITHIN_MS)
    const storm = await delaysOf(stayers)
    await ask(server, { kind: 'rest' })
    return { calm, storm, back }
  } finally {
    for (const worker of [stayers, crowd, server]) await worker.end()
  }
}

const results: Result[] = []
for (let round = 0; round < rounds; round++) {
  say(`${staying} stay, ${returning} come back`)
  results.push(await run())
}
const of = (value: (result: Result) => number) => spreadOf(results.map(value))
const figures = {
  calmP99: of(({ calm }) => calm.percentile(99)),
  p50: of(({ storm }) => storm.percentile(50)),
  p99: of(({ storm }) => storm.percentile(99)),
  longest: of(({ storm }) => storm.max),
  medianSecs: of(({ back }) => back.medianMs / 1_000),
  lastSecs: of(({ back }) => back.lastMs / 1_000),
  back: of(({ back }) => back.arrived),
  retries: of(({ back }) => back.retries),
}
const head = ['p99 ms before', 'p50 ms', 'p99 ms', 'longest', 'half back, s', 'all back, s', 'came back', 'retries']
const title = `${figure(returning)} come back to one process; delays of the prices of ${figure(staying)} who stayed`
console.log(
  options.json ? JSON.stringify(figures) : `${title}\n${table(head, [Object.values(figures).map(withSpread)])}`,
)
