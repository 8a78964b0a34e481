/** The event stream as lines for HTTP: a bounded stretch of it, or what comes for some minutes. */
import type { UserId } from '../../actors/kernel/ids.ts'
import { type Clock, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { EventStream, StreamPlace } from '../../db/event-stream.ts'
import { eventLine } from './event-lines.ts'

/** Before the first event of all. */
export const STREAM_START: StreamPlace = [1, 0, 0]

/** Answers that are open at a time: more would read the database all the time. */
const OF_USER_MAX = 2
const OF_PROCESS_MAX = 20
/** A client that follows comes back with its cursor: then its key is asked for again. */
const FOLLOW_MS = 5 * MINUTE_MS
const LOOK_MS = 499
/** A line without an event keeps proxies from closing the connection. */
const QUIET_MS = 15_000
const PAGE = 200

export interface EventFeedOptions {
  readonly stream: Pick<EventStream, 'sweep' | 'after' | 'end'>
  readonly clock: Clock
  readonly isStopping: () => boolean
  readonly pause: (ms: number) => Promise<unknown>
}

export interface Wanted {
  readonly by: UserId
  /** `latest`: what happens from now on. */
  readonly after: StreamPlace | 'latest'
  /** Lines at most. */
  readonly limit: number
  readonly follow: boolean
}

export class EventFeed {
  readonly #options: EventFeedOptions
  readonly #open = new Set<{ readonly by: UserId; readonly until: number }>()

  constructor(options: EventFeedOptions) {
    this.#options = options
  }

  /** The lines that are wanted; null while too many answers are open. */
  lines(wanted: Wanted): AsyncGenerator<string> | null {
    const now = this.#options.clock.now()
    // A client that stops reading is not counted for ever.
    for (const each of this.#open) if (each.until <= now) this.#open.delete(each)
    const own = [...this.#open].filter(({ by }) => by === wanted.by).length
    if (own >= OF_USER_MAX || this.#open.size >= OF_PROCESS_MAX) return null
    const entry = { by: wanted.by, until: now + FOLLOW_MS }
    this.#open.add(entry)
    return this.#read(wanted, entry)
  }

  async *#read(wanted: Wanted, entry: { readonly by: UserId; readonly until: number }): AsyncGenerator<string> {
    const { stream, clock, isStopping, pause } = this.#options
    try {
      await stream.sweep()
      let place = wanted.after === 'latest' ? await stream.end() : wanted.after
      let left = wanted.limit
      let spokenAt = clock.now()
      while (left > 0 && clock.now() < entry.until && !isStopping()) {
        const events = await stream.after(place, Math.min(left, PAGE))
        const last = events.at(-1)
        if (last !== undefined) {
          place = last.after
          left -= events.length
          spokenAt = clock.now()
          yield events.map(eventLine).join('')
          continue
        }
        if (!wanted.follow) return
        if (clock.now() - spokenAt >= QUIET_MS) {
          spokenAt = clock.now()
          yield '\n'
        }
        await pause(LOOK_MS)
        await stream.sweep()
      }
    } finally {
      this.#open.delete(entry)
    }
  }
}
