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
  /** Names one of the masters only: the others are found. */
  readonly url: string
  readonly #nodes: readonly Node[]
  readonly #folder: string

  private constructor(nodes: readonly Node[], folder: string) {
    this.#nodes = nodes
    this.#folder = folder
    this.url = `redis+cluster://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${present(nodes[0], 'a node').port}`
  }

  /** Throws if Redis is not installed. */
  static async start(): Promise<RedisNodes> {
    const folder = await mkdtemp(join(tmpdir(), 'touchline-redis-cluster-'))
    const nodes: Node[] = []
    for (let n = 0; n < 2 * MASTERS; n++) nodes.push(await startNode(folder))
    const started = new RedisNodes(nodes, folder)
    const [first] = nodes
    const masters = nodes.slice(0, MASTERS)
    for (const [n, node] of masters.entries()) {
      const from = Math.floor((n * SLOTS) / MASTERS)
      const to = Math.floor(((n + 1) * SLOTS) / MASTERS) - 1
      await started.#on(node.port, (client) => client.call('CLUSTER', 'SET-CONFIG-EPOCH', n + 1))
      await started.#on(node.port, (client) => client.call('CLUSTER', 'ADDSLOTSRANGE', from, to))
    }
    const meet = ({ port, busPort }: Node) => {
      const met = ['MEET', '127.0.0.1', port, busPort]
      return started.#on(present(first, 'a node').port, (client) => client.call('CLUSTER', ...met))
    }
    for (const node of masters.slice(1)) await meet(node)
    for (const [n, node] of nodes.slice(MASTERS).entries()) {
      const master = present(masters[n], 'a master').port
      const id = await started.#on(master, (client) => client.call('CLUSTER', 'MYID'))
      // A node takes the order when it has heard of its master. It is not introduced again by itself.
      const follows = async () => {
        await meet(node)
        return started.#on(node.port, (client) => client.call('CLUSTER', 'REPLICATE', String(id)))
      }
      await vi.waitUntil(() => follows().then(always(true), always(false)), PATIENCE)
    }
    for (const { port } of nodes) await vi.waitUntil(() => started.#isWhole(port), PATIENCE)
    return started
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

async function startNode(folder: string): Promise<Node> {
  const [port, busPort] = [await freePort(), await freePort()]
  const settings = {
    port: String(port),
    'cluster-port': String(busPort),
    bind: '127.0.0.1',
    save: '',
    dir: folder,
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
  await vi.waitUntil(() => {
    if (process.exitCode !== null) throw new Error(`redis-server ended with ${process.exitCode}`)
    return accepts(port)
  }, PATIENCE)
  return { port, busPort, process }
}

const always =
  (answer: boolean): (() => boolean) =>
  () =>
    answer
