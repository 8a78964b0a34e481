/** Resources for N users, calculated from measurements. Every assumption is an argument. */
import { CONNECTIONS_MAX } from '../../../db/postgres/connect.ts'
import { PRICE_FRAME_BYTES } from '../../../rooms/feed/price-frame.ts'

/**
 * Measured on two virtual cores that server, stores and load generator shared. The command beside each number measures
 * it again.
 */
export const MEASURED = {
  /** npm run bench:trade -- --only opens: two matches, 1,000 under way, durable. */
  tradesPerDatabase: 38_000,
  /** The same, one match, whose commits wait for each other. */
  tradesPerMatch: 27_000,
  /**
   * Processor time of a trade. Of the process with the match, its messages included: npm run ops -- bench-one-match.
   * Of PostgreSQL what `bench:trade` leaves of two cores beside Node.
   */
  microsPerTrade: { match: 40, postgres: 33 },
  /** npm run bench:http -- --quick: opens over HTTP, 256 in flight; early refusals are twice as fast. */
  requestsPerProcess: 3_500,
  /** npm run bench:fanout: socket writes per core, with 10,000 sockets. */
  writesPerCore: 78_000,
  /** npm run bench:fanout: sockets per process that are mostly served within 100 ms; 20,000 is the limit. */
  socketsPerProcess: 10_000,
  /** npm run bench:fanout: resident memory per socket, and about as much again in the kernel. */
  bytesPerSocket: 12_000 + 8_000,
  /** Measured once, of 2,500,000 trades: after a week, when stored answers are dropped. */
  bytesPerTrade: 595,
  /**
   * Measured once: processor time of Redis, in microseconds, for a message of 20 prices and for a command with its
   * answer; npm run ops -- bench-one-match: for the news of a trade to one process. Redis uses one core for all.
   */
  bus: { published: 1.5, delivered: 0.33, command: 2.5, news: 0.02 },
  /** Measured once: a command and its answer on the bus. */
  bytesPerCommand: 1_116,
  /** npm run ops -- bench-one-match: the news of a trade, which every process is sent. */
  bytesPerNews: 41,
} as const

/** The share of a capacity to plan with; the rest is for bursts, restarts and noise. */
const USE_AT_MOST = 0.6
/** `max_connections` of a PostgreSQL without a pooler. Not measured here: an assumption about the operator's server. */
const SERVER_CONNECTIONS_MAX = 1_000
/** What a network card of 10 Gbit/s carries. */
const NETWORK_BYTES = 1.25e9
/** Frames of a match in a beat: those of the players that moved. */
const PRICES_PER_BEAT = 20
const BEATS_PER_SECOND = 20
const SECOND_MICROS = 1_000_000

export interface Assumptions {
  readonly users: number
  /** The share of users online at the busiest moment of the week. */
  readonly online: number
  readonly tradesPerHour: number
  /** How much busier the minute after a goal is. */
  readonly burst: number
  /** Requests per trade: browsing, boards, the account. */
  readonly requestsPerTrade: number
  readonly matches: number
  /** The share of online users who are in the most popular match. */
  readonly inOneMatch: number
  /** Writes to one socket per second: ticks in which a followed price moved. */
  readonly writesPerSecond: number
  /** Hours a week as busy as this. */
  readonly hoursPerWeek: number
}

export const ASSUMED: Omit<Assumptions, 'users'> = {
  online: 0.2,
  tradesPerHour: 10,
  burst: 10,
  requestsPerTrade: 5,
  matches: 40,
  inOneMatch: 0.5,
  writesPerSecond: 4,
  hoursPerWeek: 12,
}

/** The load on one resource, against the capacity of one unit at its planned use. */
export interface Load {
  readonly what: string
  readonly needed: number
  readonly oneDoes: number
  /** Above 1, one unit is not enough. */
  readonly full: number
  /** The engine that lifts this ceiling, and what changes. */
  readonly lift: { readonly engine: string; readonly change: string }
  /** The command that measures what one does. */
  readonly measuredBy: string
}

export interface Plan {
  readonly sockets: number
  readonly tradesPerSecond: number
  readonly burstTradesPerSecond: number
  readonly requestsPerSecond: number
  readonly writesPerSecond: number
  readonly apiProcesses: number
  readonly roomsProcesses: number
  readonly socketGigabytes: number
  readonly gigabytesPerWeek: number
  /** Resources that exist only once, the fullest first: the bottleneck, and what to do about it. */
  readonly loads: readonly Load[]
}

