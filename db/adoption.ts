/** Balances of main wallets that another program has changed in the fast store. */
import type { Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import { AuditLog } from './audit-log.ts'
import type { Database } from './postgres/schema.ts'
import { timelineOf, type WalletCache } from './wallet-cache.ts'

interface Adoption {
  readonly micros: number
  readonly audit: () => Promise<void>
}

const NONE: Adoption = { micros: 0, audit: async () => undefined }

/**
 * What a balance that was changed from outside adds to a main wallet, as a commit would adopt it; 0 for none, and for
 * one that adds more than an adoption may. The caller has locked the wallet. To adopt it, book it and await `audit`.
 */
export async function adopted(
  tx: Transaction<Database>,
  {
    cache,
    world,
    userId,
  }: { readonly cache: WalletCache; readonly world: Pick<World, 'now'>; readonly userId: UserId },
  wallet: { readonly balance_micros: number; readonly version: number },
): Promise<Adoption> {
  const isCurrent = (await timelineOf(tx)) === cache.timeline
  const [cached] = await cache.claim([userId], async () => new Map([[userId, wallet.version]]))
  if (!isCurrent || cached?.version !== wallet.version) return NONE
  const difference = cached.balance - wallet.balance_micros
  if (difference === 0) return NONE
  const taken = difference > cache.adoptMax ? 0 : difference
  const entry = { actor: null, action: 'wallet.adopt', subject: userId, before: null } as const
  const after = { purse: 'main', byMicros: difference }
  const outcome = taken === 0 ? 'ADOPTION_TOO_LARGE' : 'ok'
  return { micros: taken, audit: () => new AuditLog(tx, world).record({ ...entry, after, outcome }) }
}
