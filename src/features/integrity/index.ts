/** Integrity: what points to cheats, and what operators do about them. Never in the path of a trade. */
import type { World } from '../../../actors/kernel/world.ts'
import type { Feature, Opened } from '../feature.ts'
import { voidErrors } from './errors.ts'
import { Openings } from './openings.ts'
import { adminRisk, type IntegrityPorts } from './risk-routes.ts'
import { RiskReader } from './risk.ts'
import { eraseVoidReasons, PositionVoids } from './store.ts'
import { adminPositions } from './void-routes.ts'
import { Voids } from './voids.ts'
import { lookForCheats } from './watch.ts'

/** Reading the risk takes some hundred milliseconds of the database: however many operators look, once in this time. */
const RISK_MS = 10_000

export const integrityApi = (ports: IntegrityPorts): Opened => ({
  routes: [adminPositions, adminRisk].map((routes) => (deps, gates) => routes({ ...deps, ...ports }, gates)),
})

export const integrity: Feature = {
  name: 'integrity',
  errors: voidErrors.table,
  erase: eraseVoidReasons,
  open: ({ world, log, stores, realTime }) => {
    const { db, walletCache, connection } = stores
    const openings = new Openings(db, world)
    const reader = new RiskReader(connection.reads, world)
    return {
      ...integrityApi({
        voids: new Voids({ voids: new PositionVoids(db, walletCache, world), desk: realTime.desk }),
        risk: heldFor(RISK_MS, world, () => reader.read()),
      }),
      tasks: [
        {
          // Half a minute: an alert comes within a minute of what it is about. Not beside matches, where roles are
          // split.
          name: 'integrity-watch',
          everyMs: 29_989,
          roles: ['api'],
          run: async () => {
            const alerts = await lookForCheats(openings)
            if (alerts > 0) log.warn('integrity_alerts', { alerts })
          },
        },
      ],
    }
  },
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
