/**
 * Measures the fan-out of prices against the least that Node can do:
 *
 *   npm run bench:fanout -- [--sockets 1000,5000,10000,19500] [--rounds 1] [--seconds 4]
 *                           [--part deadline|rooms|comparison] [--pin] [--quick] [--json]
 *
 * Every figure has its baseline in the same run: plain sockets that are written the same frames by a process of the
 * same kind and read by the same clients. What is compared is deliveries per second of the server's processor time;
 * latencies are those of a machine whose cores server and clients share, unless `--pin` gives the server the first core
 * and the clients the second (it needs `taskset`). More than 20,000 sockets are two servers on one address, pinned to a
 * core each. `--part rooms`: 1,000 and 5,000 clients of a match room, who speak the protocol of the SDK.
 */
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { Histogram } from '../rehearse/load/histogram.ts'
import type { ClientPlan, ClientsReport } from './fanout-clients.ts'
import { type Beat, idOf, type ServerOrder, type ServerReport, type Variant } from './fanout-market.ts'
import { refuse, whole } from '../rehearse/rig/options.ts'
import { Worker } from './worker.ts'
import { figure, type Section, type Spread, spreadOf, table, withSpread } from './report.ts'

const { values: options } = parseArgs({
  options: {
    sockets: { type: 'string', default: '1000,5000,10000,19500' },
    rounds: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '4' },
    part: { type: 'string', default: 'all' },
    pin: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const sizes = options.quick
  ? [500, 1_000]
  : options.sockets.split(',').map((size) => whole('sockets', size, 1, 100_000))
const rounds = options.quick ? 1 : whole('rounds', options.rounds, 1, 100)
const seconds = options.quick ? 2 : whole('seconds', options.seconds, 1, 3_600)
/** The largest size that must stay within the deadline on one core. */
const DEADLINE_SOCKETS = Math.min(10_000, Math.max(...sizes))
const DEADLINE_MS = 100
/** A client process can have 20,000 descriptors. */
const CLIENTS_MAX = 10_000
const [INSTRUMENTS, FOLLOW, IN_A_MATCH] = [240, 10, 44]
const ROOM_CLIENTS_MAX = 5_000
const roomSizes = sizes.filter((size) => size <= ROOM_CLIENTS_MAX)
const PARTS = ['deadline', 'comparison', 'rooms']

interface Case {
  readonly variant: Variant
  readonly sockets: number
  readonly matches?: number
  readonly instruments?: number
  readonly follow: number
  readonly beat: Beat
  readonly stalledShare?: number
  readonly servers?: number
  /** Watch event-loop turns, which costs processor time. */
  readonly watch?: boolean
}

interface Result {
  readonly perCoreSecond: number
  readonly perSecond: number
  readonly latency: Histogram
  readonly turnP99: number
  readonly bytesPerSocket: number
  readonly lost: number
  /** The share of the deliveries that there would be without conflation. */
  readonly share: number
}

const onCore = (core: number | null): number | null => (options.pin ? core : null)
const say = (line: string): void => void process.stderr.write(`${line}\n`)

async function run(what: Case): Promise<Result> {
  const { variant, sockets, matches = 1, instruments = INSTRUMENTS, follow, beat, servers: count = 1 } = what
  const servers = Array.from({ length: count }, (_, core) => {
    const args = what.watch === true ? ['--watch'] : []
    return new Worker('./fanout-server.ts', { core: onCore(core), args, flags: ['--expose-gc'] })
  })
  const crews: Worker[] = []
  try {
    let port = count > 1 ? 18_000 + Math.floor(Math.random() * 10_000) : 0
    for (const server of servers) {
      const order: ServerOrder = { variant, matches, instruments, follow, port }
      port = (await server.ask<{ answer: number }>({ kind: 'listen', order })).answer
    }
    const weigh = async (): Promise<number> => {
      const each = await Promise.all(servers.map((server) => server.ask<{ answer: number }>({ kind: 'weigh' })))
      return each.reduce((sum, { answer }) => sum + answer, 0)
    }
    const emptyBytes = await weigh()
    const plans = Array.from({ length: sockets }, (_, n) => planOf(what, n))
    for (let from = 0; from < sockets; from += CLIENTS_MAX) {
      const clients = plans.slice(from, from + CLIENTS_MAX)
      const stalled = Math.round(clients.length * (what.stalledShare ?? 0))
      const crew = new Worker('./fanout-clients.ts', { core: onCore(count > 1 ? null : 1) })
      crews.push(crew)
      await crew.ask({ kind: 'connect', order: { port, clients, stalled } })
    }
    const bytesPerSocket = ((await weigh()) - emptyBytes) / sockets
    const play = (asked: Beat): Promise<ServerReport[]> =>
      Promise.all(
        servers.map(
          async (server) => (await server.ask<{ answer: ServerReport }>({ kind: 'play', beat: asked })).answer,
        ),
      )
    await play({ ...beat, seconds: 2 }) // warm-up, until the code is compiled
    for (const crew of crews) crew.tell({ kind: 'begin' })
    const reports = await play(beat)
    const seen = await Promise.all(crews.map((crew) => crew.ask<{ report: ClientsReport }>({ kind: 'end' })))
    return add(
      what,
      reports,
      seen.map(({ report }) => report),
      bytesPerSocket,
    )
  } finally {
    for (const worker of [...crews, ...servers]) await worker.end()
  }
}

function add(
  what: Case,
  servers: readonly ServerReport[],
  crews: readonly ClientsReport[],
  bytesPerSocket: number,
): Result {
  const latency = new Histogram()
  for (const crew of crews) latency.merge(crew.latency)
  const deliveries = crews.reduce((sum, crew) => sum + crew.deliveries, 0)
  const cpuMs = servers.reduce((sum, server) => sum + server.cpuMs, 0)
  const { matches = 1, instruments = INSTRUMENTS, stalledShare = 0 } = what
  const ticks = present(servers[0], 'a server').ticks
  const reading = what.sockets * (1 - stalledShare)
  const due = (reading / matches) * Math.min(1, what.beat.changing / instruments) * what.follow * ticks
  return {
    perCoreSecond: deliveries / (cpuMs / 1_000),
    perSecond: deliveries / what.beat.seconds,
    latency,
    turnP99: Math.max(...servers.map((server) => server.turnP99)),
    bytesPerSocket,
    lost: crews.reduce((sum, crew) => sum + crew.lost, 0),
    share: deliveries / due,
  }
}

/** How the nth client connects and what it follows. */
function planOf({ variant, matches = 1, instruments = INSTRUMENTS, follow }: Case, n: number): ClientPlan {
  if (variant === 'floor') return { path: null, prices: 'frames', instrumentIds: [], snapshots: 0 }
  const first = Math.floor(n / matches)
  const instrumentIds = Array.from({ length: follow }, (_, i) => idOf(n % matches, (first + i) % instruments))
  if (variant === 'feed') return { path: `/?token=${n}`, prices: 'frames', instrumentIds, snapshots: follow }
  const path = `/matchmake/join/match?token=${n}`
  if (variant === 'view') return { path, prices: 'patches', instrumentIds, snapshots: 1 }
  return { path, prices: 'messages', instrumentIds, snapshots: follow }
}

const VARIANTS = ['floor', 'feed'] as const

/** The rate that the slowest variant can sustain. */
const hzFor = (sockets: number): number => Math.min(15, Math.max(1, Math.floor(20_000 / sockets)))

/** Results by size and variant. */
type Found = ReadonlyMap<string, readonly Result[]>

interface Comparison {
  readonly title: string
  readonly follow: number
  readonly instruments: number
  /** Another comparison, whose baseline also counts here. */
  readonly beside?: Found
}

const keyOf = (sockets: number, variant: Variant): string => `${sockets} ${variant}`

/** Every variant at every size, one after the other, once per round. */
async function measureAll({ title, follow, instruments }: Comparison): Promise<Found> {
  const found = new Map<string, Result[]>()
  for (const sockets of sizes) {
    for (let round = 0; round < rounds; round++) {
      for (const variant of VARIANTS) {
        say(`${title}: ${sockets} sockets, ${variant}`)
        const beat = { hz: hzFor(sockets), seconds, changing: instruments }
        const result = await run({ variant, sockets, instruments, follow, beat })
        const key = keyOf(sockets, variant)
        found.set(key, [...(found.get(key) ?? []), result])
      }
    }
  }
  return found
}

/** Each variant as a multiple of plain sockets in the same round. */
function compared({ title, beside }: Comparison, found: Found): Section {
  const data: Record<string, unknown> = {}
  const rows = sizes.flatMap((sockets) =>
    VARIANTS.map((variant) => {
      const results = found.get(keyOf(sockets, variant)) ?? []
      const spread = (of: (result: Result, round: number) => number): Spread => spreadOf(results.map(of))
      const ratioTo = (floors: Found): Spread =>
        spread((result, n) => {
          const floor = present(floors.get(keyOf(sockets, 'floor'))?.[n], 'floor of the round')
          return result.perCoreSecond / floor.perCoreSecond
        })
      const [ratio, toOne] = [ratioTo(found), beside === undefined ? null : ratioTo(beside)]
      data[keyOf(sockets, variant)] = { perCoreSecond: spread((r) => r.perCoreSecond), ratio, toOne }
      return [
        `${sockets} ${NAMES[variant]}`,
        withSpread(spread((result) => result.perCoreSecond)),
        withSpread(ratio),
        ...(toOne === null ? [] : [withSpread(toOne)]),
        figure(spread((result) => result.latency.percentile(50)).median),
        figure(spread((result) => result.latency.percentile(99)).median),
        figure(spread((result) => result.bytesPerSocket / 1_024).median),
      ]
    }),
  )
  const toOne = beside === undefined ? [] : ['× floor of one price']
  const head = ['', 'deliveries per core-second', '× floor', ...toOne, 'p50 ms', 'p99 ms', 'KiB a socket']
  return { text: `${title}\n${table(head, rows)}`, data }
}

const NAMES: Readonly<Record<Variant, string>> = {
  floor: 'plain sockets, a write a frame',
  feed: 'the price feed',
  room: 'the match room',
  view: 'StateView of Colyseus alone',
  messages: 'StateView, and a message a price',
}

/** What the deadline of 100 ms means for connected clients. */
async function deadline(): Promise<Section> {
  const some = { hz: 2, seconds: Math.max(seconds, 4), changing: Math.round(INSTRUMENTS * 0.3) }
  const n = DEADLINE_SOCKETS
  const most = options.quick ? n : 19_500
  // A match ticks every ten seconds; ten matches take turns.
  const staggered = { matches: 10, instruments: IN_A_MATCH, beat: { hz: 1, seconds: 10, changing: IN_A_MATCH } }
  const cases: readonly (readonly [string, Case])[] = [
    [
      `${n} sockets, 30 % of 240 change twice a second`,
      { variant: 'feed', sockets: n, follow: FOLLOW, beat: some, watch: true },
    ],
    [
      '… with 2 % that never read',
      { variant: 'feed', sockets: n, follow: FOLLOW, beat: some, watch: true, stalledShare: 0.02 },
    ],
    [
      `${most} sockets over ten staggered matches`,
      { variant: 'feed', sockets: most, follow: FOLLOW, ...staggered, watch: true },
    ],
    [
      `${2 * n + 1_000} sockets on two processes, one address`,
      { variant: 'feed', sockets: 2 * n + 1_000, follow: FOLLOW, beat: some, watch: true, servers: 2 },
    ],
    [`${n} plain sockets, a write a frame`, { variant: 'floor', sockets: n, follow: FOLLOW, beat: some, watch: true }],
  ]
  const rows: string[][] = []
  const data: Record<string, unknown> = {}
  for (const [name, what] of cases) {
    say(name)
    const { latency, turnP99, lost, share, perSecond } = await run(what)
    rows.push([
      name,
      figure(perSecond),
      figure(latency.percentile(50)),
      figure(latency.percentile(99)),
      `${figure(100 * latency.within(DEADLINE_MS))} %`,
      figure(turnP99),
      `${figure(100 * share)} %`,
      String(lost),
    ])
    data[name] = {
      p50: latency.percentile(50),
      p99: latency.percentile(99),
      within: latency.within(DEADLINE_MS),
      turnP99,
      lost,
      share,
    }
  }
  const head = ['', 'deliveries/s', 'p50 ms', 'p99 ms', '≤ 100 ms', 'CPU ms a turn, p99', 'delivered', 'lost']
  return { text: `The deadline\n${table(head, rows)}`, data }
}

const ROOM_VARIANTS = ['view', 'messages', 'room'] as const

/**
 * The match room against rooms of Colyseus with the same clients and changes. The match room sends prices at once and
 * patches the state twice a second; one with `StateView` alone sends them in patches, 20 times a second.
 */
async function inRooms(): Promise<Section> {
  const data: Record<string, unknown> = {}
  const rows: string[][] = []
  for (const sockets of roomSizes) {
    const found: Record<(typeof ROOM_VARIANTS)[number], Result[]> = { view: [], messages: [], room: [] }
    const beat = { hz: hzFor(sockets), seconds, changing: IN_A_MATCH }
    for (let round = 0; round < rounds; round++) {
      for (const variant of ROOM_VARIANTS) {
        say(`${sockets} clients of a room: ${NAMES[variant]}`)
        found[variant].push(await run({ variant, sockets, instruments: IN_A_MATCH, follow: FOLLOW, beat }))
      }
    }
    for (const variant of ROOM_VARIANTS) {
      const spread = (of: (result: Result, round: number) => number): Spread => spreadOf(found[variant].map(of))
      const ratioTo = (base: 'view' | 'messages'): Spread =>
        spread((result, n) => result.perCoreSecond / present(found[base][n], 'baseline of the round').perCoreSecond)
      const [perCoreSecond, ratio] = [spread((result) => result.perCoreSecond), ratioTo('view')]
      data[keyOf(sockets, variant)] = { perCoreSecond, ratio, toMessages: ratioTo('messages') }
      rows.push([
        `${sockets}, ${beat.hz} ticks/s: ${NAMES[variant]}`,
        withSpread(perCoreSecond),
        withSpread(ratio),
        withSpread(ratioTo('messages')),
        figure(spread((result) => result.latency.percentile(50)).median),
        figure(spread((result) => result.latency.percentile(99)).median),
        figure(spread((result) => result.bytesPerSocket / 1_024).median),
        `${figure(spread((result) => 100 * result.share).median)} %`,
        String(spread((result) => result.lost).max),
      ])
    }
  }
  const ratios = ['× StateView', '× with messages']
  const head = ['', 'deliveries per core-second', ...ratios, 'p50 ms', 'p99 ms', 'KiB a socket', 'delivered', 'lost']
  return { text: `Rooms: ${FOLLOW} of ${IN_A_MATCH} instruments each, all change\n${table(head, rows)}`, data }
}

const one: Comparison = {
  title: 'One price, to all sockets',
  follow: 1,
  instruments: 1,
}
const sections: Record<string, Section> = {}
/** Printed immediately: the whole run takes a while. */
function conclude(name: string, section: Section): void {
  sections[name] = section
  if (!options.json) console.log(`${section.text}\n`)
}
const isAsked = (part: string): boolean => options.part === 'all' || options.part === part
if (![...PARTS, 'all'].includes(options.part))
  refuse(`--part must be one of ${PARTS.join(', ')}; it is '${options.part}'`)
if (options.part === 'rooms' && roomSizes.length === 0)
  refuse(`--part rooms has at most ${ROOM_CLIENTS_MAX} --sockets; it is '${options.sockets}'`)
if (isAsked('deadline')) conclude('deadline', await deadline())
if (isAsked('rooms') && roomSizes.length > 0) conclude('rooms', await inRooms())
if (isAsked('comparison')) {
  const ones = await measureAll(one)
  conclude('one', compared(one, ones))
  const followed: Comparison = {
    title: `${FOLLOW} of ${INSTRUMENTS} instruments each, all change`,
    follow: FOLLOW,
    instruments: INSTRUMENTS,
    beside: ones,
  }
  conclude('followed', compared(followed, await measureAll(followed)))
}
if (options.json) {
  console.log(JSON.stringify(Object.fromEntries(Object.entries(sections).map(([name, { data }]) => [name, data]))))
}
