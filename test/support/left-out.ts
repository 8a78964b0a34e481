/** Says at the end of a run which projects of vitest.config.ts it left out, and how to run them. */
import type { Reporter, Vitest } from 'vitest/node'

export class LeftOut implements Reporter {
  readonly #projects: Readonly<Record<string, string>>
  #ran: readonly string[] = []

  /** What each project runs, by name. */
  constructor(projects: Readonly<Record<string, string>>) {
    this.#projects = projects
  }

  onInit({ projects }: Vitest): void {
    this.#ran = projects.map(({ name }) => name)
  }

  onTestRunEnd(): void {
    const left = Object.entries(this.#projects).filter(([name]) => !this.#ran.includes(name))
    if (left.length === 0) return
    console.log(`Left out: ${left.map(([, what]) => what).join('; ')}. npm run test:all runs everything.\n`)
  }
}
