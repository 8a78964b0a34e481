/** Three masters with a replica each, which form a Redis Cluster: processes of one test. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { RedisCluster } from '../../db/fast/redis-cluster.ts'
import { accepts, freePort } from '../../ops/rehearse/rig/ports.ts'

const PASSWORD = 'p@ss/word'
const MASTERS = 3
const SLOTS = 16_384
const PATIENCE = { timeout: 30_000, interval: 100 }

interface Node {
  readonly port: number
  readonly busPort: number
  readonly process: ChildProcess
}

export class RedisNodes {
  readonly #nodes: Node[] = []
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Throws if Redis is not installed. */
  static async start(): Promise<RedisNodes> {
    const started = new RedisNodes(await mkdtemp(join(tmpdir(), 'touchline-redis-cluster-')))
    try {
      for (let n = 0; n < 2 * MASTERS; n++) await started.#run()
      await started.#form()
      return started
    } catch (error) {
      await started.stop()
      throw error
    }
  }

  /** Names one of the masters only: the others are found. */
  get url(): string {
    return `redis+cluster://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${this.#first.port}`
  }

  /** A client that reads every node, connected. */
  async client(): Promise<RedisCluster> {
    const nodes = this.#nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
    const client = new RedisCluster(nodes, { password: PASSWORD, retryStrategy: () => 50 })
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  /** The process of the master that has a key. */
  async masterOf(key: string): Promise<ChildProcess> {
    const client = await this.client()
    const port = present(client.masterOf(key), 'the master').options.port
    client.disconnect()
    return present(
      this.#nodes.find((node) => node.port === port),
      'its process',
    ).process
  }

  async isReplica(process: ChildProcess): Promise<boolean> {
    const { port } = present(
      this.#nodes.find((node) => node.process === process),
      'its node',
    )
    const [role] = await this.#on(port, (client) => client.role())
    return role === 'slave'
  }

  /** Changes a setting of one node. */
  async set(node: number, name: string, value: string): Promise<void> {
    await this.#on(present(this.#nodes[node], 'a node').port, (client) => client.config('SET', name, value))
  }

  async stop(): Promise<void> {
    for (const { process } of this.#nodes) {
      if (process.exitCode !== null || process.signalCode !== null) continue
      const gone = once(process, 'exit')
      process.kill('SIGKILL')
      await gone
    }
    await rm(this.#folder, { recursive: true })
  }

  get #first(): Node {
    return present(this.#nodes[0], 'a node')
  }

  /** Starts one more server. */
  async #run(): Promise<void> {
    const [port, busPort] = [await freePort(), await freePort()]
    const settings = {
      port: String(port),
      'cluster-port': String(busPort),
      bind: '127.0.0.1',
      save: '',
      dir: this.#folder,
      requirepass: PASSWORD,
      masterauth: PASSWORD,
      'cluster-enabled': 'yes',
      'cluster-config-file': `nodes-${port}.conf`,
      'cluster-node-timeout': '2000',
      'repl-diskless-sync-delay': '0',
      'repl-ping-replica-period': '1',
    }
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
    const process = spawn('redis-server', options, { stdio: 'ignore' })
    await once(process, 'spawn')
    this.#nodes.push({ port, busPort, process })
    await vi.waitUntil(() => {
      if (process.exitCode !== null) throw new Error(`redis-server ended with ${process.exitCode}`)
      return accepts(port)
    }, PATIENCE)
  }

  /** Makes one cluster of the servers. */
  async #form(): Promise<void> {
    const masters = this.#nodes.slice(0, MASTERS)
    for (const [n, node] of masters.entries()) {
      const from = Math.floor((n * SLOTS) / MASTERS)
      const to = Math.floor(((n + 1) * SLOTS) / MASTERS) - 1
      await this.#on(node.port, (client) => client.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1))
      await this.#on(node.port, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', from, to))
    }
    for (const node of masters.slice(1)) await this.#meet(node)
    for (const [n, node] of this.#nodes.slice(MASTERS).entries()) {
      const master = present(masters[n], 'a master').port
      const id = await this.#on(master, (client) => client.call('CLUSTER', 'MYID'))
      // A node takes the order once it has heard of its master. Redis gives up an introduction that takes too long.
      const follows = async () => {
        await this.#meet(node)
        return this.#on(node.port, (client) => client.call('CLUSTER', 'REPLICATE', String(id)))
      }
      await vi.waitUntil(() => follows().then(always(true), always(false)), PATIENCE)
    }
    for (const { port } of this.#nodes) await vi.waitUntil(() => this.#isWhole(port), PATIENCE)
  }

  /** Introduces a server to the first. */
  async #meet({ port, busPort }: Node): Promise<void> {
    await this.#on(this.#first.port, (client) => client.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort))
  }

  async #on<T>(port: number, ask: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(port, { password: PASSWORD, maxRetriesPerRequest: 20, retryStrategy: () => 50 })
    client.on('error', () => undefined)
    try {
      return await ask(client)
    } finally {
      client.disconnect()
    }
  }

  /** A failover needs every node to know all, and the replicas to be in step. */
  async #isWhole(port: number): Promise<boolean> {
    const [state, slots, replication] = await this.#on(port, async (client) =>
      Promise.all([client.call('CLUSTER', 'INFO'), client.call('CLUSTER', 'SLOTS'), client.info('replication')]),
    )
    // From, to, master, replica. A replica is listed when it has heard something.
    const isKnown =
      Array.isArray(slots) && slots.filter((row) => Array.isArray(row) && row.length === 4).length === MASTERS
    const isInStep = /master_link_status:up|role:master[^]*state=online/.test(replication)
    return isKnown && String(state).includes('cluster_state:ok') && isInStep
  }
}

const always =
  (answer: boolean): (() => boolean) =>
  () =>
    answer
