/** A private NATS server of a benchmark. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../actors/kernel/assert.ts'
import { freePort } from '../rehearse/rig/free-port.ts'
import { connected } from './bus-order.ts'

const TRIES = 50
const RETRY_MS = 100

export class OwnNats {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess) {
    this.url = url
    this.#child = child
  }

  /** Throws if `nats-server` is not installed. */
  static async start(): Promise<OwnNats> {
    const port = await freePort()
    const child = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
    await once(child, 'spawn')
    const url = `nats://127.0.0.1:${port}`
    for (let tries = 1; ; tries++) {
      try {
        const end = await connected({ engine: 'nats', url })
        await end.close()
        return new OwnNats(url, child)
      } catch (error) {
        if (tries === TRIES) throw error
        await pause(RETRY_MS)
      }
    }
  }

  get pid(): number {
    return present(this.#child.pid, 'pid of NATS')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }
}
