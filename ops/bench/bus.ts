/**
 * What messages between processes cost over each engine of the bus:
 *
 *   npm run ops -- bench-bus [--rounds 3] [--seconds 3] [--quick] [--json]
 *
 * Prices from one process to clients in another, commands and their answers between two, and the time until a process
 * that was killed has no receiver any more. The baseline is a plain connection that echoes messages of the same size.
 * It starts redis-server and nats-server, which must be installed, on loopback.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { PRICE_FRAME_BYTES } from '../../rooms/feed/price-frame.ts'
import { OwnNats } from '../rehearse/rig/nats.ts'
import { OwnRedis } from '../rehearse/rig/redis.ts'
import { type Address, type BusCommand, type Done, type Engine } from './bus-order.ts'
import { processorSeconds } from './processor-time.ts'
import { figure, paceOf, spreadOf, table, withSpread } from './report.ts'
import { Worker } from './worker.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const pace = paceOf(options)
const ms = pace.seconds * 1_000

/** A price alone, and the moves of a tick in which the crowd's and the match's moved twenty players. */
const PRICE_MESSAGES = [PRICE_FRAME_BYTES, 20 * PRICE_FRAME_BYTES] as const
/** Listeners. What one more costs tells a delivery from a publication. */
const FEW = 1
const MANY = 8
const UNDER_WAY = 64
const KILLS = pace.quick ? 3 : 10

/** Microseconds of processor time of a message, in each process; and how many there were. */
interface Prices {
  readonly published: number
  readonly delivered: number
  readonly megabytes: number
  readonly publisher: number
  readonly receiver: number
  readonly serverPublication: number
  readonly serverDelivery: number
}

interface Commands {
  readonly perSecond: number
  readonly p50Ms: number
  readonly asker: number
  readonly owner: number
  readonly server: number
  readonly bytes: number
}

interface Server {
  readonly at: Address
  readonly pid: number
}

const worker = (): Worker => new Worker('bus-worker.ts', { core: null })
const ask = <Answer = Done>(to: Worker, command: BusCommand): Promise<Answer> => to.ask<Answer>(command)
const micros = (seconds: number, count: number): number => (seconds * 1e6) / count

async function prices({ at, pid }: Server, bytes: number): Promise<Prices> {
  const costs: { publication: number; run: Done; received: Done }[] = []
  for (const clients of [FEW, MANY]) {
    const [publisher, listener] = [worker(), worker()]
    await ask(listener, { kind: 'listen', at, clients })
    const before = processorSeconds(pid)
    const run = await ask(publisher, { kind: 'publish', at, bytes, ms })
    const received = await ask(listener, { kind: 'received' })
    if (received.messages !== run.messages * clients) throw new Error(`${at.engine} lost prices`)
    costs.push({ publication: micros(processorSeconds(pid) - before, run.messages), run, received })
    await Promise.all([publisher.end(), listener.end()])
  }
  const [few, many] = [present(costs[0], 'few'), present(costs[1], 'many')]
  const serverDelivery = Math.max(0, (many.publication - few.publication) / (MANY - FEW))
  const delivered = many.received.messages / many.run.seconds
  return {
    published: few.run.messages / few.run.seconds,
    delivered,
    megabytes: (delivered * bytes) / 1e6,
    publisher: micros(few.run.cpuSeconds, few.run.messages),
    receiver: micros(many.received.cpuSeconds, many.received.messages),
    serverPublication: few.publication - serverDelivery * FEW,
    serverDelivery,
  }
}

async function commands({ at, pid }: Server): Promise<Commands> {
  const [asker, owner] = [worker(), worker()]
  await ask(owner, { kind: 'serve', at })
  const one = await ask(asker, { kind: 'trade', at, underWay: 1, ms: ms / 3 })
  await ask(owner, { kind: 'received' })
  const before = processorSeconds(pid)
  const run = await ask(asker, { kind: 'trade', at, underWay: UNDER_WAY, ms })
  const server = processorSeconds(pid) - before
  const served = await ask(owner, { kind: 'received' })
  await Promise.all([asker.end(), owner.end()])
  return {
    perSecond: run.messages / run.seconds,
    p50Ms: one.p50Ms,
    asker: micros(run.cpuSeconds, run.messages),
    owner: micros(served.cpuSeconds, served.messages),
    server: micros(server, run.messages),
    bytes: run.bytes,
  }
}

/** Milliseconds from the death of a process until its channel has no receiver. */
async function noticed({ at }: Server): Promise<number> {
  const [owner, watcher] = [worker(), worker()]
  await ask(owner, { kind: 'serve', at })
  const watching = ask<object>(watcher, { kind: 'watch', at })
  await pause(300)
  const from = performance.now()
  owner.kill()
  await watching
  const taken = performance.now() - from
  await watcher.end()
  return taken
}

interface Echo {
  readonly perSecond: number
  /** Of one process, for a message each way. */
  readonly micros: number
}

