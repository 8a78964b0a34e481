/**
 * Sends users the events of their positions: first those after a marker, then each as it is committed, in order and
 * exactly once. Events are always read from the account log, so it does not matter which match or process wrote them. A
 * hint that a log has grown only makes the next reading prompt.
 */
import type { UserId } from '../../actors/kernel/ids.ts'
import type { Report } from '../report.ts'
import { Sweeper } from '../sockets/sweeper.ts'

/** Listeners per query. */
const READ_TOGETHER_MAX = 256
/** Every log is read this often even without a hint, since hints from other processes can be lost. */
const SWEEP_MS = 10_000
/** After a failed query, and while no listener is ready. */
const RETRY_MS = { fault: 1_000, busy: 50 } as const

/** Some of the events of one user's positions. */
export interface AccountPage {
  /** The next page begins after this. */
  readonly marker: number
  readonly more: boolean
  /** Contains neither an event nor a snapshot. */
  readonly isEmpty: boolean
  /** The page in its wire form. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Asks for a user's log after a marker, or for a snapshot when `since` is null. */
export interface AccountQuestion {
  readonly userId: UserId
  readonly since: number | null
}

/**
 * One page for each question, in the order of the questions. It is a snapshot when the log cannot be continued from the
 * marker, and null when the user has no account. Rejects with a fault of the database.
 */
export type ReadAccounts = (questions: readonly AccountQuestion[]) => Promise<readonly (AccountPage | null)[]>

export interface AccountListener {
  readonly userId: UserId
  /** Whether everything sent so far has left; until then nothing more is read for this listener. */
  readonly isReady: () => boolean
  /** The first page is sent even if empty, as the answer to the request. */
  readonly page: (page: AccountPage) => void
  readonly notice: (notice: Notice) => void
}

/** A message that concerns a user but is not in the account log. */
export interface Notice {
  readonly type: string
  readonly [field: string]: unknown
}

export interface AccountStreamOptions {
  readonly read: ReadAccounts
  readonly report: Report
}

/** One listener and how far it has been sent. */
interface Listening {
  readonly listener: AccountListener
  since: number | null
  isAnswered: boolean
}

export class AccountStream {
  readonly #options: AccountStreamOptions
  readonly #byUser = new Map<UserId, Set<Listening>>()
  readonly #all = new Set<Listening>()
  /** Those whose log may have new events. */
  readonly #due = new Set<Listening>()
  readonly #sweeper: Sweeper<Listening>
  #reader: 'idle' | 'reading' | 'pausing' | 'stopped' = 'idle'
  #timer: NodeJS.Timeout | undefined

  constructor(options: AccountStreamOptions) {
    this.#options = options
    this.#sweeper = new Sweeper(this.#all, SWEEP_MS, (listening) => this.#enqueue(listening))
  }

  /** Sends the events after `since` (null: a snapshot) and all later ones, until the returned function is called. */
  listen(listener: AccountListener, since: number | null): () => void {
    const { userId } = listener
    const listening: Listening = { listener, since, isAnswered: false }
    const ofUser = this.#byUser.get(userId) ?? new Set()
    this.#byUser.set(userId, ofUser.add(listening))
    this.#all.add(listening)
    this.#enqueue(listening)
    return () => {
      this.#all.delete(listening)
      this.#due.delete(listening)
      ofUser.delete(listening)
      if (ofUser.size === 0 && this.#byUser.get(userId) === ofUser) this.#byUser.delete(userId)
    }
  }

  /** The log of this user has new entries. */
  logAppended(userId: UserId): void {
    for (const listening of this.#byUser.get(userId) ?? []) this.#enqueue(listening)
  }

  /** Sends a notice to a user who listens in this process. */
  publish(userId: UserId, notice: Notice): void {
    for (const { listener } of this.#byUser.get(userId) ?? []) listener.notice(notice)
  }

  stop(): void {
    this.#reader = 'stopped'
    this.#sweeper.stop()
    clearTimeout(this.#timer)
  }

  #enqueue(listening: Listening): void {
    this.#due.add(listening)
    if (this.#reader === 'idle') void this.#run()
  }

  /** One query at a time; a listener that becomes due meanwhile joins the next. */
  async #run(): Promise<void> {
    this.#reader = 'reading'
    // All hints that a batch of trades gives in this turn join the first query.
    await new Promise(setImmediate)
    let pauseMs = 0
    while (this.#due.size > 0 && pauseMs === 0 && !this.#isStopped()) pauseMs = await this.#readOnce()
    if (this.#isStopped()) return
    this.#reader = pauseMs === 0 ? 'idle' : 'pausing'
    if (pauseMs === 0) return
    this.#timer = setTimeout(() => {
      this.#reader = 'idle'
      if (this.#due.size > 0) void this.#run()
    }, pauseMs)
  }

  /** Returns how long to pause before the next query. */
  async #readOnce(): Promise<number> {
    const ready: Listening[] = []
    for (const listening of this.#due) {
      if (ready.length === READ_TOGETHER_MAX) break
      if (listening.listener.isReady()) ready.push(listening)
    }
    if (ready.length === 0) return RETRY_MS.busy
    for (const listening of ready) this.#due.delete(listening)
    try {
      const pages = await this.#options.read(ready.map(({ listener, since }) => ({ userId: listener.userId, since })))
      for (const [n, listening] of ready.entries())
        if (this.#all.has(listening)) this.#send(listening, pages[n] ?? null)
      return 0
    } catch (error) {
      this.#options.report('account_read_failed', error, { accounts: ready.length })
      for (const listening of ready) if (this.#all.has(listening)) this.#due.add(listening)
      return RETRY_MS.fault
    }
  }

  #send(listening: Listening, page: AccountPage | null): void {
    if (page === null) return
    listening.since = page.marker
    if (page.more) this.#due.add(listening)
    if (page.isEmpty && listening.isAnswered) return
    listening.isAnswered = true
    listening.listener.page(page)
  }

  #isStopped(): boolean {
    return this.#reader === 'stopped'
  }
}
