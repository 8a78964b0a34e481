/**
 * What one process sends to others, bundled. All that is put on a channel in one turn of the event loop, or while an
 * earlier message to that channel is under way, is one message: the broker, the seal and the system calls are paid once
 * for all. On an idle channel nothing waits longer than that turn.
 */
import type { PubSub, Reached } from './pub-sub.ts'

export interface OutboxOptions {
  readonly pubSub: Pick<PubSub, 'publish' | 'send'>
  /** The text of the message that carries these items. */
  readonly bundled: (items: readonly string[]) => string
}

export interface Outgoing {
  /** As JSON. */
  readonly text: string
  /** Asked before it leaves; null: always. */
  readonly isWanted: (() => boolean) | null
  /** How many it has reached is asked of the engine only where this takes it: an answer to it is a message too. */
  readonly reached: ((count: Reached) => void) | null
  /** Null: it has left. Otherwise it is not known whether it arrives. */
  readonly left: (error: unknown) => void
}

/** The prices of a match may be large, all other messages are small. A larger one is a mistake, and refused. */
const MESSAGE_BYTES_MAX = 1 << 20
/**
 * A larger bundle is begun anew: a receiver reads one in a turn of its event loop. An item that is larger alone travels
 * alone.
 */
const BUNDLE_BYTES_MAX = 1 << 18
const BUNDLE_ITEMS_MAX = 500
/** Items that wait on one channel. At this number its receiver or the broker is too slow. */
const WAITING_MAX = 10_000

export class Outbox {
  readonly #options: OutboxOptions
  /** By channel, what waits, oldest first. A channel is listed while a message to it is under way or due. */
  readonly #waiting = new Map<string, Outgoing[]>()
  /** The channels whose next message leaves at the end of the turn. */
  #due: string[] = []

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  put(channel: string, item: Outgoing): void {
    const waiting = this.#waiting.get(channel)
    if (waiting === undefined) {
      this.#waiting.set(channel, [item])
      this.#schedule(channel)
    } else if (waiting.length < WAITING_MAX) waiting.push(item)
    else item.left(new Error(`more than ${WAITING_MAX} messages wait for ${channel}`))
  }

  /** At once, and in no bundle. */
  putAlone(channel: string, item: Outgoing): void {
    void this.#send(channel, [item], item.text)
  }

  /** All channels that are due in a turn are served together, so that a client can write what they send at once. */
  #schedule(channel: string): void {
    if (this.#due.push(channel) > 1) return
    setImmediate(() => {
      for (const each of this.#due.splice(0)) void this.#serve(each)
    })
  }

  async #serve(channel: string): Promise<void> {
    const { bundle, rest } = split(this.#waiting.get(channel) ?? [])
    this.#waiting.set(channel, rest)
    const text = this.#options.bundled(bundle.map((item) => item.text))
    if (bundle.length > 0) await this.#send(channel, bundle, text)
    if ((this.#waiting.get(channel) ?? []).length > 0) this.#schedule(channel)
    else this.#waiting.delete(channel)
  }

  async #send(channel: string, items: readonly Outgoing[], text: string): Promise<void> {
    const { pubSub } = this.#options
    try {
      const message = Buffer.from(text)
      if (message.length > MESSAGE_BYTES_MAX) throw new Error(`a message of ${message.length} bytes`)
      if (items.some(({ reached }) => reached !== null)) {
        const count = await pubSub.send(channel, message)
        for (const { reached } of items) reached?.(count)
      } else await pubSub.publish(channel, message)
      for (const { left } of items) left(null)
    } catch (error) {
      for (const { left } of items) left(error)
    }
  }
}

/** The next bundle, and what waits for the one after it. */
function split(waiting: readonly Outgoing[]): { readonly bundle: readonly Outgoing[]; readonly rest: Outgoing[] } {
  const bundle: Outgoing[] = []
  let bytes = 0
  let taken = 0
  for (const item of waiting) {
    if (item.isWanted?.() ?? true) {
      bytes += Buffer.byteLength(item.text)
      if (bundle.length > 0 && (bytes > BUNDLE_BYTES_MAX || bundle.length === BUNDLE_ITEMS_MAX)) break
      bundle.push(item)
    }
    taken++
  }
  return { bundle, rest: waiting.slice(taken) }
}