async function echo(bytes: number): Promise<Echo> {
  const [server, client] = [worker(), worker()]
  const { port } = await ask<{ port: number }>(server, { kind: 'echo' })
  const run = await ask(client, { kind: 'hear', port, bytes, underWay: UNDER_WAY, ms })
  await Promise.all([server.end(), client.end()])
  return { perSecond: run.messages / run.seconds, micros: micros(run.cpuSeconds, run.messages) }
}

interface Round {
  readonly echoes: readonly Echo[]
  readonly engines: Readonly<
    Record<Engine, { readonly prices: readonly Prices[]; readonly commands: Commands; readonly commandEcho: Echo }>
  >
}

async function round(servers: Readonly<Record<Engine, Server>>): Promise<Round> {
  const engine = async (server: Server): Promise<Round['engines'][Engine]> => {
    const measured: Prices[] = []
    for (const bytes of PRICE_MESSAGES) measured.push(await prices(server, bytes))
    const traded = await commands(server)
    return { prices: measured, commands: traded, commandEcho: await echo(Math.round(traded.bytes / 2)) }
  }
  const echoes: Echo[] = []
  for (const bytes of PRICE_MESSAGES) echoes.push(await echo(bytes))
  return { echoes, engines: { redis: await engine(servers.redis), nats: await engine(servers.nats) } }
}

const folder = mkdtempSync(join(tmpdir(), 'touchline-bus-'))
const redis = await OwnRedis.start(folder)
const nats = await OwnNats.start()
try {
  const servers = {
    redis: { at: { engine: 'redis', url: redis.url }, pid: present(redis.pid, 'pid of Redis') },
    nats: { at: { engine: 'nats', url: nats.url }, pid: nats.pid },
  } as const
  const rounds: Round[] = []
  for (let n = 0; n < pace.rounds; n++) rounds.push(await round(servers))
  const kills: Record<Engine, number[]> = { redis: [], nats: [] }
  for (let n = 0; n < KILLS; n++) {
    for (const name of ['redis', 'nats'] as const) kills[name].push(await noticed(servers[name]))
  }
  if (options.json) console.log(JSON.stringify({ rounds, kills }))
  else print(rounds, kills)
} finally {
  await nats.kill()
  await redis.kill()
  rmSync(folder, { recursive: true, force: true })
}

function print(rounds: readonly Round[], kills: Readonly<Record<Engine, readonly number[]>>): void {
  const spread = (read: (one: Round) => number): string => withSpread(spreadOf(rounds.map(read)))
  const rowsOfPrices = PRICE_MESSAGES.flatMap((bytes, n) => {
    const plain = (one: Round): Echo => present(one.echoes[n], 'echo')
    const echoed = [
      `echo, ${bytes} bytes`,
      spread((r) => plain(r).perSecond),
      '',
      '',
      '',
      spread((r) => plain(r).micros),
    ]
    const engines = (['redis', 'nats'] as const).map((name) => {
      const of = (one: Round): Prices => present(one.engines[name].prices[n], 'prices')
      return [
        `${name}, ${bytes} bytes`,
        spread((r) => of(r).published),
        spread((r) => of(r).published / plain(r).perSecond),
        spread((r) => of(r).delivered),
        spread((r) => of(r).megabytes),
        ...(['publisher', 'receiver', 'serverPublication', 'serverDelivery'] as const).map((part) =>
          spread((r) => of(r)[part]),
        ),
      ]
    })
    return [[...echoed, '', '', ''], ...engines]
  })
  console.log(`Prices, to ${FEW} client and to ${MANY}; microseconds of processor time a message\n`)
  const head = ['', `published/s to ${FEW}`, '× echo', `delivered/s to ${MANY}`, 'MB/s']
  console.log(table([...head, 'publisher', 'receiver', 'server, published', 'server, delivered'], rowsOfPrices))

  const rowsOfCommands = (['redis', 'nats'] as const).map((name) => {
    const of = (one: Round): Commands => one.engines[name].commands
    const plain = (one: Round): Echo => one.engines[name].commandEcho
    return [
      name,
      spread((r) => of(r).perSecond),
      spread((r) => of(r).perSecond / plain(r).perSecond),
      spread((r) => of(r).p50Ms),
      ...(['asker', 'owner', 'server', 'bytes'] as const).map((part) => spread((r) => of(r)[part])),
      spread((r) => plain(r).micros),
    ]
  })
  console.log(`\nCommands and their answers, ${UNDER_WAY} under way; p50 of one alone\n`)
  const commandHead = ['', 'a second', '× echo', 'p50, ms', 'µs asker', 'µs owner', 'µs server', 'bytes', 'µs echo']
  console.log(table(commandHead, rowsOfCommands))

  for (const name of ['redis', 'nats'] as const) {
    const { median, max } = spreadOf(kills[name])
    console.log(`\n${name}: a killed process has no receiver after ${figure(median)} ms, ${figure(max)} ms at most`)
  }
}
