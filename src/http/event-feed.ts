/** The event stream as lines for HTTP: a bounded stretch of it, or what comes for some minutes. */
import { type Clock, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { EventStream, StreamPlace } from '../../db/event-stream.ts'
import { eventLine } from './event-lines.ts'

/** Before the first event of all. */
export const STREAM_START: StreamPlace = [1, 0, 0]

/** A client that follows comes back with its cursor: then its key is asked for again. */
export const FOLLOW_MS = 5 * MINUTE_MS
const LOOK_MS = 499
/** A line without an event keeps proxies from closing the connection. */
const QUIET_MS = 15_000
const ASK_MS = 1_000
const PAGE = 200

export interface EventFeedOptions {
  readonly stream: Pick<EventStream, 'sweep' | 'after' | 'beyondGap' | 'end' | 'isAhead'>
  readonly clock: Clock
  readonly isStopping: () => boolean
  readonly pause: (ms: number) => Promise<unknown>
}

export interface Wanted {
  /** `latest`: what happens from now on. */
  readonly after: StreamPlace | 'latest'
  /** Lines at most. */
  readonly limit: number
  readonly follow: boolean
  /** Whether the client may have more of it: asked at least once a second, while there is something to send. */
  readonly mayGoOn: () => Promise<boolean>
}

export class EventFeed {
  readonly #options: EventFeedOptions

  constructor(options: EventFeedOptions) {
    this.#options = options
  }

  isAhead(place: StreamPlace): Promise<boolean> {
    return this.#options.stream.isAhead(place)
  }

  /** The lines that are wanted. */
  async *lines(wanted: Wanted): AsyncGenerator<string> {
    const { stream, clock, isStopping, pause } = this.#options
    const until = clock.now() + FOLLOW_MS
    await stream.sweep()
    let place = wanted.after === 'latest' ? await stream.end() : wanted.after
    let left = wanted.limit
    let spokenAt = clock.now()
    let askedAt = spokenAt
    while (left > 0 && clock.now() < until && !isStopping()) {
      if (clock.now() - askedAt >= ASK_MS) {
        askedAt = clock.now()
        if (!(await wanted.mayGoOn())) return
      }
      const events = await stream.after(place, Math.min(left, PAGE))
      const last = events.at(-1)
      if (last !== undefined) {
        place = last.after
        left -= events.length
        spokenAt = clock.now()
        yield events.map(eventLine).join('')
        continue
      }
      const next = await stream.beyondGap(place)
      if (next !== place) {
        place = next
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
  }
}
