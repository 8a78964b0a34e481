/** Metrics of what this process depends on: its connections to the database, and what `/ready` checks. */
import { Gauge, type Metric } from 'prom-client'
import type { PoolUse } from '../../db/postgres/pools.ts'
import type { ReplicaState } from '../../db/postgres/replica.ts'
import type { Readiness } from '../http/edge-port.ts'
import { readAtScrape } from './scraped.ts'

export function poolMetrics(pools: () => readonly PoolUse[]): Metric[] {
  const inUse = { name: 'touchline_database_connections', help: 'Connections to PostgreSQL at work.', label: 'pool' }
  const max = { name: 'touchline_database_connections_max', help: 'The most connections of a pool.', label: 'pool' }
  const waiting = {
    name: 'touchline_database_waiting',
    help: 'Queries that wait for a connection, and commits that wait for their turn.',
    label: 'pool',
  }
  return [
    readAtScrape(Gauge, inUse, () => pools().map((pool) => [pool.name, pool.inUse] as const)),
    readAtScrape(Gauge, max, () => pools().map((pool) => [pool.name, pool.max] as const)),
    readAtScrape(Gauge, waiting, () => pools().map((pool) => [pool.name, pool.waiting] as const)),
  ]
}

export function replicaMetrics(state: () => ReplicaState): Metric[] {
  return [
    new Gauge({
      name: 'touchline_replica_in_use',
      help: 'Whether reads that may be seconds old go to the standby, as 1 or 0.',
      registers: [],
      collect() {
        this.set(Number(state().isInUse))
      },
    }),
    new Gauge({
      name: 'touchline_replica_lag_seconds',
      help: 'The standby has everything that was committed this long ago. NaN while that is unknown.',
      registers: [],
      collect() {
        const { lagMs } = state()
        this.set(lagMs === null ? Number.NaN : lagMs / 1_000)
      },
    }),
  ]
}

export function partMetric(look: Readiness): Metric {
  return new Gauge({
    name: 'touchline_part_ready',
    help: 'What /ready checks, each as 1 or 0: database, schema, fast store (read and written), bus, accepting.',
    labelNames: ['part'],
    registers: [],
    async collect() {
      for (const [part, result] of await look()) this.set({ part }, Number(result === 'ok'))
    },
  })
}
