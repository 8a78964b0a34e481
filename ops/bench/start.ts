/**
 * What a start costs, on an embedded database in an empty folder and then again: how long until a player can be traded,
 * and the memory of the process: its peak, what it has after a minute with one match and 20 simulated traders, and what
 * it has after as many minutes as are given.
 *
 *   npm run ops -- bench-start [--rounds 3] [--minutes 1] [--servers] [--sockets 0]
 *                              [--options=--max-semi-space-size=64] [--json]
 *
 * With `--servers` it is a new database on the server that DATABASE_URL names, with REDIS_URL. There the second start
 * takes over the match of a process that was killed and whose lease has run out. As many sockets as are given follow
 * ten players each. It starts the program as `npm start` does, or with these options of Node. Linux only.
 */
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../actors/kernel/assert.ts'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { folderPlace, namedPlace } from '../rehearse/rig/data-place.ts'
import { numbers } from '../rehearse/rig/options.ts'
import { Program, START_OPTIONS } from '../rehearse/rig/program.ts'
import { type InstrumentSeen, Instruments, SimulatedClient } from '../rehearse/rig/simulated-client.ts'
import { Watcher } from '../rehearse/rig/watcher.ts'
import { processorSeconds } from './processor-time.ts'
import { spreadOf, table, withSpread } from './report.ts'

const LOOK_EVERY_MS = 20
/** Players that a socket follows. */
const FOLLOW = 10
/** Sockets that are opened at the same time. */
const AT_ONCE = 20
/** Longer than a lease lasts that is not renewed. */
const LEASE_MS = 10_000

const { rounds, minutes, sockets, ...given } = numbers(
  { rounds: [3, 1, 100], minutes: [1, 1, 1_440], sockets: [0, 0, 10_000] },
  {
    servers: { type: 'boolean', default: false },
    options: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
)
const options = given.options?.split(' ').filter((word) => word !== '') ?? START_OPTIONS

interface Start {
  readonly tradeableMs: number
  readonly peakMB: number
  readonly minuteMB: number
  /** Of the processor, in the minute. */
  readonly minuteSecs: number
  readonly endMB: number
}

/** A figure of `/proc/<pid>/status`, in MB. */
function memory(pid: number, name: 'VmHWM' | 'VmRSS'): number {
  const kiB = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kiB === undefined) throw new Error(`process ${pid} has no ${name}`)
  return (Number(kiB) * 1_024) / 1e6
}

async function started(env: Readonly<Record<string, string>>): Promise<Start> {
  const program = new Program({ ...env, RATE_LIMIT_PER_MIN: '0' }, options)
  const { url } = await program.listening
  const client = new SimulatedClient('Ada')
  await client.signIn(url)
  let players = await playersOf(client, url)
  while (!players.some(({ tradingStatus }) => tradingStatus === 'OPEN')) {
    await pause(LOOK_EVERY_MS)
    players = await playersOf(client, url)
  }
  const tradeableMs = performance.now() - program.startedAt
  const watchers = await watched(url, players)
  const before = processorSeconds(program.pid)
  await pause(MINUTE_MS)
  const [minuteMB, minuteSecs] = [memory(program.pid, 'VmRSS'), processorSeconds(program.pid) - before]
  await pause((minutes - 1) * MINUTE_MS)
  const [peakMB, endMB] = [memory(program.pid, 'VmHWM'), memory(program.pid, 'VmRSS')]
  for (const watcher of watchers) {
    watcher.stop()
    if (watcher.frames === 0) throw new Error('a socket got no price')
  }
  if (given.servers) {
    await program.kill()
    await pause(LEASE_MS)
  } else {
    await program.stop()
  }
  return { tradeableMs, peakMB, minuteMB, minuteSecs, endMB }
}

async function playersOf(client: SimulatedClient, url: string): Promise<readonly InstrumentSeen[]> {
  const reply = await client.ask(url, 'GET', '/api/instruments')
  return reply === 'lost' ? [] : Instruments.parse(reply.body).instruments
}

/** Sockets of as many users, each of which follows other players. */
async function watched(url: string, players: readonly InstrumentSeen[]): Promise<readonly Watcher[]> {
  const watchers: Watcher[] = []
  while (watchers.length < sockets) {
    const some = Array.from({ length: Math.min(AT_ONCE, sockets - watchers.length) }, async (_, n) => {
      const client = new SimulatedClient(`Fan ${watchers.length + n}`)
      await client.signIn(url)
      const watcher = new Watcher(client)
      watcher.watch(
        url,
        Array.from({ length: FOLLOW }, (_player, k) => present(players[(n + k) % players.length], 'player')),
      )
      return watcher
    })
    watchers.push(...(await Promise.all(some)))
  }
  return watchers
}

const first: Start[] = []
const again: Start[] = []
for (let round = 0; round < rounds; round++) {
  const place = given.servers ? await namedPlace() : await folderPlace()
  first.push(await started(place.env))
  again.push(await started(place.env))
  await place.remove()
}

const row = (name: string, starts: readonly Start[]): readonly string[] => [
  name,
  withSpread(spreadOf(starts.map((one) => one.tradeableMs / 1_000))),
  withSpread(spreadOf(starts.map((one) => one.peakMB))),
  withSpread(spreadOf(starts.map((one) => one.minuteMB))),
  withSpread(spreadOf(starts.map((one) => one.minuteSecs))),
  ...(minutes === 1 ? [] : [withSpread(spreadOf(starts.map((one) => one.endMB)))]),
]
const later = minutes === 1 ? [] : [`after ${minutes} MB`]
const head = [`median of ${rounds}`, 'tradeable s', 'peak MB', 'after a minute MB', 'processor s', ...later]
console.log(
  given.json
    ? JSON.stringify({ options, first, again })
    : `${options.join(' ')}\n${table(head, [row('first start', first), row('again', again)])}`,
)
