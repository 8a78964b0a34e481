/**
 * Publish/subscribe between simulated processes, with a server in the middle: messages take time, those of one
 * publisher arrive in order, a connection can be silent without breaking, and the server can be away.
 */
import type { PubSub } from '../../../rooms/cluster/bus.ts'
import type { Chance } from '../../../actors/replay/chance.ts'
import type { Schedule, VirtualTime } from './virtual-time.ts'

export interface NetworkOptions {
  readonly time: VirtualTime
  readonly chance: Chance
  /** A message reaches the server, or leaves it for a subscriber. */
  readonly onMessage: (direction: 'in' | 'out', end: SimulatedEnd) => void
}

/** On the way to the server, or from it. */
const HOP_MS = { least: 0.1, spread: 1.5 } as const
/** After this time without an answer a command has failed, and after that the connection is ended. */
const COMMAND_MS = 1_000
const SILENT_MS = 3_000
/** Between two attempts to connect. */
const RETRY_MS = { least: 50, spread: 950 } as const

export class SimulatedNetwork {
  readonly #options: NetworkOptions
  readonly #ends = new Set<SimulatedEnd>()
  #isAway = false

  constructor(options: NetworkOptions) {
    this.#options = options
  }

  get isAway(): boolean {
    return this.#isAway
  }

  end(owner: Schedule): SimulatedEnd {
    const end = new SimulatedEnd(this, this.#options, owner)
    this.#ends.add(end)
    return end
  }

  /** The server stops, and all connections with it. */
  stop(): void {
    this.#isAway = true
    for (const end of this.#ends) end.drop()
  }

  /** The server is back; each client connects when it tries again. */
  start(): void {
    this.#isAway = false
  }

  /** At the server: hands a message to all who listen. Returns how many these are. */
  deliver(channel: string, message: Buffer): number {
    let receivers = 0
    for (const end of this.#ends) {
      if (!end.listensTo(channel)) continue
      receivers++
      end.take(channel, message)
    }
    return receivers
  }

  forget(end: SimulatedEnd): void {
    this.#ends.delete(end)
  }
}

/** The connection of one process. */
export class SimulatedEnd implements PubSub {
  readonly #network: SimulatedNetwork
  readonly #options: NetworkOptions
  readonly #owner: Schedule
  readonly #listeners = new Map<string, (message: Buffer) => void>()
  /** The channels that the server knows of. */
  readonly #subscribed = new Set<string>()
  readonly #onGap: (() => void)[] = []
  #state: 'up' | 'down' | 'closed' = 'up'
  /** Nothing arrives in either direction, and neither side is told. */
  #isSilent = false
  /** On the way while the connection is silent. */
  #held: (() => void)[] = []
  /** When the last message on the way arrives, in each direction. */
  #arrivals = { there: 0, here: 0 }
  /** Counts the connections of this end: what was on the way in a former one is lost. */
  #connection = 0

  constructor(network: SimulatedNetwork, options: NetworkOptions, owner: Schedule) {
    this.#network = network
    this.#options = options
    this.#owner = owner
    if (network.isAway) this.drop()
  }

  async publish(channel: string, message: Buffer): Promise<void> {
    await this.send(channel, message)
  }

  send(channel: string, message: Buffer): Promise<number> {
    const { onMessage } = this.#options
    const copy = Buffer.from(message)
    return this.#ask(() => {
      onMessage('in', this)
      return this.#network.deliver(channel, copy)
    })
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    this.#listeners.set(channel, onMessage)
    await this.#ask(() => void this.#subscribed.add(channel))
  }

  async unsubscribe(channel: string): Promise<void> {
    const listener = this.#listeners.get(channel)
    await this.#ask(() => void this.#subscribed.delete(channel)).catch(() => undefined)
    if (this.#listeners.get(channel) === listener) this.#listeners.delete(channel)
  }

  onGap(listener: () => void): void {
    this.#onGap.push(listener)
  }

  reconnect(): void {
    this.drop()
  }

  async close(): Promise<void> {
    this.vanish()
    this.#state = 'closed'
  }

  get isMute(): boolean {
    return this.#isSilent
  }

  /** The connection is silent from now on. */
  mute(): void {
    this.#isSilent = true
  }

  /** What was on the way arrives, if the connection still exists. */
  unmute(): void {
    this.#isSilent = false
    for (const arrive of this.#held.splice(0)) arrive()
  }

  /** The connection breaks, and both sides notice. The client tries to connect again. */
  drop(): void {
    if (this.#state === 'closed') return
    const wasUp = this.#state === 'up'
    this.#state = 'down'
    this.#connection++
    this.#subscribed.clear()
    this.#held = []
    if (wasUp) this.#retry()
  }

  /** The process has died, and the kernel closes its connection. */
  vanish(): void {
    this.#state = 'closed'
    this.#connection++
    this.#subscribed.clear()
    this.#network.forget(this)
  }

  listensTo(channel: string): boolean {
    return this.#subscribed.has(channel)
  }

  take(channel: string, message: Buffer): void {
    this.#options.onMessage('out', this)
    this.#travel('here', () => this.#listeners.get(channel)?.(message), this.#owner)
  }

  /** The answer of the server to a command. */
  #ask<T>(carryOut: () => T): Promise<T> {
    const { time } = this.#options
    if (this.#state !== 'up') return Promise.reject(new Error('Connection is closed.'))
    const connection = this.#connection
    return new Promise((resolve, reject) => {
      let isAnswered = false
      const late = (): void => {
        if (isAnswered) return
        reject(new Error('Command timed out'))
        time.after(SILENT_MS - COMMAND_MS, () => this.#connection === connection && this.drop(), this.#owner)
      }
      time.after(COMMAND_MS, late, this.#owner)
      this.#travel('there', () => {
        const result = carryOut()
        const answer = (): void => {
          isAnswered = true
          resolve(result)
        }
        this.#travel('here', answer, this.#owner)
      })
    })
  }

  /** In the order of departure, unless the connection breaks on the way. */
  #travel(way: 'there' | 'here', arrive: () => void, owner: Schedule | null = null): void {
    const { time, chance } = this.#options
    const connection = this.#connection
    const at = Math.max(time.now + HOP_MS.least + chance.uniform() * HOP_MS.spread, this.#arrivals[way])
    this.#arrivals[way] = at
    const land = (): void => {
      if (this.#connection !== connection) return
      if (this.#isSilent) this.#held.push(() => time.after(0, land, owner))
      else arrive()
    }
    time.after(at - time.now, land, owner)
  }

  #retry(): void {
    const { time, chance } = this.#options
    const attempt = (): void => {
      if (this.#state !== 'down') return
      if (this.#network.isAway || this.#isSilent) return this.#retry()
      this.#state = 'up'
      for (const channel of this.#listeners.keys()) this.#subscribed.add(channel)
      for (const listener of this.#onGap) listener()
    }
    time.after(RETRY_MS.least + chance.uniform() * RETRY_MS.spread, attempt, this.#owner)
  }
}
