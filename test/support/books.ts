/** Audits the ledger of a server that has stopped. */
import type { Connection } from '../../db/postgres/connection.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { type LedgerAudit, Wallets } from '../../db/wallets.ts'

/** The audit result of balanced books. */
export const BALANCED = { imbalanceMicros: 0, unbalancedTransactions: 0, mismatchedWallets: 0 }

interface Place {
  look<T>(at: (connection: Connection) => Promise<T>): Promise<T>
}

export function audit(place: Place): Promise<LedgerAudit> {
  const nothingCached = new WalletCache(null, () => undefined)
  return place.look(({ db }) => new Wallets(db, nothingCached).auditLedger({ whole: true }))
}
