/** Writes beside a report how many errors came from outside all tests: the JSON of vitest does not tell. */
import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

export class Uncaught implements Reporter {
  readonly #file: string

  constructor(report: string) {
    this.#file = `${report}.uncaught`
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly unknown[]): void {
    writeFileSync(this.#file, String(errors.length))
  }
}
