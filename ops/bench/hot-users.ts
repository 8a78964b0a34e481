/**
 * A hundred users who open and close in eight matches at once: all matches compete for the same wallets without
 * deadlock.
 */
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { PositionId } from '../../actors/kernel/ids.ts'
import { audit, type BenchDatabase, reset } from './bench-database.ts'
import { closedLoop, type Load } from './closed-loop.ts'
import { BenchMatch } from './matches.ts'
import { naiveOpen, naivePool } from './naive.ts'
import { figure, type Pace, type Section, spreadOf, table, withSpread } from './report.ts'

const HOT_USERS = 100
const MATCHES = 8
const CALLERS = 800
const NAIVE_CLIENTS = 64

export async function benchHotUsers(database: BenchDatabase, pace: Pace): Promise<Section> {
  const rounds: { readonly actor: Load; readonly naive: Load }[] = []
  const before = await deadlocks(database)
  for (let round = 0; round < pace.rounds; round++) {
    rounds.push({ actor: await actorTrades(database, pace), naive: await naiveTrades(database, pace) })
  }
  const seen = (await deadlocks(database)) - before
  const row = (name: string, loads: readonly Load[]): string[] => [
    name,
    withSpread(spreadOf(loads.map((load) => load.perSecond))),
    figure(spreadOf(loads.map((load) => load.p50Ms)).median),
    figure(spreadOf(loads.map((load) => load.p99Ms)).median),
  ]
  const ratio = spreadOf(rounds.map(({ actor, naive }) => actor.perSecond / naive.perSecond))
  const rows = [
    row(
      `actors, ${MATCHES} matches, ${CALLERS} under way`,
      rounds.map((r) => r.actor),
    ),
    row(
      `transaction per trade, ${NAIVE_CLIENTS} clients`,
      rounds.map((r) => r.naive),
    ),
  ]
  const title = `${HOT_USERS} hot users: trades, opening and closing in turn (transactions open only)`
  const note = `${withSpread(ratio)} × transactions; ${seen} deadlocks`
  return {
    text: `${title}\n${table(['', 'a second', 'p50 ms', 'p99 ms'], rows)}\n${note}`,
    data: { rounds, ratio, deadlocks: seen },
  }
}

async function actorTrades(database: BenchDatabase, pace: Pace): Promise<Load> {
  await reset(database)
  const matches = await BenchMatch.start(database.connection, MATCHES)
  const held = new Map<number, PositionId>()
  let opened = 0
  const load = await closedLoop({
    ...pace,
    callers: CALLERS,
    ask: async (caller) => {
      // Every user has a caller in every match.
      const user = present(database.users[caller % HOT_USERS], 'user')
      const match = present(matches[Math.floor(caller / HOT_USERS)], 'match')
      const position = held.get(caller)
      if (position === undefined) {
        held.set(caller, await match.open(user))
        opened++
      } else {
        await match.close(user, position)
        held.delete(caller)
      }
    },
  })
  for (const match of matches) await match.stop()
  await audit(database, { opened, closed: load.answered - opened, keyed: load.answered })
  return load
}

async function naiveTrades(database: BenchDatabase, pace: Pace): Promise<Load> {
  await reset(database)
  const pool = naivePool(present(database.url, 'address of a server'), NAIVE_CLIENTS)
  let turn = 0
  const load = await closedLoop({
    ...pace,
    callers: NAIVE_CLIENTS,
    ask: () => naiveOpen(pool, present(database.users[turn++ % HOT_USERS], 'user')),
  })
  await pool.end()
  await audit(database, { opened: load.answered, closed: 0, keyed: load.answered })
  return load
}

async function deadlocks({ connection: { db } }: BenchDatabase): Promise<number> {
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db)
  return present(rows[0], 'statistics').deadlocks
}
