/** The real program in a process of its own, as tests start it; a test may kill it. */
import { vi } from 'vitest'
import { Program as Started, type Settings } from '../../ops/rehearse/rig/program.ts'
import { requireNamed } from './needs.ts'

export { killRemaining, type Settings } from '../../ops/rehearse/rig/program.ts'

/** A minute for what only a broken program does not do. */
export const PATIENCE = { timeout: 60_000, interval: 20 }

export class Program extends Started {
  /** Starts it with these settings, on free ports unless they name ports. */
  constructor(settings: Settings) {
    requireNamed('e2e')
    super({ LOG_LEVEL: 'info', RATE_LIMIT_PER_MIN: '0', ...settings })
  }

  /** Waits until its log contains this text. */
  async logs(text: string): Promise<void> {
    await vi.waitUntil(() => this.stdout.includes(text), PATIENCE)
  }
}
