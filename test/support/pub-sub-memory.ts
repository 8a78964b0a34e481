/** Publish/subscribe inside one process, for tests of several processes; a test may disconnect an end. */
import type { PubSub } from '../../rooms/cluster/bus.ts'

export class MemoryNetwork {
  readonly #ends = new Set<MemoryEnd>()

  end(): MemoryEnd {
    const end = new MemoryEnd(this)
    this.#ends.add(end)
    return end
  }

  deliver(channel: string, message: Buffer): number {
    const copy = Buffer.from(message)
    return [...this.#ends].filter((end) => end.take(channel, copy)).length
  }

  leave(end: MemoryEnd): void {
    this.#ends.delete(end)
  }
}

export class MemoryEnd implements PubSub {
  readonly #network: MemoryNetwork
  readonly #listeners = new Map<string, (message: Buffer) => void>()
  readonly #onGap: (() => void)[] = []
  #state: 'connected' | 'cut' | 'closed' = 'connected'

  constructor(network: MemoryNetwork) {
    this.#network = network
  }

  async publish(channel: string, message: Buffer): Promise<void> {
    await this.send(channel, message)
  }

  async send(channel: string, message: Buffer): Promise<number> {
    if (this.#state !== 'connected') throw new Error('Connection is closed.')
    return this.#network.deliver(channel, message)
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    this.#listeners.set(channel, onMessage)
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#listeners.delete(channel) // the receivers of messages under way were fixed when they were sent
  }

  onGap(listener: () => void): void {
    this.#onGap.push(listener)
  }

  reconnect(): void {
    for (const listener of this.#onGap) listener()
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    this.#network.leave(this)
  }

  /** Nothing goes in or out until it is reconnected. */
  cut(): void {
    this.#state = 'cut'
  }

  mend(): void {
    this.#state = 'connected'
    for (const listener of this.#onGap) listener()
  }

  /** True if there was a receiver; it gets the message in a later turn, as from a network. */
  take(channel: string, message: Buffer): boolean {
    const listener = this.#listeners.get(channel)
    if (this.#state !== 'connected' || listener === undefined) return false
    setImmediate(() => listener(message))
    return true
  }
}
