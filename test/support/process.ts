/** The real program in a separate process on its own ports; a test may kill it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { z } from 'zod'
import { compileCacheOf, THIS_TREE } from '../../ops/rehearse/rig/program.ts'
import { requireNamed } from './needs.ts'

const MAIN = join(THIS_TREE, 'src/main.ts')
/** A minute to start or stop, which only a broken program exceeds. */
export const PATIENCE = { timeout: 60_000, interval: 20 }

export type Settings = Readonly<Record<string, string>>

export interface Ending {
  /** Null if a signal killed it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const running = new Set<ChildProcess>()

/** Kills the processes that a failed test left running. Call it after each test. */
export async function killRemaining(): Promise<void> {
  for (const child of running) child.kill('SIGKILL')
  await vi.waitUntil(() => running.size === 0, PATIENCE)
}

const Listening = z.object({ event: z.literal('listening'), processId: z.string(), url: z.string(), wsUrl: z.string() })

export class Program {
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  #stdout = ''
  #stderr = ''

  /** Starts the program with these settings only, on free ports unless the settings name ports. */
  constructor(settings: Settings) {
    requireNamed('e2e')
    // A folder without a .env file.
    const own = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCacheOf(THIS_TREE) }
    const env = { ...own, PORT: '0', WS_PORT: '0', RATE_LIMIT_PER_MIN: '0', ...settings }
    this.#child = spawn(process.execPath, [MAIN], { cwd: tmpdir(), env, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(this.#child)
    this.#child.stdout?.on('data', (data) => (this.#stdout += String(data)))
    this.#child.stderr?.on('data', (data) => (this.#stderr += String(data)))
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        running.delete(this.#child)
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr })
      })
    })
  }

  /** Waits until it listens; resolves to its addresses. */
  async listening(): Promise<z.output<typeof Listening>> {
    return vi.waitUntil(() => {
      if (!running.has(this.#child)) throw new Error(`the program ended: ${this.#stderr}`)
      return this.#logged().find((line) => line !== null)
    }, PATIENCE)
  }

  /** Waits until its log contains this text. */
  async logs(text: string): Promise<void> {
    await vi.waitUntil(() => this.#stdout.includes(text), PATIENCE)
  }

  /** Closes the pipes that read its output. */
  stopReading(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  /** Freezes or resumes it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal)
  }

  /** Sends a signal and waits until the process ends. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<Ending> {
    this.#child.kill(signal)
    await vi.waitUntil(() => !running.has(this.#child), PATIENCE)
    return this.ended
  }

  #logged() {
    const lines = this.#stdout.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
    return lines.map((line) => Listening.safeParse(JSON.parse(line)).data ?? null)
  }
}
