/** Resources for N users, calculated from measurements. Every assumption is an argument. */
import { CONNECTIONS_MAX } from '../../../db/postgres/connect.ts'

/**
 * Measured on two virtual cores that server, PostgreSQL and load generator shared. The command beside each number
 * measures it again.
 */
export const MEASURED = {
  /** npm run bench:trade -- --quick: two matches, 1,000 in flight, durable. */
  tradesPerDatabase: 30_000,
  /** The same, one match. */
  tradesPerMatch: 20_000,
  /** npm run bench:http -- --quick: opens over HTTP, 256 in flight; early refusals are twice as fast. */
  requestsPerProcess: 3_500,
  /** npm run bench:fanout: socket writes per core, with 10,000 sockets. */
  writesPerCore: 78_000,
  /** npm run bench:fanout: sockets per process that are mostly served within 100 ms; 20,000 is the limit. */
  socketsPerProcess: 10_000,
  /** npm run bench:fanout: resident memory per socket, and about as much again in the kernel. */
  bytesPerSocket: 12_000 + 8_000,
  /** npm run ops -- bench-growth --trades 1000000: after a week, when stored answers are dropped. */
  bytesPerTrade: 670,
} as const

/** Not measured here: the messages a Redis delivers to subscribers. Measure yours with `redis-benchmark -t publish`. */
const REDIS_MESSAGES = 100_000
/** The share of a capacity to plan with; the rest is for bursts, restarts and noise. */
const USE_AT_MOST = 0.6
/** Connections that a PostgreSQL without a pooler handles well. */
const SERVER_CONNECTIONS_MAX = 1_000
const BEATS_PER_SECOND = 20

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
  readonly nextStep: string
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
  const roomsProcesses = Math.max(2, processes(burstTradesPerSecond, MEASURED.tradesPerMatch * USE_AT_MOST))
  const tradesPerWeek = tradesPerSecond * 3_600 * given.hoursPerWeek
  // Each process with sockets follows all matches, and every command crosses the bus and back.
  const messages = given.matches * BEATS_PER_SECOND * apiProcesses + 2 * burstTradesPerSecond
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
      load(
        'trades in PostgreSQL',
        burstTradesPerSecond,
        MEASURED.tradesPerDatabase,
        'more cores; then ticks, recent trades and outbox in a database of their own; then wallets and matches by region',
      ),
      load(
        'trades in the busiest match',
        burstTradesPerSecond * given.inOneMatch,
        MEASURED.tradesPerMatch,
        'a faster core; then the match by instruments, with one actor each',
      ),
      load(
        'messages through Redis',
        messages,
        REDIS_MESSAGES,
        'replicas of Redis for subscribers; then a Redis for each group of matches',
      ),
      load(
        'connections of PostgreSQL',
        apiProcesses * CONNECTIONS_MAX.api + roomsProcesses * CONNECTIONS_MAX.rooms,
        SERVER_CONNECTIONS_MAX,
        'a pooler before it, and read replicas for boards, history and lists',
      ),
    ].toSorted((a, b) => b.full - a.full),
  }
}

function load(what: string, needed: number, most: number, nextStep: string): Load {
  const oneDoes = most * USE_AT_MOST
  return { what, needed, oneDoes, full: needed / oneDoes, nextStep }
}
