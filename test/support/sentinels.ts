/** A master, a replica and three Sentinels that watch them: processes of one test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { freePort } from '../../ops/rehearse/rig/ports.ts'

const NAME = 'touchline'
const PASSWORD = 'p@ss/word'
const COUNT = 3
const PATIENCE = { timeout: 30_000, interval: 100 }

export class Sentinels {
  /** The address that the Sentinels resolve. */
  readonly url: string
  readonly #servers: ReadonlyMap<number, ChildProcess>
  readonly #sentinels: readonly ChildProcess[]
  readonly #sentinelPort: number
  readonly #folder: string

  private constructor(
    servers: ReadonlyMap<number, ChildProcess>,
    sentinels: ReadonlyMap<number, ChildProcess>,
    folder: string,
  ) {
    this.#servers = servers
    this.#sentinels = [...sentinels.values()]
    this.#sentinelPort = present([...sentinels.keys()][0], 'a Sentinel')
    this.#folder = folder
    const hosts = [...sentinels.keys()].map((port) => `127.0.0.1:${port}`).join(',')
    this.url = `redis+sentinel://:${encodeURIComponent(PASSWORD)}@${hosts}/${NAME}/0`
  }

  /** Throws if Redis is not installed. */
  static async start(): Promise<Sentinels> {
    const folder = await mkdtemp(join(tmpdir(), 'touchline-sentinels-'))
    const [master, replica] = [await freePort(), await freePort()]
    const settings = [
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--dir',
      folder,
      '--requirepass',
      PASSWORD,
      '--masterauth',
      PASSWORD,
    ]
    const servers = new Map([
      [master, await run('redis-server', ['--port', String(master), ...settings])],
      [
        replica,
        await run('redis-server', ['--port', String(replica), ...settings, '--replicaof', '127.0.0.1', String(master)]),
      ],
    ])
    const sentinels = new Map<number, ChildProcess>()
    for (let n = 0; n < COUNT; n++) {
      const port = await freePort()
      const file = join(folder, `sentinel-${n}.conf`)
      await writeFile(
        file,
        [
          `port ${port}`,
          'bind 127.0.0.1',
          `sentinel monitor ${NAME} 127.0.0.1 ${master} 2`,
          `sentinel auth-pass ${NAME} ${PASSWORD}`,
          `sentinel down-after-milliseconds ${NAME} 1000`,
          `sentinel failover-timeout ${NAME} 5000`,
          '',
        ].join('\n'),
      )
      sentinels.set(port, await run('redis-server', [file, '--sentinel']))
    }
    const started = new Sentinels(servers, sentinels, folder)
    await vi.waitUntil(() => started.#knowsAll(), PATIENCE)
    return started
  }

  /** The process that the Sentinels name as the master. */
  async master(): Promise<ChildProcess> {
    const client = this.#sentinel()
    try {
      const [, port] = texts(await client.call('SENTINEL', 'get-master-addr-by-name', NAME))
      return present(this.#servers.get(Number(port)), 'the master')
    } finally {
      client.disconnect()
    }
  }

  async stop(): Promise<void> {
    for (const child of [...this.#sentinels, ...this.#servers.values()]) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    }
    await rm(this.#folder, { recursive: true })
  }

  #sentinel(): Redis {
    const client = new Redis(this.#sentinelPort, { maxRetriesPerRequest: 1 })
    client.on('error', () => undefined)
    return client
  }

  /** A failover needs the replica in step, and a majority of Sentinels that know of each other. */
  async #knowsAll(): Promise<boolean> {
    const client = this.#sentinel()
    try {
      const told = texts(await client.call('SENTINEL', 'master', NAME))
      const field = (name: string): string | undefined => told[told.indexOf(name) + 1]
      if (field('num-slaves') !== '1' || field('num-other-sentinels') !== String(COUNT - 1)) return false
      const replicas: unknown = await client.call('SENTINEL', 'replicas', NAME)
      return JSON.stringify(replicas).includes('"master-link-status","ok"')
    } catch {
      return false
    } finally {
      client.disconnect()
    }
  }
}

const texts = (answer: unknown): readonly string[] => (Array.isArray(answer) ? answer.map(String) : [])

async function run(program: string, options: readonly string[]): Promise<ChildProcess> {
  const child = spawn(program, options, { stdio: 'ignore' })
  await once(child, 'spawn')
  return child
}
