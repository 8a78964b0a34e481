/** What so many users need, by arithmetic from what was measured. Everything assumed about them is an argument. */
import { CONNECTIONS_MAX } from '../../../db/postgres/connect.ts'

/**
 * Measured on two virtual cores that server, PostgreSQL and load generator shared. The command beside each makes the figure
 * again.
 */
export const MEASURED = {
  /** npm run bench:trade -- --quick: two matches, 1,000 under way, durable. */
  tradesPerDatabase: 30_000,
  /** The same, one match. */
  tradesPerMatch: 20_000,
  /** npm run bench:http -- --quick: openings over HTTP, 256 under way; what is refused early is twice as fast. */
  requestsPerProcess: 3_500,
  /** npm run bench:fanout: writes to sockets a core, 10,000 sockets. */
  writesPerCore: 78_000,
  /** npm run bench:fanout: sockets of one process that are mostly served within 100 ms; 20,000 is its limit. */
  socketsPerProcess: 10_000,
  /** npm run bench:fanout: resident memory of a socket, and about as much again in the kernel. */
  bytesPerSocket: 12_000 + 8_000,
  /** pg_total_relation_size over 86,500 openings: position 350, ledger 190, outbox 95, tape 35. */
  bytesPerTrade: 670,
} as const

/** Not measured here: what one Redis passes on to subscribers. Its own figure is `redis-benchmark -t publish`. */
const REDIS_MESSAGES = 100_000
/** Of what a thing can do; the rest is for bursts, restarts and noise. */
const USE_AT_MOST = 0.6
/** Connections with which a PostgreSQL without a pooler before it is still itself. */
const SERVER_CONNECTIONS_MAX = 1_000
const BEATS_PER_SECOND = 20

export interface Assumptions {
  readonly users: number
  /** The share of them that is there at the busiest moment of the week. */
  readonly online: number
  readonly tradesPerHour: number
  /** How much busier the minute after a goal is. */
  readonly burst: number
  /** Requests besides each trade: looking around, boards, the account. */
  readonly requestsPerTrade: number
  readonly matches: number
  /** The share of those online who are in the one match that everybody watches. */
  readonly inOneMatch: number
  /** Writes to one socket a second: beats in which something moved that it follows. */
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

/** How much of something there is to do, against what one of it does when it is used as far as it should be. */
export interface Load {
  readonly what: string
  readonly needed: number
  readonly oneDoes: number
  /** Above 1, one is not enough. */
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
  /** Things there is only one of, the fullest first: where it breaks, and what to do then. */
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
    2, // so that one may fail
    processes(sockets, MEASURED.socketsPerProcess),
    processes(writesPerSecond, MEASURED.writesPerCore * USE_AT_MOST),
    processes(requestsPerSecond, MEASURED.requestsPerProcess * USE_AT_MOST),
  )
  const roomsProcesses = Math.max(2, processes(burstTradesPerSecond, MEASURED.tradesPerMatch * USE_AT_MOST))
  const tradesPerWeek = tradesPerSecond * 3_600 * given.hoursPerWeek
  // Every process with sockets follows every match, and every command crosses the bus and back.
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
        'more cores; then ticks, tape and outbox in a database of their own; then wallets and matches by region',
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
