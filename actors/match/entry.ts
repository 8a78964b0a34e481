/** One message of a batch: what it asks, what was decided about it, and how it is answered. */
import { InvariantBroken, present, unreachable } from '../kernel/assert.ts'
import { done, type Outcome, type Refusal, type RefusalCode, refused } from '../kernel/outcome.ts'
import type { Purse, WalletKey } from '../kernel/purse.ts'
import type { Instant } from '../kernel/world.ts'
import type { IdempotencyKey, SystemCommand, Trade, UserCommand } from './messages.ts'
import type { KeyedCommand, StoredResult, Verdict } from './store.ts'
import type { MatchView } from './state.ts'
import type { Allowed } from './terms.ts'

export interface UserEntry {
  readonly userId: UserCommand['userId']
  readonly command: UserCommand
  readonly deadline: Instant
  readonly answer: (outcome: Outcome<Trade>) => void
  readonly fail: (error: unknown) => void
}

interface SystemEntry {
  readonly userId: null
  readonly command: SystemCommand
  readonly answer: (news: boolean) => void
  readonly fail: (error: unknown) => void
}

export type Entry = UserEntry | SystemEntry

export type Decision =
  | { readonly kind: 'allowed'; readonly allowed: Allowed }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'repeated'; readonly stored: StoredResult }
  /**
   * A system entry. `news` is true if the feed update was new, or the ending had not begun; `effect` is true if any
   * event followed; `after` events of the batch came before it.
   */
  | { readonly kind: 'proceeded'; readonly news: boolean; readonly effect: boolean; readonly after: number }

export type Wallets = Extract<Verdict, { kind: 'committed' }>['wallets']

export const BUSY = refused({ code: 'busy', retryAfterSecs: 1 })

export function idempotencyOf(command: UserCommand): IdempotencyKey | null {
  return command.kind === 'change_levels' ? null : command.idempotency
}

export function keyOf(command: UserCommand): string | null {
  return idempotencyOf(command)?.id ?? null
}

/** Refusals that pass with time. They are not stored, because a retry with the same key must be able to succeed. */
const TEMPORARY: ReadonlySet<RefusalCode> = new Set(['cooldown_active', 'market_suspended'])

/**
 * The keys to look up, and the results to store for retries. A command past its deadline was refused undecided and has
 * neither.
 */
export function keyedCommands(
  batch: readonly Entry[],
  decisions: ReadonlyMap<Entry, Decision>,
  view: MatchView,
): KeyedCommand[] {
  const keyed: KeyedCommand[] = []
  for (const entry of batch) {
    if (entry.userId === null) continue
    const idempotency = idempotencyOf(entry.command)
    const decision = present(decisions.get(entry), 'decision')
    if (idempotency === null) continue
    const purse = purseOf(entry.command, decision, view)
    if (decision.kind === 'allowed') keyed.push({ userId: entry.userId, purse, idempotency, result: decision.allowed })
    if (decision.kind === 'refused' && decision.refusal.code !== 'busy') {
      const result = TEMPORARY.has(decision.refusal.code) ? null : { refusal: decision.refusal }
      keyed.push({ userId: entry.userId, purse, idempotency, result })
    }
  }
  return keyed
}

/** The purse that a command concerns: that of the match where the user does not hold the position. */
function purseOf(command: UserCommand, decision: Decision, view: MatchView): Purse {
  if (decision.kind === 'allowed') return decision.allowed.position.purse
  if (command.kind === 'open_position') return command.league ?? view.info.purse
  const position = view.position(command.positionId)
  return position?.userId === command.userId ? position.purse : view.info.purse
}

/** The wallets that the commit must report, because the answer to a command may show them. */
export function walletsOf(
  batch: readonly Entry[],
  decisions: ReadonlyMap<Entry, Decision>,
  view: MatchView,
): WalletKey<UserEntry['userId']>[] {
  const wallets: WalletKey<UserEntry['userId']>[] = []
  for (const entry of batch) {
    if (entry.userId === null) continue
    const decision = present(decisions.get(entry), 'decision')
    if (decision.kind === 'allowed' || (decision.kind === 'refused' && idempotencyOf(entry.command) !== null))
      wallets.push({ userId: entry.userId, purse: purseOf(entry.command, decision, view) })
  }
  return wallets
}

export const requestsOf = (batch: readonly Entry[]): string[] =>
  batch.flatMap(({ userId, command }) =>
    userId === null || command.requestId === undefined ? [] : [command.requestId],
  )

export const tracesOf = (batch: readonly Entry[]): string[] =>
  batch.flatMap(({ userId, command }) => (userId === null || command.trace === undefined ? [] : [command.trace]))

export function answer(entry: Entry, decision: Decision, wallets: Wallets): void {
  if (entry.userId === null) return entry.answer(decision.kind === 'proceeded' && decision.news)
  switch (decision.kind) {
    case 'allowed':
      return entry.answer(
        done({
          ...decision.allowed,
          wallet: present(wallets.get(entry.userId), 'wallet after commit'),
          repeated: false,
        }),
      )
    case 'refused':
      return entry.answer(refused(decision.refusal))
    case 'repeated':
      return entry.answer(repeatOf(decision.stored, idempotencyOf(entry.command)))
    case 'proceeded':
      throw new InvariantBroken('a user command does not proceed')
    default:
      return unreachable(decision)
  }
}

/** The answer to a key that was used before: the stored result for the same request, a refusal for any other. */
export function repeatOf(stored: StoredResult, idempotency: IdempotencyKey | null): Outcome<Trade> {
  if (stored.fingerprint !== idempotency?.fingerprint) return refused({ code: 'key_reused' })
  if ('refusal' in stored.result) return refused(stored.result.refusal, true)
  return done({ ...stored.result, wallet: stored.wallet, repeated: true })
}
