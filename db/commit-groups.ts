/**
 * Commits batches. Those that wait for a connection at the same time go together, in one call and one transaction, as
 * starting its statements costs as much as twenty trades. Matches stay independent: what fails for one of a group is
 * tried again, each alone, and a group that meets a locked row gives up early.
 */
import { present } from '../actors/kernel/assert.ts'
import type { UserId } from '../actors/kernel/ids.ts'
import { HOUR_MS } from '../actors/kernel/world.ts'
import type { StoredRow } from './command-results.ts'
import { commitArguments, walletsOf, type WalletOf, type Written } from './commit-arguments.ts'
import { COMMIT_BATCH, COMMIT_BATCH_PROTECTED } from './postgres/commit-batch.ts'
import { type Call, type Connection, wasRolledBack } from './postgres/connection.ts'
import { protectedArguments } from './protected-arguments.ts'

/** The rows that answer a call. Those of a group are `committed` or `split`. */
export type CommitRow =
  | CommittedRow
  | { readonly verdict: 'fenced' }
  | { readonly verdict: 'split' }
  | ({ readonly verdict: 'key_used'; readonly user_id: string } & StoredRow)
  | { readonly verdict: 'insufficient_margin'; readonly user_id: string; readonly balance: number }
  | { readonly verdict: 'position_limit' | 'account_frozen' | 'own_limit'; readonly user_id: string }
  | FoundRow

/** Array literals with one value per wallet, in the order of the arguments. */
export interface CommittedRow {
  readonly verdict: 'committed'
  readonly balances: string | null
  readonly margins: string | null
  readonly worths: string | null
  readonly versions: string | null
  /** With protection: what opens nothing yet. */
  readonly lockeds?: string | null
}

/** Array literals with one value per wallet: balances, the numbers of open positions, and 1 for the frozen. */
export interface FoundRow {
  readonly verdict: 'found'
  readonly balances: string | null
  readonly opens: string | null
  readonly frozens: string | null
  readonly lockeds?: string | null
  /** The owners' own bounds, as a JSON array. */
  readonly result: string | null
}

/** What came of a batch. `wallets`: those of the values in a committed row; `of`: which of the group it is. */
export interface Outcome {
  readonly rows: readonly CommitRow[]
  readonly wallets: readonly WalletOf[]
  readonly of: number
}

/** A batch of more users is a crowd's, and goes with those of other crowds only: a few orders would wait for all. */
const SMALL = 32
/** Users of all batches that go together. In a larger one each trade's share of the start is small. */
const GROUP_MAX = 250

/** What matches commit through. */
export type CommitConnection = Pick<Connection, 'call' | 'arrays' | 'callsTogether'>

interface Waiting {
  readonly written: Written
  readonly settle: (outcome: Outcome | Promise<Outcome>) => void
}

export class CommitGroups {
  readonly #connection: CommitConnection
  readonly #waiting: Waiting[] = []
  /** Of batches that wait or are being committed. */
  #users = 0

  constructor(connection: CommitConnection) {
    this.#connection = connection
  }

  /** Throws when the database is unavailable; then it is unknown whether the batch was written. */
  async commit(written: Written): Promise<Outcome> {
    const users = written.wallets.length
    this.#users += users
    try {
      return await new Promise((resolve) => {
        this.#waiting.push({ written, settle: resolve })
        // Each turn takes at least one of those who wait, so none is left without a turn.
        void this.#turn()
      })
    } finally {
      this.#users -= users
    }
  }

  async #turn(): Promise<void> {
    let group: readonly Waiting[] = []
    let wallets: readonly WalletOf[] = []
    let isSent = false
    try {
      // After all that the current callback wakes up: matches that wake up together commit together.
      await new Promise<void>((resolve) => process.nextTick(resolve))
      const rows = await this.#connection.call<CommitRow>(() => {
        group = this.#take()
        if (group.length === 0) return null
        const all = group.map(({ written }) => written)
        wallets = walletsOf(all)
        const call = this.#callFor(all, wallets)
        isSent = true
        return call
      })
      if (group.length > 1 && rows[0]?.verdict !== 'committed') this.#eachAlone(group)
      else for (const [of, { settle }] of group.entries()) settle({ rows, wallets, of })
    } catch (error) {
      if (group.length > 1 && (!isSent || wasRolledBack(error))) this.#eachAlone(group)
      else for (const { settle } of group) settle(Promise.reject(error))
    }
  }

  #eachAlone(group: readonly Waiting[]): void {
    for (const { written, settle } of group) settle(this.#alone(written))
  }

  async #alone(written: Written): Promise<Outcome> {
    const wallets = walletsOf([written])
    const rows = await this.#connection.call<CommitRow>(() => this.#callFor([written], wallets))
    return { rows, wallets, of: 0 }
  }

  #callFor(all: readonly Written[], wallets: readonly WalletOf[]): Call {
    const args = commitArguments(this.#connection.arrays, all, wallets)
    const { batch, wallets: own } = present(all[0], 'batch')
    return batch.protected === true
      ? { name: COMMIT_BATCH_PROTECTED.installedAs, args: { ...args, ...protectedArguments(batch, own) } }
      : { name: COMMIT_BATCH.installedAs, args }
  }

  /** The batch that has waited longest, and those that can go with it: no more than leaves the other calls as much. */
  #take(): readonly Waiting[] {
    const first = this.#waiting.shift()
    if (first === undefined) return []
    if (!isSociable(first.written) || this.#waiting.length === 0) return [first]
    const share = Math.max(SMALL, Math.ceil(this.#users / this.#connection.callsTogether))
    const group = new Group(first.written, Math.min(GROUP_MAX, share))
    const taken = [first]
    const left = this.#waiting.filter((one) => {
      if (!group.take(one.written)) return true
      taken.push(one)
      return false
    })
    this.#waiting.splice(0, Infinity, ...left)
    return taken
  }
}

/** Whether a batch goes with others: not one that changes its match, has heard something or is under protection. */
const isSociable = ({ batch, journal }: Written): boolean =>
  journal === null &&
  batch.protected !== true &&
  !batch.events.some(({ kind }) => kind === 'match_updated' || kind === 'instrument_listed')

/** What limits who can go together: see commit-batch.sql. */
class Group {
  readonly #first: Written
  readonly #max: number
  readonly #users: Set<UserId>
  #wallets: number

  constructor(first: Written, max: number) {
    this.#first = first
    this.#max = max
    this.#wallets = first.wallets.length
    this.#users = new Set(usersOf(first))
  }

  /** False for one that cannot go with those already in it. */
  take(other: Written): boolean {
    const users = usersOf(other)
    const fits =
      isSociable(other) &&
      isCrowded(other) === isCrowded(this.#first) &&
      this.#wallets + users.length <= this.#max &&
      termsOf(other) === termsOf(this.#first) &&
      !users.some((user) => this.#users.has(user))
    if (!fits) return false
    for (const user of users) this.#users.add(user)
    this.#wallets += users.length
    return true
  }
}

const isCrowded = ({ wallets }: Written): boolean => wallets.length > SMALL

const usersOf = ({ wallets }: Written): readonly UserId[] => wallets.map(({ userId }) => userId)

/** What is the same for all batches of a call, and the day that their results count for. */
const termsOf = ({ batch, cached: { timeline, adoptMax } }: Written): string =>
  [batch.openPositionsMax, timeline, adoptMax, Math.floor(batch.at / (24 * HOUR_MS))].join()
