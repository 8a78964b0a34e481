/** A child process of a benchmark that answers each command once. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { present } from '../../actors/kernel/assert.ts'

export interface WorkerOptions {
  /** The only core that it may run on (it needs `taskset`); null: any. */
  readonly core: number | null
  readonly args?: readonly string[]
  /** Options of Node. */
  readonly flags?: readonly string[]
}

export class Worker {
  readonly #child: ChildProcess

  /** `file` is relative to this folder. */
  constructor(file: string, { core, args = [], flags = [] }: WorkerOptions) {
    const path = join(import.meta.dirname, file)
    if (core === null) this.#child = fork(path, [...args], { execArgv: [...flags] })
    else {
      const execArgv = ['-c', String(core), process.execPath, ...flags]
      this.#child = fork(path, [...args], { execPath: 'taskset', execArgv })
    }
  }

  get pid(): number {
    return present(this.#child.pid, 'pid')
  }

  tell(command: object): void {
    this.#child.send(command)
  }

  /** Rejects when the process ends instead of answering. */
  ask<Answer>(command: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const died = (code: number | null): void => reject(new Error(`a process of the benchmark ended with ${code}`))
      this.#child.once('exit', died)
      this.#child.once('message', (answer: Answer) => {
        this.#child.off('exit', died)
        resolve(answer)
      })
      this.#child.send(command)
    })
  }

  /** As a crash would. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.disconnect()
    await gone
  }
}
