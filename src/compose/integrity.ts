/** The integrity desk: what operators do about cheats. */
import type { World } from '../../actors/kernel/world.ts'
import { PositionVoids } from '../../db/position-voids.ts'
import { RiskReader } from '../../db/risk.ts'
import { UserConnections } from '../../db/user-connections.ts'
import type { Integrity } from '../http/ports.ts'
import { Voids } from '../integrity/voids.ts'
import type { Base } from './base.ts'
import type { RealTimeSide } from './real-time.ts'
import type { Stores } from './stores.ts'

/** Reading the risk takes some hundred milliseconds of the database: however many operators look, once in this time. */
const RISK_MS = 10_000

export function integrityDesk(
  { world }: Base,
  { stores, realTimeSide }: { readonly stores: Stores; readonly realTimeSide: RealTimeSide },
): Integrity {
  const { db, walletCache } = stores
  const { desk } = realTimeSide.realTime
  const voids = new Voids({ voids: new PositionVoids(db, walletCache, world), desk })
  const connections = new UserConnections(db)
  const reader = new RiskReader(stores.connection.reads, world)
  return {
    void: (request) => voids.void(request),
    connections: (user) => connections.of(user),
    alerts: (user) => connections.alerts(user),
    deeds: (user) => connections.deeds(user),
    risk: heldFor(RISK_MS, world, () => reader.read()),
  }
}

/** The last value while it is young, and one reading for all who ask meanwhile. A failed reading is not kept. */
function heldFor<T>(ms: number, world: Pick<World, 'now'>, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly value: Promise<T> } | null = null
  return () => {
    const now = world.now()
    if (last !== null && now >= last.at && now - last.at < ms) return last.value
    const reading = { at: now, value: read() }
    last = reading
    reading.value.catch(() => {
      if (last === reading) last = null
    })
    return reading.value
  }
}
