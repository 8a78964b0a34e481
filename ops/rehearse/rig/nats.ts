/** A NATS server of this run, on loopback. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { accepts, freePort } from './ports.ts'

const TRIES = 50
const TRY_EVERY_MS = 100

export class OwnNats {
  readonly url: string
  readonly pid: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `nats://127.0.0.1:${port}`
    this.pid = present(child.pid, 'pid of NATS')
  }

  /** Resolves when it accepts connections. Rejects if it cannot be started. */
  static async start(): Promise<OwnNats> {
    const port = await freePort()
    const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
    await once(child, 'spawn')
    const server = new OwnNats(child, port)
    for (let tries = 1; !(await accepts(port)); tries++) {
      if (tries === TRIES) {
        await server.kill()
        throw new Error('NATS accepts no connections')
      }
      await pause(TRY_EVERY_MS)
    }
    return server
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
