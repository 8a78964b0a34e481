/** The real program as operators run it: one process that serves clients, and two that run matches. */
import { demand } from './account.ts'
import { freePort } from './ports.ts'
import { Program, type Settings } from './program.ts'

const ROOMS = 2

export class Processes {
  /** The address for clients. */
  readonly url: string
  readonly #settings: Settings
  readonly #all: Program[]

  private constructor(url: string, settings: Settings, api: Program) {
    this.url = url
    this.#settings = settings
    this.#all = [api]
  }

  /** Starts the process for clients alone: no match runs until `startRooms`. */
  static async start(settings: Settings): Promise<Processes> {
    const own = { ROLES: 'api', DEMO_REPLAY: 'none', PORT: String(await freePort()) }
    const api = new Program({ ...settings, ...own })
    return new Processes((await api.listening).url, settings, api)
  }

  async startRooms(): Promise<void> {
    const rooms = Array.from({ length: ROOMS }, () => new Program({ ...this.#settings, ROLES: 'rooms' }))
    this.#all.push(...rooms)
    await Promise.all(rooms.map((program) => program.listening))
  }

  /** Throws a Violation if one of them has ended. */
  demandAlive(): void {
    const fallen = this.#all.find((program) => program.isGone)
    demand(fallen === undefined, () => `a process ended unasked: ${fallen?.complaint}`)
  }

  async kill(): Promise<void> {
    await Promise.all(this.#all.map((program) => program.kill()))
  }
}