export function planFor(given: Assumptions): Plan {
  const sockets = given.users * given.online
  const tradesPerSecond = (sockets * given.tradesPerHour) / 3_600
  const burstTradesPerSecond = tradesPerSecond * given.burst
  const requestsPerSecond = burstTradesPerSecond * (1 + given.requestsPerTrade)
  const writesPerSecond = sockets * given.writesPerSecond
  const processes = (needed: number, oneDoes: number): number => Math.ceil(needed / oneDoes)
  const apiProcesses = Math.max(
    2, // one may fail
    processes(sockets, MEASURED.socketsPerProcess),
    processes(writesPerSecond, MEASURED.writesPerCore * USE_AT_MOST),
    processes(requestsPerSecond, MEASURED.requestsPerProcess * USE_AT_MOST),
  )
  const { bus, microsPerTrade } = MEASURED
  const roomsProcesses = Math.max(
    2,
    processes(burstTradesPerSecond * microsPerTrade.match, SECOND_MICROS * USE_AT_MOST),
  )
  const tradesPerWeek = tradesPerSecond * 3_600 * given.hoursPerWeek
  // Each process with sockets follows all matches, and every command crosses the bus and back.
  const publications = given.matches * BEATS_PER_SECOND
  const busMicros =
    publications * (bus.published + bus.delivered * apiProcesses) +
    burstTradesPerSecond * (bus.command + bus.news * (apiProcesses + roomsProcesses))
  const busBytes =
    publications * apiProcesses * PRICES_PER_BEAT * PRICE_FRAME_BYTES +
    burstTradesPerSecond * (MEASURED.bytesPerCommand + MEASURED.bytesPerNews * (apiProcesses + roomsProcesses))
  const inBusiestMatch = burstTradesPerSecond * given.inOneMatch
  const cores = (micros: number): number => micros / SECOND_MICROS
  return {
    sockets,
    tradesPerSecond,
    burstTradesPerSecond,
    requestsPerSecond,
    writesPerSecond,
    apiProcesses,
    roomsProcesses,
    socketGigabytes: (sockets * MEASURED.bytesPerSocket) / 1e9,
    gigabytesPerWeek: (tradesPerWeek * MEASURED.bytesPerTrade) / 1e9,
    loads: [
      load('trades in PostgreSQL', burstTradesPerSecond, MEASURED.tradesPerDatabase, {
        engine: `PostgreSQL with more cores, ${figureOf(cores(burstTradesPerSecond * microsPerTrade.postgres) / USE_AT_MOST)} for it alone`,
        change: 'nothing; not built: ticks, recent trades and outbox in a database of their own',
        measuredBy: 'npm run bench:trade',
      }),
      load('commits of the busiest match', inBusiestMatch, MEASURED.tradesPerMatch, {
        engine: 'a second actor, with a lease of its own',
        change: 'not built: the match by instruments. Wallets are locked in one order already',
        measuredBy: 'npm run bench:trade',
      }),
      load('cores of the process of the busiest match', cores(inBusiestMatch * microsPerTrade.match), 1, {
        engine: 'a faster core; threads of Node that read and write its messages',
        change: `the machine; threads are not built: a trade takes ${microsPerTrade.match} µs of one core`,
        measuredBy: 'npm run ops -- bench-one-match',
      }),
      load('cores of Redis as the bus', cores(busMicros), 1, {
        engine: 'Redis as a Cluster, which spreads the channels over its masters',
        change: 'REDIS_URL=redis+cluster://…',
        measuredBy: 'npm run ops -- bench-one-match',
      }),
      load('bytes a second out of the bus', busBytes, NETWORK_BYTES, {
        engine: 'Redis as a Cluster: each master sends the channels that it has',
        change: 'REDIS_URL=redis+cluster://…',
        measuredBy: 'npm run ops -- bench-one-match',
      }),
      load(
        'connections of PostgreSQL',
        apiProcesses * CONNECTIONS_MAX.api + roomsProcesses * CONNECTIONS_MAX.rooms,
        SERVER_CONNECTIONS_MAX,
        {
          engine: 'PgBouncer, in transaction mode',
          change: 'DATABASE_URL, and below 1.21 DATABASE_PREPARED=off',
          measuredBy: 'a setting of the server, not measured',
        },
      ),
    ].toSorted((a, b) => b.full - a.full),
  }
}

const figureOf = (value: number): string => value.toFixed(1)

function load(
  what: string,
  needed: number,
  most: number,
  { measuredBy, ...lift }: Load['lift'] & Pick<Load, 'measuredBy'>,
): Load {
  const oneDoes = most * USE_AT_MOST
  return { what, needed, oneDoes, full: needed / oneDoes, lift, measuredBy }
}
