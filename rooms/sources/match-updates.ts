/**
 * Hands each match its feed updates, one at a time per match: numbers them, works out when each was true, and skips an
 * update while the match is still busy with the one before.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { type FeedClock, sourceTime } from '../../actors/market/feed-clock.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import type { Report } from '../report.ts'

export class MatchUpdates {
  readonly #desk: MatchDesk
  readonly #report: Report
  readonly #clocks = new Map<FixtureId, FeedClock>()
  /** The number of the last update this process sent to each match. */
  readonly #sent = new Map<FixtureId, number>()
  readonly #busy = new Map<FixtureId, Promise<void>>()

  constructor(desk: MatchDesk, report: Report) {
    this.#desk = desk
    this.#report = report
  }

  /** Sends a match its update, unless it is busy. `accepted` is the last update that the match has committed. */
  send(update: Pick<FeedUpdate, 'snapshot' | 'source'>, accepted: number): void {
    const { fixtureId: id } = update.snapshot
    if (this.#busy.has(id)) return
    const sent = this.#feed(update, accepted)
      .catch((error: unknown) => this.#report('provider_update_failed', error, { matchId: id }))
      .finally(() => this.#busy.delete(id))
    this.#busy.set(id, sent)
  }

  /** Forgets all matches but these, except those still busy. */
  keepOnly(running: ReadonlyMap<FixtureId, unknown>): void {
    for (const known of [this.#clocks, this.#sent]) {
      for (const id of known.keys()) if (!running.has(id) && !this.#busy.has(id)) known.delete(id)
    }
  }

  /** Resolves when every match has finished its last update. */
  async finished(): Promise<void> {
    await Promise.all(this.#busy.values())
  }

  /** Numbers continue from the last update that the match accepted or was sent, by any process. */
  async #feed({ snapshot, source }: Pick<FeedUpdate, 'snapshot' | 'source'>, accepted: number): Promise<void> {
    const { fixtureId: id } = snapshot
    const { sourceAt, clock } = sourceTime(snapshot, this.#clocks.get(id) ?? null, snapshot.sourceAt)
    if (clock === null) this.#clocks.delete(id)
    else this.#clocks.set(id, clock)
    const seq = Math.max(accepted, this.#sent.get(id) ?? 0) + 1
    this.#sent.set(id, seq)
    const update: FeedUpdate = { kind: 'feed_update', seq, snapshot: { ...snapshot, sourceAt }, source }
    await this.#desk.feed(update, { replay: false })
  }
}
