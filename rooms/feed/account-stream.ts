/**
 * Tells users what happens to their positions, through either door: what they missed since a marker, and then everything as
 * it is committed, in order and exactly once. What is told is always read from the log, so it does not matter which match
 * wrote it, in which process, before or after which restart; being told that something was written only makes it prompt.
 */
import type { UserId } from '../../actors/kernel/ids.ts'
import type { Report } from '../report.ts'
import { Sweeper } from '../sockets/sweeper.ts'

/** Listeners read for in one query. */
const READ_TOGETHER_MAX = 256
/** A log is looked into this often though nobody has said that it grew: another process may have written it. */
const LOOK_MS = 10_000
/** After a failed reading, and while a listener's network is busy. */
const PATIENCE_MS = { fault: 1_000, busy: 50 } as const

/** A part of what happened to a user's positions. */
export interface AccountPage {
  /** Where the next page goes on. */
  readonly marker: number
  readonly more: boolean
  /** Whether it says nothing: no event, and no snapshot either. */
  readonly isEmpty: boolean
  /** As it goes on the wire. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The log of one user, from a marker on; null when a snapshot is wanted. */
export interface AccountQuestion {
  readonly userId: UserId
  readonly since: number | null
}

/**
 * What came after each marker, in the order of the questions: a page of events, or a snapshot where none can be gone on
 * from, or null for somebody without an account. Rejects with a fault of the database.
 */
export type ReadAccounts = (questions: readonly AccountQuestion[]) => Promise<readonly (AccountPage | null)[]>

export interface AccountListener {
  readonly userId: UserId
  /** Whether the network has taken what was told before; until then nothing more is read for him. */
  readonly isReady: () => boolean
  /** The first page is told even if it is empty: it is the answer to his question. */
  readonly tell: (page: AccountPage) => void
  /** Something else that concerns him. */
  readonly notify: (message: Notice) => void
}

/** A message about something else than positions, for whoever listens to his account. */
export interface Notice {
  readonly type: string
  readonly [field: string]: unknown
}

export interface AccountStreamOptions {
  readonly read: ReadAccounts
  readonly report: Report
}

class Listening {
  readonly listener: AccountListener
  since: number | null
  isAnswered = false

  constructor(listener: AccountListener, since: number | null) {
    this.listener = listener
    this.since = since
  }
}

export class AccountStream {
  readonly #options: AccountStreamOptions
  readonly #byUser = new Map<UserId, Set<Listening>>()
  readonly #all = new Set<Listening>()
  /** Whose log may have grown beyond what they were told. */
  readonly #due = new Set<Listening>()
  readonly #rounds: Sweeper<Listening>
  #pump: 'idle' | 'reading' | 'resting' | 'stopped' = 'idle'
  #pause: NodeJS.Timeout | undefined

  constructor(options: AccountStreamOptions) {
    this.#options = options
    this.#rounds = new Sweeper(this.#all, LOOK_MS, (listening) => this.#enqueue(listening))
  }

  /** Tells him what came after `since` (a snapshot when that is null) and what follows, until the returned end of it. */
  listen(listener: AccountListener, since: number | null): () => void {
    const listening = new Listening(listener, since)
    const his = this.#byUser.get(listener.userId) ?? new Set()
    this.#byUser.set(listener.userId, his.add(listening))
    this.#all.add(listening)
    this.#enqueue(listening)
    return () => {
      this.#all.delete(listening)
      this.#due.delete(listening)
      his.delete(listening)
      if (his.size === 0 && this.#byUser.get(listener.userId) === his) this.#byUser.delete(listener.userId)
    }
  }

  /** Something was written into the log of this user. */
  logAppended(userId: UserId): void {
    for (const listening of this.#byUser.get(userId) ?? []) this.#enqueue(listening)
  }

  /** Tells a user something that no log keeps, if he is listening here. */
  publish(userId: UserId, notice: Notice): void {
    for (const { listener } of this.#byUser.get(userId) ?? []) listener.notify(notice)
  }

  stop(): void {
    this.#pump = 'stopped'
    this.#rounds.stop()
    clearTimeout(this.#pause)
  }

  #enqueue(listening: Listening): void {
    this.#due.add(listening)
    if (this.#pump === 'idle') void this.#run()
  }

  /** One reading at a time: whoever comes meanwhile joins the next. */
  async #run(): Promise<void> {
    this.#pump = 'reading'
    // Everything that a batch of trades has set off in this turn joins the first reading.
    await new Promise(setImmediate)
    let patience = 0
    while (this.#due.size > 0 && patience === 0 && !this.#isStopped()) patience = await this.#readOnce()
    if (this.#isStopped()) return
    this.#pump = patience === 0 ? 'idle' : 'resting'
    if (patience === 0) return
    this.#pause = setTimeout(() => {
      this.#pump = 'idle'
      if (this.#due.size > 0) void this.#run()
    }, patience)
  }

  /** Reads and tells once; returns how long to wait before the next time. */
  async #readOnce(): Promise<number> {
    const asked: Listening[] = []
    for (const listening of this.#due) {
      if (asked.length === READ_TOGETHER_MAX) break
      if (listening.listener.isReady()) asked.push(listening)
    }
    if (asked.length === 0) return PATIENCE_MS.busy
    for (const listening of asked) this.#due.delete(listening)
    try {
      const pages = await this.#options.read(asked.map(({ listener, since }) => ({ userId: listener.userId, since })))
      for (const [n, listening] of asked.entries())
        if (this.#all.has(listening)) this.#tell(listening, pages[n] ?? null)
      return 0
    } catch (error) {
      this.#options.report('account_read_failed', error, { accounts: asked.length })
      for (const listening of asked) if (this.#all.has(listening)) this.#due.add(listening)
      return PATIENCE_MS.fault
    }
  }

  #tell(listening: Listening, page: AccountPage | null): void {
    if (page === null) return
    listening.since = page.marker
    if (page.more) this.#due.add(listening)
    if (page.isEmpty && listening.isAnswered) return
    listening.isAnswered = true
    listening.listener.tell(page)
  }

  #isStopped(): boolean {
    return this.#pump === 'stopped'
  }
}
