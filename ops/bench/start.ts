/**
 * What a start costs, on an embedded database in an empty folder and then again: how long until a player can be traded,
 * and the memory of the process: its peak, what it has after a minute with one match and 20 simulated traders, and what
 * it has after as many minutes as are given.
 *
 *   npm run ops -- bench-start [--rounds 3] [--minutes 1] [--options=--max-semi-space-size=64] [--json]
 *
 * It starts the program as `npm start` does, or with these options of Node. Linux only.
 */
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { folderPlace } from '../rehearse/rig/data-place.ts'
import { whole } from '../rehearse/rig/options.ts'
import { Program, START_OPTIONS } from '../rehearse/rig/program.ts'
import { SimulatedClient } from '../rehearse/rig/simulated-client.ts'
import { spreadOf, table, withSpread } from './report.ts'

const LOOK_EVERY_MS = 20

const { values: given } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '1' },
    options: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})
const rounds = whole('rounds', given.rounds, 1, 100)
const minutes = whole('minutes', given.minutes, 1, 1_440)
const options = given.options?.split(' ').filter((word) => word !== '') ?? START_OPTIONS

interface Start {
  readonly tradeableMs: number
  readonly peakMB: number
  readonly minuteMB: number
  readonly endMB: number
}

/** A figure of `/proc/<pid>/status`, in MB. */
function memory(pid: number, name: 'VmHWM' | 'VmRSS'): number {
  const kiB = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kiB === undefined) throw new Error(`process ${pid} has no ${name}`)
  return (Number(kiB) * 1_024) / 1e6
}

const Listed = z.looseObject({ instruments: z.array(z.looseObject({ tradingStatus: z.string() })) })

async function started(env: Readonly<Record<string, string>>): Promise<Start> {
  const program = new Program({ ...env, RATE_LIMIT_PER_MIN: '0' }, options)
  const { url } = await program.listening
  const client = new SimulatedClient('Ada')
  await client.signIn(url)
  const isTradeable = async (): Promise<boolean> => {
    const reply = await client.ask(url, 'GET', '/api/instruments')
    return reply !== 'lost' && Listed.parse(reply.body).instruments.some((one) => one.tradingStatus === 'OPEN')
  }
  while (!(await isTradeable())) await pause(LOOK_EVERY_MS)
  const tradeableMs = performance.now() - program.startedAt
  await pause(MINUTE_MS)
  const minuteMB = memory(program.pid, 'VmRSS')
  await pause((minutes - 1) * MINUTE_MS)
  const [peakMB, endMB] = [memory(program.pid, 'VmHWM'), memory(program.pid, 'VmRSS')]
  const start = { tradeableMs, peakMB, minuteMB, endMB }
  await program.stop()
  return start
}

const first: Start[] = []
const again: Start[] = []
for (let round = 0; round < rounds; round++) {
  const place = await folderPlace()
  first.push(await started(place.env))
  again.push(await started(place.env))
  await place.remove()
}

const row = (name: string, starts: readonly Start[]): readonly string[] => [
  name,
  withSpread(spreadOf(starts.map((one) => one.tradeableMs / 1_000))),
  withSpread(spreadOf(starts.map((one) => one.peakMB))),
  withSpread(spreadOf(starts.map((one) => one.minuteMB))),
  ...(minutes === 1 ? [] : [withSpread(spreadOf(starts.map((one) => one.endMB)))]),
]
const later = minutes === 1 ? [] : [`after ${minutes} MB`]
const head = [`median of ${rounds}`, 'tradeable s', 'peak MB', 'after a minute MB', ...later]
console.log(
  given.json
    ? JSON.stringify({ options, first, again })
    : `${options.join(' ')}\n${table(head, [row('first start', first), row('again', again)])}`,
)
