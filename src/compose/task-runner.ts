/** Runs a background task periodically, and logs when it begins to fail and when it has recovered. */
import type { Clock, Instant } from '../../actors/kernel/world.ts'
import type { TaskState } from '../observe/task-metrics.ts'
import type { Role } from '../variables.ts'
import type { Log } from '../observe/log.ts'

export const EVERYWHERE: readonly Role[] = ['api', 'rooms']

export interface Task {
  readonly name: string
  /** A prime, so that tasks and processes do not fall into step. */
  readonly everyMs: number
  /** A process runs the task when it has one of these roles. */
  readonly roles: readonly Role[]
  /**
   * Also runs at the start, which waits for it (`await`) or continues meanwhile (`begin`). A process starts although
   * the run fails: a recording that is lost, or a month that cannot be made yet, must not end all trading.
   */
  readonly atStart?: 'await' | 'begin'
  readonly run: () => Promise<void> | void
}

export interface TaskRunnerOptions {
  readonly log: Log
  /** The steady clock. */
  readonly clock: Clock
}

/** As many failures in a row are no passing trouble. */
const LASTING = 10

/** Runs one task; a run that takes longer than its period delays the next one. */
export class TaskRunner {
  readonly name: string
  readonly #task: Task
  readonly #clock: Clock
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  #runningSince: Instant | null = null
  #failures = 0
  #failuresInARow = 0

  constructor(task: Task, { log, clock }: TaskRunnerOptions) {
    this.name = task.name
    this.#task = task
    this.#clock = clock
    this.#log = log.with({ task: task.name })
  }

  get state(): TaskState {
    return {
      name: this.name,
      failures: this.#failures,
      failuresInARow: this.#failuresInARow,
      runningMs: this.#runningSince === null ? 0 : this.#clock.now() - this.#runningSince,
    }
  }

  async start(): Promise<void> {
    const { everyMs, atStart } = this.#task
    this.#timer = setInterval(() => this.#runUnlessRunning(), everyMs)
    if (atStart !== undefined) this.#runUnlessRunning()
    if (atStart === 'await') await this.#running
  }

  /** Waits for the run in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }

  #runUnlessRunning(): void {
    this.#running ??= this.#run().finally(() => (this.#running = null))
  }

  async #run(): Promise<void> {
    this.#runningSince = this.#clock.now()
    try {
      await this.#task.run()
      if (this.#failuresInARow > 0) this.#log.info('task_recovered')
      this.#failuresInARow = 0
    } catch (error) {
      this.#failures++
      this.#failuresInARow++
      if (this.#failuresInARow === 1) this.#log.warn('task_failed', { error })
      if (this.#failuresInARow === LASTING) this.#log.error('task_failed', { error, inARow: LASTING })
    } finally {
      this.#runningSince = null
    }
  }
}
