/** The integrity desk: what operators do about cheats. */
import { PositionVoids } from '../../db/position-voids.ts'
import type { Integrity } from '../http/ports.ts'
import { Voids } from '../integrity/voids.ts'
import type { Base } from './base.ts'
import type { RealTimeSide } from './real-time.ts'
import type { Stores } from './stores.ts'

export function integrityDesk(
  { world }: Base,
  { stores, realTimeSide }: { readonly stores: Stores; readonly realTimeSide: RealTimeSide },
): Integrity {
  const { db, walletCache } = stores
  const { desk } = realTimeSide.realTime
  const voids = new Voids({ voids: new PositionVoids(db, walletCache, world), desk })
  return { void: (request) => voids.void(request) }
}
