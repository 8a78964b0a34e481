/** Two processes of each role behind nginx, as in `ops/deploy/compose.yaml`. Each can be restarted at its address. */
import { join } from 'node:path'
import { present } from '../../../actors/kernel/assert.ts'
import { THIS_TREE } from '../rig/bare-environment.ts'
import { Program, type Settings } from '../rig/program.ts'
import { freePort } from '../rig/ports.ts'
import { type Addresses, Proxy } from './proxy.ts'

/** In restart order. */
export const NAMES = ['api-1', 'api-2', 'rooms-1', 'rooms-2'] as const
export type Name = (typeof NAMES)[number]

interface Member {
  settings: Settings
  program: Program
}

export class Cluster {
  /** The address for clients. */
  readonly url: string
  readonly #members: ReadonlyMap<Name, Member>
  readonly #proxy: Proxy
  /** What processes logged that have ended. */
  readonly #formerErrors: string[] = []
  #tree: string

  private constructor(url: string, members: ReadonlyMap<Name, Member>, proxy: Proxy, tree: string) {
    this.url = url
    this.#members = members
    this.#proxy = proxy
    this.#tree = tree
  }

  /** Starts the cluster, of the version in `tree`. `settings` are those that the processes have in common. */
  static async start(settings: Settings, folder: string, tree = THIS_TREE): Promise<Cluster> {
    const entrance = await freePort()
    const members = new Map<Name, Member>()
    const addresses = new Map<Parameters<Addresses['get']>[0], string>()
    for (const name of NAMES) {
      const [port, wsPort] = [await freePort(), await freePort()]
      addresses.set(`${name}:3000`, `127.0.0.1:${port}`).set(`${name}:3001`, `127.0.0.1:${wsPort}`)
      const role = name.startsWith('api') ? 'api' : 'rooms'
      const own: Settings = {
        ...settings,
        ROLES: role,
        PORT: String(port),
        WS_PORT: String(wsPort),
        TRUSTED_PROXIES: '1',
        PUBLIC_WS_URL: `ws://127.0.0.1:${entrance}/${role === 'api' ? 'feed' : name}`,
        ...(role === 'api' ? { DEMO_REPLAY: 'none' } : {}),
      }
      const program = new Program(own, undefined, tree)
      members.set(name, { settings: own, program })
      await program.listening // the first process makes the schema and the signing key
    }
    const proxy = await Proxy.start(join(folder, 'nginx'), entrance, addresses)
    return new Cluster(`http://127.0.0.1:${entrance}`, members, proxy, tree)
  }

  /** Asks a process to stop. Resolves with its exit code, null if it had to be killed. */
  async stop(name: Name): Promise<number | null> {
    return (await this.#at(name).program.stop()).code
  }

  /** Resolves with the exit code of a process when it has ended by itself. */
  async gone(name: Name): Promise<number | null> {
    return (await this.#at(name).program.ended).code
  }

  /** Starts it again at the same address, and waits until it listens. */
  async start(name: Name): Promise<void> {
    const member = this.#at(name)
    this.#formerErrors.push(...member.program.errors)
    member.program = new Program(member.settings, undefined, this.#tree)
    await member.program.listening
  }

  /** From their next start on, all processes have these settings instead. */
  configure(settings: Settings): void {
    for (const member of this.#members.values()) member.settings = { ...member.settings, ...settings }
  }

  /** From their next start on, all processes are of the version in this tree. */
  use(tree: string): void {
    this.#tree = tree
  }

  /** Lines that any of them has logged as errors. */
  get errors(): readonly string[] {
    return [...this.#formerErrors, ...[...this.#members.values()].flatMap(({ program }) => program.errors)]
  }

  async end(): Promise<void> {
    await this.#proxy.stop()
    for (const { program } of this.#members.values()) await program.kill()
  }

  #at(name: Name): Member {
    return present(this.#members.get(name), `process ${name}`)
  }
}
