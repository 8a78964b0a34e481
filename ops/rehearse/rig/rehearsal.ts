/** What rehearsals have in common: a folder, what they have started, and the report of a broken promise. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killRemaining } from './program.ts'
import type { TradingTally } from './trading-tally.ts'

export const say = (line: string): void => void process.stdout.write(`${line}\n`)

export class Rehearsal {
  readonly folder: string
  readonly #ends: (() => unknown)[] = []

  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `touchline-${name}-`))
  }

  /** What ends something that was started. The last is ended first. */
  later(end: () => unknown): void {
    this.#ends.push(end)
  }

  /**
   * Runs it, and ends the process: with 1 when a promise is broken. Then `facts` are reported, and the folder and what
   * `remove` would remove are kept.
   */
  async play(
    run: () => Promise<void>,
    { tally, facts, remove }: { tally: TradingTally; facts: string; remove?: () => Promise<void> },
  ): Promise<never> {
    try {
      await run()
    } catch (error) {
      say(`\n${tally.trading()}\n\nBROKEN (${facts}, ${this.folder})`)
      say(error instanceof Error ? (error.stack ?? error.message) : String(error))
      process.exitCode = 1
    } finally {
      for (const end of this.#ends.toReversed()) await end()
      // A deployment that has started only in part has no other owner.
      await killRemaining()
      if (process.exitCode !== 1) {
        await remove?.()
        rmSync(this.folder, { recursive: true, force: true })
      }
    }
    // The traders of a failed run still try to continue.
    process.exit()
  }
}
