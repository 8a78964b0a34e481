/** Two PostgreSQL servers that the real Patroni keeps, with the configuration of `ops/deploy/patroni`, and etcd. */
import { type ChildProcess, execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { freePort } from '../rig/ports.ts'
import { childrenOf, killServer, type PostgresPrograms, signalIfThere } from '../rig/postgres.ts'
import type { Settings } from '../rig/program.ts'
import { Violation } from '../rig/account.ts'
import type { Backend, Databases, Death } from './databases.ts'

const CONFIGURATION = join(import.meta.dirname, '../../deploy/patroni/patroni.yaml')
const START_SCRIPT = join(import.meta.dirname, '../../deploy/patroni/start.sh')
const ROLE_SCRIPT = join(import.meta.dirname, '../../deploy/postgres/role.sh')
/** What each program comes with on Debian. */
const PACKAGES = { patroni: 'patroni python3-etcd', etcd: 'etcd-server', etcdctl: 'etcd-client' } as const
/** As in `ops/deploy/compose.yaml`. */
const USER = 'touchline'
const PASSWORD = 'rehearsed'
const LEADER = '/service/touchline/leader'
/** A first start makes a cluster of PostgreSQL, and copies it. */
const PATIENCE_MS = 120_000
const ANSWER_MS = 1_000
const LOOK_MS = 50
/** The end of Patroni's log that a failure shows. */
const LOG_CHARS = 2_000

/** For a death that Patroni notices itself, or whose lock is deleted. */
const SILENCE_MAX_MS = 10_000

interface Node {
  readonly name: string
  readonly port: number
  readonly checkPort: number
  readonly data: string
  readonly file: string
}

/** How the primary ends, in turn: its PostgreSQL alone, its whole machine, or its machine hangs for a while. */
const DEATHS = ['PostgreSQL killed', 'machine killed', 'machine frozen'] as const

export interface PatroniOptions {
  /** How long after the death of a machine its lock is deleted; null: never, so that it must run out. */
  readonly fenceMs: number | null
}

export class PatroniPair implements Databases {
  readonly backends: readonly Backend[]
  readonly #programs: PostgresPrograms
  readonly #folder: string
  readonly #nodes: readonly Node[]
  readonly #options: PatroniOptions
  readonly #etcd: string
  readonly #children = new Map<string, ChildProcess>()
  #primary: Node
  #death: (typeof DEATHS)[number] = DEATHS[0]

  private constructor(
    programs: PostgresPrograms,
    folder: string,
    nodes: readonly Node[],
    etcd: string,
    options: PatroniOptions,
  ) {
    this.backends = nodes
    this.#programs = programs
    this.#folder = folder
    this.#nodes = nodes
    this.#etcd = etcd
    this.#options = options
    this.#primary = present(nodes[0], 'a node')
  }

  /**
   * Starts etcd, a primary, and its synchronous standby, with their data in this folder. Throws with the names of
   * Debian's packages if a program is missing.
   */
  static async start(programs: PostgresPrograms, folder: string, options: PatroniOptions): Promise<PatroniPair> {
    demandPrograms()
    const etcd = await freePort()
    const nodes: Node[] = []
    for (const name of ['patroni-1', 'patroni-2']) {
      const parent = join(folder, name)
      programs.makeFolder(parent)
      const [port, checkPort] = [await freePort(), await freePort()]
      nodes.push({ name, port, checkPort, data: join(parent, 'data'), file: `${parent}.yaml` })
    }
    const pair = new PatroniPair(programs, folder, nodes, `127.0.0.1:${etcd}`, options)
    try {
      await pair.#startEtcd()
      for (const node of nodes) {
        writeFileSync(node.file, localConfiguration(node, programs.bin))
        await pair.#startPatroni(node)
        await pair.#until(node, node === pair.#primary ? 'primary' : 'synchronous')
      }
      return pair
    } catch (error) {
      await pair.stop()
      throw error
    }
  }

  url(port: number): string {
    return `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/touchline`
  }

  death(round: number): Death {
    const what = present(DEATHS[(round - 1) % DEATHS.length], 'a death')
    const waitsForLock = what !== 'PostgreSQL killed' && this.#options.fenceMs === null
    return { what, silenceMaxMs: SILENCE_MAX_MS + (waitsForLock ? lockMs() : 0) }
  }

  kill(round: number): Promise<void> {
    this.#death = present(DEATHS[(round - 1) % DEATHS.length], 'a death')
    const { name } = this.#primary
    const patroni = present(this.#children.get(name), 'a running Patroni')
    const server = serverOf(this.#primary)
    if (this.#death === 'machine frozen') {
      for (const pid of [present(patroni.pid, 'process id'), server, ...childrenOf(server)])
        signalIfThere(pid, 'SIGSTOP')
      return Promise.resolve()
    }
    if (this.#death === 'machine killed') {
      this.#children.delete(name)
      patroni.kill('SIGKILL')
    }
    killServer(server)
    return Promise.resolve()
  }

  /** Patroni promotes the standby. Resolves when it says so. */
  async replaced(): Promise<void> {
    const { fenceMs } = this.#options
    if (fenceMs !== null && this.#death !== 'PostgreSQL killed') {
      await pause(fenceMs)
      await promisify(execFile)('etcdctl', ['--endpoints', this.#etcd, '--user', `root:${PASSWORD}`, 'del', LEADER], {
        env: { ...process.env, ETCDCTL_API: '3' },
      })
    }
    this.#primary = this.#other
    await this.#until(this.#primary, 'primary')
  }

  /** A dead machine comes back, or a frozen one goes on; Patroni rewinds its PostgreSQL. */
  async rejoined(): Promise<void> {
    const former = this.#other
    if (this.#death === 'machine killed') await this.#startPatroni(former)
    if (this.#death === 'machine frozen') {
      const server = serverOf(former)
      const patroni = present(this.#children.get(former.name)?.pid, 'process id')
      for (const pid of [...childrenOf(server), server, patroni]) signalIfThere(pid, 'SIGCONT')
    }
    await this.#until(former, 'synchronous')
  }

  async stop(): Promise<void> {
    for (const [name, child] of this.#children) {
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await exit
      const node = this.#nodes.find((each) => each.name === name)
      if (node !== undefined && isRunning(node)) killServer(serverOf(node))
    }
    this.#children.clear()
  }

  get #other(): Node {
    return present(
      this.#nodes.find((node) => node !== this.#primary),
      'another node',
    )
  }

  async #startEtcd(): Promise<void> {
    const data = join(this.#folder, 'etcd')
    this.#programs.makeFolder(data)
    const [clients, peers] = [`http://${this.#etcd}`, `http://127.0.0.1:${await freePort()}`]
    const args = ['--data-dir', data, '--listen-client-urls', clients, '--advertise-client-urls', clients]
    args.push('--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers)
    args.push('--initial-cluster', `default=${peers}`)
    this.#children.set('etcd', await this.#programs.serve('etcd', args, {}, join(this.#folder, 'etcd.log')))
  }

  async #startPatroni({ name, port, checkPort, data, file }: Node): Promise<void> {
    const env: Settings = {
      HOME: dirname(data), // where Patroni keeps its password file
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: this.#etcd,
      PATRONI_ETCD3_USERNAME: 'root',
      PATRONI_ETCD3_PASSWORD: PASSWORD,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${checkPort}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${port}`,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: PASSWORD,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: PASSWORD,
      DATABASE_PASSWORD: PASSWORD,
    }
    const child = await this.#programs.serve(START_SCRIPT, [file], env, join(this.#folder, `${name}.log`))
    this.#children.set(name, child)
  }

  /** Resolves when Patroni's REST API says that the node has this role. */
  async #until({ name, checkPort }: Node, role: 'primary' | 'synchronous'): Promise<void> {
    const until = performance.now() + PATIENCE_MS
    const address = `http://127.0.0.1:${checkPort}/${role}`
    while (!(await isOk(address))) {
      // Patroni before 3.0.3 overwrites the lock when its machine goes on, and what was traded meanwhile is lost.
      if (role === 'synchronous' && (await isOk(`http://127.0.0.1:${checkPort}/primary`))) {
        throw new Violation(`${name} has come back and taken the lock from the new primary`)
      }
      const hasEnded = typeof this.#children.get(name)?.exitCode === 'number'
      if (hasEnded || performance.now() > until) {
        const log = readFileSync(join(this.#folder, `${name}.log`), 'utf8').slice(-LOG_CHARS)
        throw new Error(`${name} ${hasEnded ? 'has ended' : `is not ${role} after ${PATIENCE_MS} ms`}:\n${log}`)
      }
      await pause(LOOK_MS)
    }
  }
}

function demandPrograms(): void {
  const missing = Object.entries(PACKAGES).filter(([name]) => spawnSync(name, ['--version']).error !== undefined)
  if (missing.length === 0) return
  const [names, packages] = [missing.map(([name]) => name), missing.map(([, each]) => each)]
  throw new Error(`${names.join(', ')} missing; on Debian: apt-get install ${packages.join(' ')}`)
}

/** The deployed configuration, with only addresses and paths replaced. */
function localConfiguration({ port, checkPort, data }: Node, bin: string): string {
  return readFileSync(CONFIGURATION, 'utf8')
    .replace('listen: 0.0.0.0:8008', `listen: 127.0.0.1:${checkPort}`)
    .replace('listen: 0.0.0.0:5432', `listen: 127.0.0.1:${port}`)
    .replace(/data_dir: .*/, `data_dir: ${data}`)
    .replace(/bin_dir: .*/, `bin_dir: ${bin}`)
    .replace('/role.sh', ROLE_SCRIPT)
}

/** How long the lock of a dead machine holds. */
function lockMs(): number {
  const Configuration = z.object({ bootstrap: z.object({ dcs: z.object({ ttl: z.int() }) }) })
  return Configuration.parse(parse(readFileSync(CONFIGURATION, 'utf8'))).bootstrap.dcs.ttl * 1_000
}

/** The process id of a node's PostgreSQL. */
const serverOf = ({ data }: Node): number => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])

/** Whether that process is PostgreSQL still: the file outlives it, and its number may be another's. */
function isRunning(node: Node): boolean {
  try {
    return execFileSync('ps', ['-o', 'args=', '-p', String(serverOf(node))], { encoding: 'utf8' }).includes(node.data)
  } catch {
    return false
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })).ok
  } catch {
    return false
  }
}
