/** A batch that the store has committed, and the state in which it was decided. */
import type { InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { WalletAfter } from '../../actors/match/messages.ts'
import type { Batch } from '../../actors/match/store.ts'

export interface Committed {
  readonly batch: Batch
  readonly rules: TradingRules
  /** The most positions that levels close, or warnings that are sent, in one batch. */
  readonly batchMax: number
  /** The last published prices. */
  readonly published: ReadonlyMap<InstrumentId, number>
  readonly wallets: ReadonlyMap<UserId, WalletAfter>
}

/** The last published price of an instrument; an instrument listed by the batch is published with its listing. */
export function lastPublishedOf(id: InstrumentId, { batch, published }: Committed): number | undefined {
  const listed = batch.events.find((e) => e.kind === 'instrument_listed' && e.instrument.id === id)
  return listed?.kind === 'instrument_listed' ? listed.instrument.published : published.get(id)
}
