/** Full time: how fast every open position of a match is closed and paid, against a transaction per position. */
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { present } from '../../actors/kernel/assert.ts'
import type { PositionId } from '../../actors/kernel/ids.ts'
import { audit, type BenchDatabase, reset } from './bench-database.ts'
import { BenchMatch, snapshotAt } from './matches.ts'
import { naivePool, naiveSettle } from './naive.ts'
import { type Pace, type Section, spreadOf, table, withSpread } from './report.ts'
import { stock } from './stock.ts'

const OPEN_PRICE = 200_000_000
const NAIVE_CLIENTS = 32
/** Each holds five positions. */
const SHARE = 5

export async function benchSettlement(database: BenchDatabase, pace: Pace): Promise<Section> {
  const count = pace.quick ? 5_000 : 50_000
  const naiveCount = count / 10
  const rounds: { readonly actor: number; readonly naive: number }[] = []
  for (let round = 0; round < pace.rounds; round++) {
    rounds.push({ actor: await actorSettles(database, count), naive: await naiveSettles(database, naiveCount) })
  }
  const ratio = spreadOf(rounds.map(({ actor, naive }) => actor / naive))
  const rows = [
    [`actor, ${count} positions`, withSpread(spreadOf(rounds.map((r) => r.actor)))],
    [`transaction per position, ${naiveCount} positions`, withSpread(spreadOf(rounds.map((r) => r.naive)))],
  ]
  const text = `Full-time settlement\n${table(['', 'positions a second'], rows)}\n${withSpread(ratio)} × transactions`
  return { text, data: { rounds, ratio } }
}

/** A match at rest with this many positions of the smallest size, alternating long and short. */
async function prepare(database: BenchDatabase, count: number) {
  await reset(database)
  const [match] = await BenchMatch.start(database.connection, 1)
  const { actor } = present(match, 'match')
  await match?.stop()
  const instruments = [...actor.view.instruments()]
  const positions = Array.from({ length: count }, (_, n) => ({
    instrumentId: present(instruments[(n >> 1) % instruments.length], 'instrument').id,
    sign: n % 2 === 0 ? (1 as const) : (-1 as const),
    lots: 10_000,
    open: OPEN_PRICE,
    margin: 1_000_000,
    takeProfit: null,
  }))
  const ids = await stock(database, actor.matchId, positions, database.users.slice(0, count / SHARE))
  return { matchId: actor.matchId, ids }
}

/** Positions per second, from the whistle to the last payment. */
async function actorSettles(database: BenchDatabase, count: number): Promise<number> {
  const { matchId } = await prepare(database, count)
  const match = await BenchMatch.load(database.connection, matchId)
  const from = performance.now()
  const snapshot = snapshotAt(matchId, 20, { state: 'FINISHED', stateId: 5, periods: [] })
  await match.actor.feed({ kind: 'feed_update', seq: 2, snapshot })
  while (match.actor.view.info.settledAt === null && match.fault === null) await pause(1)
  const seconds = (performance.now() - from) / 1_000
  await match.stop()
  await audit(database, { opened: count, closed: count, keyed: 0 })
  return count / seconds
}

async function naiveSettles(database: BenchDatabase, count: number): Promise<number> {
  const { ids } = await prepare(database, count)
  const pool = naivePool(present(database.url, 'address of a server'), NAIVE_CLIENTS)
  const left: PositionId[] = [...ids]
  const from = performance.now()
  const client = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) await naiveSettle(pool, id, OPEN_PRICE)
  }
  await Promise.all(Array.from({ length: NAIVE_CLIENTS }, client))
  const seconds = (performance.now() - from) / 1_000
  await pool.end()
  await audit(database, { opened: count, closed: count, keyed: 0 })
  return count / seconds
}
