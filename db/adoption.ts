/** Balances of main wallets that another program has changed in the fast store. */
import type { Transaction } from 'kysely'
import type { UserId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import { AuditLog } from './audit-log.ts'
import type { Database } from './postgres/schema.ts'
import { timelineOf, type WalletCache } from './wallet-cache.ts'

/**
 * What a balance that was changed from outside adds to a main wallet, as a commit would adopt it; 0 for none, and for
 * one that adds more than an adoption may. The caller has locked the wallet, and books it. It is audited.
 */
export async function adopted(
  tx: Transaction<Database>,
  {
    cache,
    world,
    userId,
  }: { readonly cache: WalletCache; readonly world: Pick<World, 'now'>; readonly userId: UserId },
  wallet: { readonly balance_micros: number; readonly version: number },
): Promise<number> {
  const isCurrent = (await timelineOf(tx)) === cache.timeline
  const [cached] = await cache.claim([userId], async () => new Map([[userId, wallet.version]]))
  if (!isCurrent || cached?.version !== wallet.version) return 0
  const difference = cached.balance - wallet.balance_micros
  if (difference === 0) return 0
  const taken = difference > cache.adoptMax ? 0 : difference
  await new AuditLog(tx, world).record({
    actor: null,
    action: 'wallet.adopt',
    subject: userId,
    before: null,
    after: { purse: 'main', byMicros: difference },
    outcome: taken === 0 ? 'ADOPTION_TOO_LARGE' : 'ok',
  })
  return taken
}
