/**
 * Publish/subscribe whose messages carry proof that a process of this installation sent them. Without it, a client that
 * can write to Redis could trade in the name of any user. A message is sealed with a key that all processes share,
 * together with its channel, its instant, and its number in the stream of its publisher, so that it counts neither
 * elsewhere nor twice.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS, type World } from '../../actors/kernel/world.ts'

/** What both this and the client beneath it are. */
export interface PubSubClient {
  publish(channel: string, message: Buffer): Promise<void>
  send(channel: string, message: Buffer): Promise<number>
  subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void>
  unsubscribe(channel: string): Promise<void>
  onGap(listener: () => void): void
  reconnect(): void
  close(): Promise<void>
}

/** Why a message was not delivered. */
export type RefusedMessage = 'unsigned' | 'forged' | 'old' | 'repeated'

export interface SignedPubSubOptions {
  readonly pubSub: PubSubClient
  /** The first signs; a message counts by any of them, so that processes of two keys understand each other. */
  readonly keys: readonly [string, ...string[]]
  readonly world: Pick<World, 'now' | 'secret'>
  readonly onRefused: (why: RefusedMessage, channel: string) => void
}

/** version · stream · number · instant · seal */
const VERSION = 0xa1
const STREAM_BYTES = 8
const HEAD_BYTES = 1 + STREAM_BYTES + 6 + 6
const SEAL_BYTES = 32
/** Clocks of processes may differ by a minute or two. */
const AGE_MAX_MS = 5 * MINUTE_MS
/** Publishers and channels whose last number is remembered: many more than there are processes and matches. */
const STREAMS_MAX = 10_000

export class SignedPubSub implements PubSubClient {
  readonly #options: SignedPubSubOptions
  readonly #stream: Buffer
  #sent = 0
  /** The last number received, by stream and channel; what was heard last is last. */
  readonly #received = new Map<string, number>()

  constructor(options: SignedPubSubOptions) {
    this.#options = options
    this.#stream = Buffer.from(options.world.secret(STREAM_BYTES), 'hex')
  }

  publish(channel: string, message: Buffer): Promise<void> {
    return this.#options.pubSub.publish(channel, this.#sealed(channel, message))
  }

  send(channel: string, message: Buffer): Promise<number> {
    return this.#options.pubSub.send(channel, this.#sealed(channel, message))
  }

  async subscribe(channel: string, onMessage: (message: Buffer) => void): Promise<void> {
    await this.#options.pubSub.subscribe(channel, (bytes) => {
      const flaw = this.#flawOf(channel, bytes)
      if (flaw === null) onMessage(bytes.subarray(HEAD_BYTES + SEAL_BYTES))
      else this.#options.onRefused(flaw, channel)
    })
  }

  unsubscribe(channel: string): Promise<void> {
    return this.#options.pubSub.unsubscribe(channel)
  }

  onGap(listener: () => void): void {
    this.#options.pubSub.onGap(listener)
  }

  reconnect(): void {
    this.#options.pubSub.reconnect()
  }

  close(): Promise<void> {
    return this.#options.pubSub.close()
  }

  #sealed(channel: string, message: Buffer): Buffer {
    const { keys, world } = this.#options
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt8(VERSION)
    this.#stream.copy(head, 1)
    head.writeUIntBE(++this.#sent, 1 + STREAM_BYTES, 6)
    head.writeUIntBE(Math.max(0, world.now()), 1 + STREAM_BYTES + 6, 6)
    return Buffer.concat([head, sealOf(keys[0], channel, head, message), message])
  }

  #flawOf(channel: string, bytes: Buffer): RefusedMessage | null {
    if (bytes.length < HEAD_BYTES + SEAL_BYTES || bytes.readUInt8() !== VERSION) return 'unsigned'
    const { keys, world } = this.#options
    const head = bytes.subarray(0, HEAD_BYTES)
    const seal = bytes.subarray(HEAD_BYTES, HEAD_BYTES + SEAL_BYTES)
    const message = bytes.subarray(HEAD_BYTES + SEAL_BYTES)
    if (!keys.some((key) => timingSafeEqual(sealOf(key, channel, head, message), seal))) return 'forged'
    if (Math.abs(world.now() - head.readUIntBE(1 + STREAM_BYTES + 6, 6)) > AGE_MAX_MS) return 'old'
    return this.#isNext(channel, head) ? null : 'repeated'
  }

  /** What a publisher sends on a channel arrives in order, with gaps at most; channels may overtake each other. */
  #isNext(channel: string, head: Buffer): boolean {
    const stream = `${head.toString('hex', 1, 1 + STREAM_BYTES)} ${channel}`
    const number = head.readUIntBE(1 + STREAM_BYTES, 6)
    const last = this.#received.get(stream) ?? 0
    if (number <= last) return false
    this.#received.delete(stream)
    this.#received.set(stream, number)
    const [oldest] = this.#received.keys()
    if (this.#received.size > STREAMS_MAX && oldest !== undefined) this.#received.delete(oldest)
    return true
  }
}

function sealOf(key: string, channel: string, head: Buffer, message: Buffer): Buffer {
  return createHmac('sha256', key).update(channel).update('\0').update(head).update(message).digest()
}
