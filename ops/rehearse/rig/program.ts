/** The real program as a process of its own: started, asked for its addresses, and killed without warning. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { present } from '../../../actors/kernel/assert.ts'
import { z } from 'zod'
import { bareEnvironment, THIS_TREE } from './bare-environment.ts'

/**
 * Longer than any successful start. A start needs two seconds of computing, which takes half a minute while twenty
 * other processes use the same two cores; the stores may also have to wake up.
 */
const START_MS = 180_000
/** The last lines of output are enough to see how far it got. */
const LAST_LINES = 5
/** Characters of its output that are kept. */
const OUTPUT_MAX = 4 * 1024 * 1024
const STOP_MS = 20_000

export type Settings = Readonly<Record<string, string>>

/** For simulated users alone: no other user trades, nothing is limited, and `<name> Auditor` is an admin. */
export const rehearsing = (name: string, speed: number): Settings => ({
  DEMO_SPEED: String(speed),
  DEMO_TRADERS: '0',
  RATE_LIMIT_PER_MIN: '0',
  LOG_LEVEL: 'info', // says which process it is
  JWT_ACCESS_EXPIRY: '7d',
  BUS_KEY: randomBytes(32).toString('hex'),
  ADMIN_EMAILS: `${name.toLowerCase()}_auditor@synthetic.invalid`,
})

const Package = z.looseObject({ scripts: z.looseObject({ start: z.string() }) })
/** The options of Node in the command of `npm start`; paths are from the tree of the program. */
export const START_OPTIONS: readonly string[] = Package.parse(
  JSON.parse(readFileSync(join(THIS_TREE, 'package.json'), 'utf8')),
)
  .scripts.start.split(' ')
  .slice(1, -1)

const running = new Set<Program>()

export interface Addresses {
  /** Of the REST API. */
  readonly url: string
  /** Of the sockets. */
  readonly wsUrl: string
  /** The owner id of its leases; empty when it logs nothing but errors. */
  readonly processId: string
}

export interface Ending {
  /** Null if a signal killed it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export class Program {
  readonly pid: number
  /** Resolves once it listens; rejects when the process ends before, or takes too long. */
  readonly listening: Promise<Addresses>
  /** Resolves when the process is gone. */
  readonly ended: Promise<Ending>
  readonly startedAt = performance.now()
  readonly #child: ChildProcess
  /** Lines that it logged as errors. */
  readonly errors: string[] = []
  /** As in its addresses; empty before it listens. */
  processId = ''
  #stdout = ''
  #stderr = ''

  /**
   * Starts the program with exactly these settings, and options of Node (those of `npm start`), in a folder without a
   * `.env`. Another `tree` is another version of it. `runs` is put before the command: one that runs it elsewhere.
   */
  constructor(settings: Settings, options = START_OPTIONS, tree = THIS_TREE, runs: readonly string[] = []) {
    const env = { ...bareEnvironment(tree), PORT: '0', WS_PORT: '0', LOG_LEVEL: 'error', ...settings }
    const here = options.map((word) => (word.startsWith('./') ? join(tree, word) : word))
    const command = [...runs, process.execPath, ...here, join(tree, 'src/main.ts')]
    this.#child = spawn(present(command[0], 'a command'), command.slice(1), {
      cwd: tmpdir(),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(this)
    this.pid = this.#child.pid ?? 0
    this.#child.stderr?.on('data', (data) => (this.#stderr += String(data)))
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        running.delete(this)
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr })
      })
    })
    this.listening = this.#addresses()
    // A caller that kills it during its start does not wait for its address.
    this.listening.catch(() => undefined)
  }

  get isGone(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** What it has written so far. */
  get stdout(): string {
    return this.#stdout
  }

  /** Why it ended unasked, as far as it reported, and its last output. */
  get complaint(): string {
    return [this.#stderr.trim(), ...this.#stdout.trimEnd().split('\n').slice(-LAST_LINES)].join('\n')
  }

  /** `kill -9`, and waits for the end. */
  async kill(): Promise<Ending> {
    this.#child.kill('SIGKILL')
    return this.ended
  }

  /** Freezes it until it is woken. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  wake(): void {
    this.#child.kill('SIGCONT')
  }

  /** Asks it to stop. The exit code is null if it had to be killed. */
  async stop(): Promise<Ending> {
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    const ending = await this.ended
    clearTimeout(late)
    return ending
  }

  /** Closes the pipes that read its output. */
  stopReading(): void {
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
  }

  #addresses(): Promise<Addresses> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`it did not start: ${this.complaint}`)), START_MS)
      let [line, wsUrl] = ['', '']
      this.#child.stdout?.on('data', (data) => {
        this.#stdout = (this.#stdout + String(data)).slice(-OUTPUT_MAX)
        const lines = (line + String(data)).split('\n')
        line = lines.pop() ?? ''
        for (const whole of lines) {
          if (whole.includes('"level":"error"')) this.errors.push(whole)
          // It logs its addresses; in development it also prints a welcome, whatever it logs.
          wsUrl ||= (/"wsUrl":"([^"]+)"/.exec(whole) ?? /WebSocket +(\S+)\/\?token/.exec(whole))?.[1] ?? ''
          this.processId ||= /"processId":"([\w-]+)"/.exec(whole)?.[1] ?? ''
          const url = /"event":"listening".*"url":"([^"]+)"/.exec(whole) ?? /Docs +(\S+)\/api\/docs\b/.exec(whole)
          if (url !== null) resolve({ url: url[1] ?? '', wsUrl, processId: this.processId })
        }
      })
      void this.ended.then(() => {
        clearTimeout(late)
        reject(new Error(`it ended: ${this.complaint}`))
      })
      this.#child.stdout?.once('close', () => clearTimeout(late))
    })
  }
}

/** Kills the programs that are left, as a failed test or start leaves them. */
export async function killRemaining(): Promise<void> {
  await Promise.all([...running].map((program) => program.kill()))
}
