/**
 * The typed arguments of `commit_batch` (commit-batch.sql, whose head explains the prefixes), and its text for
 * `migrate`.
 */
import { readFileSync } from 'node:fs'
import type { ArrayArgument } from './arrays.ts'
import { repeatable } from './repeatable.ts'
import { withRules } from './rules.ts'

const TEXT = withRules(readFileSync(new URL('./commit-batch.sql', import.meta.url), 'utf8'))

/** The lines that only matches under protection need. */
const PROTECTION = /^--\( protection\n(?:.*\n)*?--\)\n/gm

export const COMMIT_BATCH = repeatable('commit_batch', TEXT.replaceAll(PROTECTION, ''))

/** The same with protection. */
export const COMMIT_BATCH_PROTECTED = repeatable(
  'commit_batch_protected',
  TEXT.replace('create function commit_batch(', 'create function commit_batch_protected('),
)

/** Arrays of one length, under one prefix. */
type Arrays<Prefix extends string, Names extends string> = {
  readonly [Name in Names as `${Prefix}_${Name}`]: ArrayArgument
}

export type BatchArguments = Arrays<'b', 'match' | 'epoch' | 'id' | 'at'> & {
  readonly p_open_max: number
  /** The history of the database to which the cached balances belong; null without any. */
  readonly p_timeline: string | null
  /** The most that one cached balance may add. */
  readonly p_adopt_max: number
  /** Whether keys must be looked up among positions: true when one of them did not open anything. */
  readonly p_look: boolean
}

export type WalletArguments = Arrays<
  'w',
  | 'user'
  | 'purse'
  | 'batch'
  | 'log'
  | 'balance'
  | 'margin'
  | 'open'
  | 'events'
  | 'held'
  | 'worth'
  | 'cached'
  | 'cached_version'
  | 'need'
  | 'command'
  | 'fingerprint'
> & {
  /** Lines of JSON, one per wallet; null when no result needs a row of its own. */
  readonly w_result: string | null
}

export type OpenedArguments = Arrays<
  'o',
  | 'id'
  | 'wallet'
  | 'instrument'
  | 'sign'
  | 'lots'
  | 'price'
  | 'base'
  | 'margin'
  | 'stop'
  | 'take'
  | 'closable'
  | 'followers'
  | 'fingerprint'
  | 'after'
  | 'exit'
>
export type ChangedArguments = Arrays<'l', 'id' | 'lots' | 'margin' | 'stop' | 'take' | 'warned'>
export type SplitArguments = Arrays<'q', 'id' | 'of' | 'wallet' | 'lots' | 'margin' | 'followers'>
export type ClosedArguments = Arrays<
  'x',
  'id' | 'wallet' | 'price' | 'base' | 'pnl' | 'release' | 'by' | 'reason' | 'followers'
>
export type AccountArguments = Arrays<'e', 'wallet' | 'followers' | 'kind' | 'position' | 'stop' | 'take' | 'warned'>
/**
 * What a match under protection passes besides, as JSON: arrays under the names that the function unpacks. A function
 * takes a hundred arguments at most.
 */
export type ProtectedArguments = { readonly p_protected: string }
export type InstrumentArguments = Arrays<
  'i',
  'id' | 'base' | 'imbalance' | 'price' | 'settlement' | 'cap' | 'leaving' | 'ended'
> & {
  /** JSON; null when none was listed. */
  readonly i_listed: string | null
}
export type TickArguments = Arrays<'t', 'id' | 'at' | 'price' | 'base' | 'imbalance' | 'cause' | 'event' | 'why'>
export type TradeArguments = Arrays<'s', 'id' | 'batch' | 'lots' | 'trades'>
export type OutboxArguments = Arrays<'k', 'batch' | 'n'> & {
  /** Lines of JSON, one per row; null without any. */
  readonly k_events: string | null
}
/** JSON; both null when the match itself did not change. */
export type MatchArguments = { readonly m_info: string | null; readonly m_pricing: string | null }

/** Both null for a batch that heard nothing. */
export type JournalArguments = { readonly j_fresh: boolean | null; readonly j_entries: Uint8Array | null }

/** Null in the place of a batch of which nothing is told. */
export type TapeArguments = Arrays<'r', 'first' | 'last' | 'secret' | 'lines'>

export type CommitArguments = BatchArguments &
  WalletArguments &
  OpenedArguments &
  ChangedArguments &
  SplitArguments &
  ClosedArguments &
  AccountArguments &
  InstrumentArguments &
  TickArguments &
  TradeArguments &
  MatchArguments &
  OutboxArguments &
  JournalArguments &
  TapeArguments
