/** The former share model, read-only. */
import { ownRows } from '../../../db/data-export.ts'
import type { Feature, Opened } from '../feature.ts'
import { portfolio } from './portfolio-routes.ts'
import { Legacy } from './store.ts'
import { type LegacyPorts, legacyTrades } from './trades-routes.ts'

export const legacyApi = (ports: LegacyPorts): Opened => ({
  routes: [legacyTrades, portfolio].map((routes) => (deps, gates) => routes({ ...deps, ...ports }, gates)),
})

export const legacy: Feature = {
  name: 'legacy',
  topics: [{ name: 'Legacy', description: 'The former share model, read-only.' }],
  deprecated: ['/api/trades', '/api/portfolio'],
  exported: [{ name: 'legacyTrades', table: 'legacy_trades', from: ownRows('legacy_trades'), by: [['t.id', 'text']] }],
  open: ({ stores }) => legacyApi({ legacy: new Legacy(stores.db, stores.connection.reads) }),
}
