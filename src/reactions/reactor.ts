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
/** Pause while positions of this process settle, and how many of them follow each other: half a minute in all. */
const HELD_MS = 101
const HELD_MAX = 300

export interface ReactorOptions {
  readonly outbox: Pick<Outbox, 'react'>
  readonly reaction: Reaction
  /** Called with notifications once they are durable. Must not throw. */
  readonly tell: (notifications: readonly Notification[]) => void
  readonly report: Report
  /**
   * Whether a match of this process is closing the positions of its holders. Reactions wait for that, half a minute at
   * most: beside each other both would take as long, and trades in other matches would wait for two.
   */
  readonly isSettling: () => boolean
}

export class Reactor {
  readonly #options: ReactorOptions
  #running: Promise<void> | null = null
  #stopped = false
  /** Pauses since a settlement began. */
  #held = 0
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
        if (this.#isHeld()) await this.#pause(HELD_MS)
        else if (!(await this.#step())) await this.#pause(IDLE_MS)
      } catch (error) {
        this.#options.report('outbox_read_failed', error)
        await this.#pause(AWAY_MS)
      }
    }
  }

  #isHeld(): boolean {
    this.#held = this.#options.isSettling() ? this.#held + 1 : 0
    return this.#held > 0 && this.#held <= HELD_MAX
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
