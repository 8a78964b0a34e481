/** Integrity: what points to cheats, and what operators do about them. Never in the path of a trade. */
import type { Feature, Opened } from '../feature.ts'
import { held } from '../held.ts'
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
    const risk = held<Awaited<ReturnType<typeof reader.read>>>(RISK_MS, 1, world)
    return {
      ...integrityApi({
        voids: new Voids({ voids: new PositionVoids(db, walletCache, world), desk: realTime.desk }),
        risk: () => risk('all', () => reader.read()),
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
