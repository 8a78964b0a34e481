/** Counts of a crash run, and their table. */
import { performance } from 'node:perf_hooks'
import { spreadOf } from '../../bench/report.ts'
import { Failure, type Reply } from './simulated-client.ts'

type Counts = Map<string, number>

const row = (what: string, figures: string): string => `${what.padEnd(26)}${figures}`

const count = (counts: Counts, what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
const listed = (counts: Counts): string =>
  [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([what, n]) => `${n.toLocaleString('en')} ${what}`)
    .join(', ')

/** A time without an acknowledged trade, between two moments of `performance.now`. */
export interface Silence {
  readonly from: number
  readonly to: number
}

export class TradingTally {
  kills = 0
  /** The kills during a start. */
  killedStarting = 0
  /** Old keys that were repeated and got the old answer. */
  resent = 0
  checks = 0
  /** Commands sent, and how many of them failed: without an answer, or with a status of 500 or above. */
  sent = 0
  failed = 0
  /** From starting the process until it listens, and until it carries out commands again. */
  readonly listeningMs: number[] = []
  readonly tradingMs: number[] = []
  readonly #replies: Counts = new Map()
  readonly #events: Counts = new Map()
  readonly #retries: Counts = new Map()
  #acknowledged = 0
  #lost = 0
  #lastAcknowledged = 0
  #longest: Silence = { from: 0, to: 0 }

  reply(kind: string, reply: Reply): void {
    this.sent++
    const status = reply === 'lost' ? reply : reply.status
    if (status === 'lost') this.#lost++
    if (status === 200 || status === 201) {
      this.#acknowledged++
      this.#longest = this.longestSilence
      this.#lastAcknowledged = performance.now()
    }
    const hasFailed = reply === 'lost' || reply.status >= 500
    if (hasFailed) this.failed++
    const why = hasFailed && reply !== 'lost' ? ` ${Failure.parse(reply.body).code}` : ''
    count(this.#replies, `${kind} ${status}${why}`)
  }

  /** Commands that were answered as done. */
  get acknowledged(): number {
    return this.#acknowledged
  }

  /** When the last of them was. */
  get lastAcknowledged(): number {
    return this.#lastAcknowledged
  }

  /** Restarts `longestSilence`. */
  listen(): void {
    this.#lastAcknowledged = performance.now()
    this.#longest = { from: this.#lastAcknowledged, to: this.#lastAcknowledged }
  }

  /** The longest time without an acknowledged trade, the present one included. */
  get longestSilence(): Silence {
    const present: Silence = { from: this.#lastAcknowledged, to: performance.now() }
    return present.to - present.from > this.#longest.to - this.#longest.from ? present : this.#longest
  }

  event(what: string): void {
    count(this.#events, what)
  }

  retry(what: string): void {
    count(this.#retries, what)
  }

  /** One line of progress. */
  progress(of: number): string {
    const [listening = 0, trading = 0] = [this.listeningMs.at(-1), this.tradingMs.at(-1)].map((ms) =>
      Math.round(ms ?? 0),
    )
    const kills = `${String(this.kills).padStart(String(of).length)}/${of} kills`
    return `${kills}  ${this.#acknowledged} acknowledged, ${this.#lost} lost  up in ${listening} ms, trading in ${trading} ms`
  }

  table(): string {
    const ms = (figures: readonly number[]): string => {
      if (figures.length === 0) return 'none'
      const { median, min, max } = spreadOf(figures)
      return `${Math.round(median)} ms (${Math.round(min)}..${Math.round(max)})`
    }
    const kills = row('kills', `${this.kills}, ${this.killedStarting} of them during a start`)
    const starts = [row('start to listening', ms(this.listeningMs)), row('start to trading', ms(this.tradingMs))]
    return [kills, this.trading(), ...starts].join('\n')
  }

  /** What the traders did, and the answers they got. */
  trading(): string {
    return [
      row('checks of everything', String(this.checks)),
      row('answers', listed(this.#replies)),
      row('events', listed(this.#events)),
      row('retries of lost commands', listed(this.#retries)),
      row('old keys repeated', String(this.resent)),
    ].join('\n')
  }
}
