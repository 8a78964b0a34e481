/** The real program as a process of its own, on ports of its own, which a test may kill. */
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { z } from 'zod'
import { requireNamed } from './needs.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
/** How long it may take to start or to stop; only a broken one does. */
export const PATIENCE = { timeout: 60_000, interval: 20 }

export type Settings = Readonly<Record<string, string>>

export interface Ending {
  /** Null when a signal has killed it. */
  readonly code: number | null
  readonly said: string
  /** What it wrote to its standard error. */
  readonly complained: string
}

const running = new Set<ChildProcess>()

/** Kills what a failed test has left running. To be called after each test. */
export async function killTheRest(): Promise<void> {
  for (const child of running) child.kill('SIGKILL')
  await vi.waitUntil(() => running.size === 0, PATIENCE)
}

const Listening = z.object({ event: z.literal('listening'), processId: z.string(), url: z.string(), wsUrl: z.string() })

export class Program {
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  #said = ''
  #complained = ''

  /** Starts it with these settings and no others; ports are free ones unless the settings say which. */
  constructor(settings: Settings) {
    requireNamed('e2e')
    // From a folder without a .env of ours.
    const env = { PATH: process.env['PATH'], PORT: '0', WS_PORT: '0', RATE_LIMIT_PER_MIN: '0', ...settings }
    this.#child = spawn(process.execPath, [MAIN], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(this.#child)
    this.#child.stdout?.on('data', (data) => (this.#said += String(data)))
    this.#child.stderr?.on('data', (data) => (this.#complained += String(data)))
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        running.delete(this.#child)
        resolve({ code, said: this.#said, complained: this.#complained })
      })
    })
  }

  /** Where it listens, once it does. */
  async listening(): Promise<z.output<typeof Listening>> {
    return vi.waitUntil(() => {
      if (!running.has(this.#child)) throw new Error(`it ended: ${this.#complained}`)
      return this.#logged().find((line) => line !== null)
    }, PATIENCE)
  }

  /** Waits until it has written this. */
  async says(text: string): Promise<void> {
    await vi.waitUntil(() => this.#said.includes(text), PATIENCE)
  }

  /** Nobody reads any more what it writes. */
  stopReading(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  /** Stops it where it is, or wakes it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** Sends a signal and waits for the end. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ending> {
    this.#child.kill(signal)
    await vi.waitUntil(() => !running.has(this.#child), PATIENCE)
    return this.ended
  }

  #logged() {
    const lines = this.#said.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
    return lines.map((line) => Listening.safeParse(JSON.parse(line)).data ?? null)
  }
}
