/**
 * Adds up the whole ledger, entry by entry: `npm run ops -- ledger-audit`. It reads the environment of the server and
 * changes nothing; with the embedded database the server must be stopped. The audit of the API takes what is closed by
 * its sums; this one checks those sums, too. It ends with 1 if something does not add up, and with 2 if there is no
 * wallet.
 */
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { refuse } from '../rehearse/rig/options.ts'
import { onDatabase } from './on-database.ts'

const found = await onDatabase((db) =>
  new Wallets(db, new WalletCache(null, () => undefined)).auditLedger({ whole: true }),
)
const { wallets, imbalanceMicros, unbalancedTransactions, mismatchedWallets, purses } = found
if (wallets === 0) refuse('there is no wallet: nothing was checked')
for (const { purse, wallets: count, imbalanceMicros: micros } of purses) {
  console.log(`${purse}: ${count} wallets, the entries add up to ${micros} micros`)
}
const isSound =
  imbalanceMicros === 0 &&
  unbalancedTransactions === 0 &&
  mismatchedWallets === 0 &&
  purses.every((purse) => purse.imbalanceMicros === 0)
if (isSound) console.log(`${wallets} wallets are the sums of their entries, and every transaction adds up to 0`)
else {
  console.error(
    `BROKEN: ${mismatchedWallets} wallets or closed sums differ from their entries, ${unbalancedTransactions} ` +
      `transactions do not add up to 0, and all entries to ${imbalanceMicros} micros`,
  )
  process.exitCode = 1
}
