/** Runs a background task periodically, and logs when it begins to fail and when it has recovered. */
import type { Role } from '../variables.ts'
import type { Log } from '../observe/log.ts'

export const EVERYWHERE: readonly Role[] = ['api', 'rooms']

export interface Task {
  readonly name: string
  /** A prime, so that tasks and processes do not fall into step. */
  readonly everyMs: number
  /** A process runs the task when it has one of these roles. */
  readonly roles: readonly Role[]
  /** Also runs at the start, which waits for it and fails with it (`await`) or continues meanwhile (`begin`). */
  readonly atStart?: 'await' | 'begin'
  readonly run: () => Promise<void> | void
}

export interface TaskRunnerOptions {
  readonly log: Log
  /** Called for each run that fails. */
  readonly onFailure: (task: string) => void
}

/** Runs one task; a run that takes longer than its period delays the next one. */
export class TaskRunner {
  readonly #task: Task
  readonly #options: TaskRunnerOptions
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  #isFailing = false

  constructor(task: Task, options: TaskRunnerOptions) {
    this.#task = task
    this.#options = options
    this.#log = options.log.with({ task: task.name })
  }

  async start(): Promise<void> {
    const { everyMs, atStart, run } = this.#task
    this.#timer = setInterval(() => this.#runUnlessRunning(), everyMs)
    if (atStart === 'await') await run()
    if (atStart === 'begin') this.#runUnlessRunning()
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
    try {
      await this.#task.run()
      if (this.#isFailing) this.#log.info('task_recovered')
      this.#isFailing = false
    } catch (error) {
      this.#options.onFailure(this.#task.name)
      if (!this.#isFailing) this.#log.warn('task_failed', { error })
      this.#isFailing = true
    }
  }
}
