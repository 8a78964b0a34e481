/** The real program as a process of its own: started, asked for its address, and killed without warning. */
import { type ChildProcess, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { present } from '../../../actors/kernel/assert.ts'

/** The tree of files that this rehearsal belongs to. */
export const THIS_TREE = join(import.meta.dirname, '../../..')
/**
 * Longer than any successful start. A start needs two seconds of computing, which takes half a minute while twenty
 * other processes use the same two cores; the stores may also have to wake up.
 */
const START_MS = 180_000
/** The last lines of output are enough to see how far it got. */
const LAST_LINES = 5
const STOP_MS = 20_000

/** Without it each start of a program compiles the same files again, which is half of its processor time. */
export const compileCacheOf = (tree: string): string => join(tree, 'node_modules/.cache/touchline/compiled')

export type Settings = Readonly<Record<string, string>>

export class Program {
  readonly pid: number
  /**
   * Resolves with the address of the REST API once it listens; rejects when the process ends before, or takes too long.
   */
  readonly listening: Promise<string>
  /** Resolves when the process is gone: with its exit code, null when a signal ended it. */
  readonly gone: Promise<number | null>
  readonly startedAt = performance.now()
  readonly #child: ChildProcess
  /** Lines that it logged as errors. */
  readonly errors: string[] = []
  /** The owner id of its leases; empty before it listens, and when it logs nothing but errors. */
  processId = ''
  /** The address of its sockets; null under the same conditions. */
  wsUrl: string | null = null
  #complained = ''
  #said: readonly string[] = []

  /**
   * Starts the program with exactly these settings, and options of Node, in a folder without a `.env`. Another `tree`
   * is another version of it. `runs` is put before the command: one that runs it elsewhere.
   */
  constructor(settings: Settings, options: readonly string[] = [], tree = THIS_TREE, runs: readonly string[] = []) {
    const own = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: compileCacheOf(tree) }
    const env = { ...own, PORT: '0', WS_PORT: '0', LOG_LEVEL: 'error', ...settings }
    const command = [...runs, process.execPath, ...options, join(tree, 'src/main.ts')]
    this.#child = spawn(present(command[0], 'a command'), command.slice(1), {
      cwd: tmpdir(),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.pid = this.#child.pid ?? 0
    this.#child.stderr?.on('data', (data) => (this.#complained += String(data)))
    this.gone = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)))
    this.listening = this.#address()
    // A caller that kills it during its start does not wait for its address.
    this.listening.catch(() => undefined)
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Why it ended unasked, as far as it reported, and its last output. */
  get complaint(): string {
    return [this.#complained.trim(), ...this.#said].join('\n')
  }

  /** `kill -9`, and waits for the end. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.gone
  }

  /** Freezes it until it is woken. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  wake(): void {
    this.#child.kill('SIGCONT')
  }

  /** Asks it to stop. Its exit code; null if it had to be killed. */
  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    const code = await this.gone
    clearTimeout(late)
    return code
  }

  #address(): Promise<string> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`it did not start: ${this.complaint}`)), START_MS)
      let line = ''
      this.#child.stdout?.on('data', (data) => {
        const lines = (line + String(data)).split('\n')
        line = lines.pop() ?? ''
        this.#said = [...this.#said, ...lines].slice(-LAST_LINES)
        for (const whole of lines) {
          const url = /REST +(\S+)\/api\b/.exec(whole)?.[1]
          if (url !== undefined) resolve(url)
          if (whole.includes('"level":"error"')) this.errors.push(whole)
          this.wsUrl ??= /"wsUrl":"([^"]+)"/.exec(whole)?.[1] ?? null
          this.processId ||= /"processId":"([\w-]+)"/.exec(whole)?.[1] ?? ''
        }
      })
      void this.gone.then(() => {
        clearTimeout(late)
        reject(new Error(`it ended: ${this.complaint}`))
      })
      this.#child.stdout?.once('close', () => clearTimeout(late))
    })
  }
}
