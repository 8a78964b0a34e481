/** What a batch does to wallets, and to the account logs of their owners. */
import type { UserId } from '../actors/kernel/ids.ts'
import type { Purse, WalletKey } from '../actors/kernel/purse.ts'
import type { FillMoved, MatchEvent } from '../actors/match/messages.ts'
import type { Batch } from '../actors/match/store.ts'
import type { Position } from '../actors/position/position.ts'
import type { AccountEventKind } from './account-log.ts'

/** What a batch does to one wallet. */
export interface WalletChange extends WalletKey<UserId> {
  balance: number
  margin: number
  open: number
  events: number
  /** Σ margin of what it opens. */
  need: number
}

/**
 * The wallets that the batch concerns, in ascending order: those that it changes, those that count the events of their
 * owners, and those of users who only wait for an answer.
 */
export function walletChanges(batch: Batch): WalletChange[] {
  const changes = new WalletMap<WalletChange>()
  const of = ({ userId, purse }: WalletKey<UserId>): WalletChange => {
    const known = changes.get({ userId, purse })
    if (known !== undefined) return known
    const change = { userId, purse, balance: 0, margin: 0, open: 0, events: 0, need: 0 }
    changes.set(change, change)
    return change
  }
  for (const holding of batch.watch) of(holding)
  for (const { position } of ofKind(batch, 'position_opened')) {
    const change = of(position)
    change.balance -= position.margin
    change.margin += position.margin
    change.need += position.margin
    change.open += 1
  }
  for (const { part } of ofKind(batch, 'position_split')) of(part).open += 1
  for (const { position } of ofKind(batch, 'position_closed')) {
    const change = of(position)
    change.balance += position.margin + position.close.pnl
    change.margin -= position.margin
    change.open -= 1
  }
  for (const { position, amount } of ofKind(batch, 'fill_moved')) of(position).balance += amount
  for (const { position } of accountEvents(batch.events)) of(logOf(position)).events += 1
  return [...changes.values()].toSorted(compareKeys)
}

/** The wallet that counts the events of a user, whatever their purse. */
export const logOf = ({ userId }: Pick<Position, 'userId'>): WalletKey<UserId> => ({ userId, purse: 'main' })

/** Every match locks wallets in this order. */
export const compareKeys = (a: WalletKey<UserId>, b: WalletKey<UserId>): number => {
  if (a.userId !== b.userId) return a.userId < b.userId ? -1 : 1
  return a.purse < b.purse ? -1 : 1
}

/** Values by wallet. */
export class WalletMap<T> {
  readonly #byPurse = new Map<Purse, Map<UserId, T>>()

  get({ userId, purse }: WalletKey<UserId>): T | undefined {
    return this.#byPurse.get(purse)?.get(userId)
  }

  set({ userId, purse }: WalletKey<UserId>, value: T): void {
    const values = this.#byPurse.get(purse) ?? new Map<UserId, T>()
    this.#byPurse.set(purse, values.set(userId, value))
  }

  *values(): Iterable<T> {
    for (const values of this.#byPurse.values()) yield* values.values()
  }
}

/** An event of a batch as an entry in the account log of a position's owner. */
export interface AccountEvent {
  readonly kind: AccountEventKind
  readonly position: Position
  /** Whether a part was split off of it. */
  readonly isSplit: boolean
  /** How many events of the same user come after it in the batch. */
  readonly followers: number
}

/** The events of batches as entries in the account logs of the positions' owners. */
export function accountEvents(all: readonly MatchEvent[]): AccountEvent[] {
  const seen = new Map<UserId, number>()
  const events: AccountEvent[] = []
  for (const event of all.toReversed()) {
    const kind = event.kind === 'fill_moved' ? kindOfMove(event) : ACCOUNT_EVENT[event.kind]
    if (kind === undefined || !('position' in event)) continue
    const { position } = event
    const followers = seen.get(position.userId) ?? 0
    seen.set(position.userId, followers + 1)
    events.push({ kind, position, isSplit: event.kind === 'position_split', followers })
  }
  return events.toReversed()
}

/** None where a close has only been decided to stand, or to wait: the wallet shows that. */
function kindOfMove({ position, amount }: FillMoved): AccountEventKind | undefined {
  if (position.close === null) return 'changed'
  return amount === 0 ? undefined : 'corrected'
}

const ACCOUNT_EVENT: Partial<Readonly<Record<MatchEvent['kind'], AccountEventKind>>> = {
  position_opened: 'opened',
  position_split: 'changed',
  levels_changed: 'changed',
  margin_warned: 'margin_warning',
  position_closed: 'closed',
}

type OfKind<K extends MatchEvent['kind']> = Extract<MatchEvent, { kind: K }>

export function ofKind<K extends MatchEvent['kind']>(batch: Pick<Batch, 'events'>, kind: K): OfKind<K>[] {
  return batch.events.filter((event): event is OfKind<K> => event.kind === kind)
}
