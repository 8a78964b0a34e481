/**
 * Applies the reactions to commits, which no caller waits for. It reads the outbox at its own pace, in every process.
 * At most one process reacts to a match at a time; if it dies, the others carry on.
 */
import type { Notification } from '../../db/announcements.ts'
import type { Outbox, Reaction } from '../../db/outbox.ts'
import type { Report } from '../../rooms/report.ts'

/** Pause after an empty read. A prime, so that processes do not fall into step. */
const IDLE_MS = 397
/** Pause after a failed read of the database. */
const AWAY_MS = 997

export interface ReactorOptions {
  readonly outbox: Pick<Outbox, 'react'>
  readonly reaction: Reaction
  /** Called with notifications once they are durable. Must not throw. */
  readonly tell: (notifications: readonly Notification[]) => void
  readonly report: Report
}

export class Reactor {
  readonly #options: ReactorOptions
  #running: Promise<void> | null = null
  #stopped = false
  #wake: () => void = () => undefined

  constructor(options: ReactorOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Finishes the reaction in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#wake()
    await this.#running
  }

  /** Reacts until nothing is due. Throws when the database is unavailable. */
  async drain(): Promise<void> {
    while (await this.#step());
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      try {
        if (!(await this.#step())) await this.#pause(IDLE_MS)
      } catch (error) {
        this.#options.report('outbox_read_failed', error)
        await this.#pause(AWAY_MS)
      }
    }
  }

  /** False when nothing was due. */
  async #step(): Promise<boolean> {
    const { outbox, reaction, tell, report } = this.#options
    const reacted = await outbox.react(reaction)
    if (reacted?.kind === 'reacted' && reacted.notifications.length > 0) tell(reacted.notifications)
    if (reacted?.kind === 'failed') {
      const { matchId, setAside, error } = reacted
      if (setAside === null) report('reaction_failed', error, { matchId })
      else report('reaction_set_aside', error, { matchId, seq: setAside })
    }
    return reacted !== null
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
      if (this.#stopped) this.#wake()
    })
  }
}
