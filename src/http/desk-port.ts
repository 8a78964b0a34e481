/** What requests ask of matches. */
import type { UserId } from '../../actors/kernel/ids.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import type { IdempotencyKey, Trade, UserCommand } from '../../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { Ended, RequestOf } from '../../rooms/cluster/protocol.ts'

/** Where commands to the matches go. */
export interface Desk {
  submit(command: UserCommand): Promise<Outcome<Trade>>
  /** The stored answer to a key; null if it has none. */
  recall(user: UserId, idempotency: IdempotencyKey | null): Promise<Outcome<Trade> | null>
  quote(query: QuoteQuery): Promise<Outcome<QuoteAnswer>>
  /** Ends a match for an operator. `over`: it has already ended. `elsewhere`: its owner could not be reached. */
  ask(kind: 'end', request: RequestOf<'end'>): Promise<Ended>
}
