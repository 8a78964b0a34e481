/** A private Redis server, which can be killed, emptied and frozen without affecting others. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { freePort } from './ports.ts'

export class OwnRedis {
  readonly url: string
  readonly #port: number
  readonly #folder: string
  #child: ChildProcess | null = null

  private constructor(port: number, folder: string) {
    this.#port = port
    this.#folder = folder
    this.url = `redis://127.0.0.1:${port}`
  }

  /** Throws if `redis-server` is not installed. */
  static async start(folder: string): Promise<OwnRedis> {
    const redis = new OwnRedis(await freePort(), folder)
    await redis.start()
    return redis
  }

  async start(): Promise<void> {
    if (this.#child !== null) return
    const options = ['--port', String(this.#port), '--bind', '127.0.0.1', '--save', '', '--dir', this.#folder]
    const child = spawn('redis-server', options, { stdio: 'ignore' })
    await once(child, 'spawn')
    this.#child = child
    const client = new Redis(this.url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
    client.on('error', () => undefined)
    await client.ping()
    client.disconnect()
  }

  /** Of the server, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** `kill -9`: nothing is kept. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  wake(): void {
    this.#child?.kill('SIGCONT')
  }

  flush(): Promise<void> {
    return this.#command((client) => client.flushall())
  }

  /** Changes a setting of the running server. */
  set(name: string, value: string): Promise<void> {
    return this.#command((client) => client.config('SET', name, value))
  }

  async #command(send: (client: Redis) => Promise<unknown>): Promise<void> {
    const client = new Redis(this.url, { maxRetriesPerRequest: 1 })
    client.on('error', () => undefined)
    await send(client)
    client.disconnect()
  }
}
