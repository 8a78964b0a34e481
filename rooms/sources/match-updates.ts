/**
 * Hands each match its feed updates, one at a time per match: numbers them, and skips an update while the match is
 * still busy with the one before.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import type { MatchDesk } from '../match/match-desk.ts'

export class MatchUpdates {
  readonly #desk: MatchDesk
  readonly #onFailed: (matchId: FixtureId, error: unknown) => void
  /** The number of the last update this process sent to each match. */
  readonly #sent = new Map<FixtureId, number>()
  readonly #busy = new Map<FixtureId, Promise<void>>()

  /** `onFailed`: a match could not take its update. Must not throw. */
  constructor(desk: MatchDesk, onFailed: (matchId: FixtureId, error: unknown) => void) {
    this.#desk = desk
    this.#onFailed = onFailed
  }

  /** Sends a match its update, unless it is busy. `accepted` is the last update that the match has committed. */
  send(update: Pick<FeedUpdate, 'snapshot' | 'source'>, accepted: number): void {
    const { fixtureId: id } = update.snapshot
    if (this.#busy.has(id)) return
    const sent = this.#feed(update, accepted)
      .catch((error: unknown) => this.#onFailed(id, error))
      .finally(() => this.#busy.delete(id))
    this.#busy.set(id, sent)
  }

  /** Forgets all matches but these, except those still busy. */
  keepOnly(running: ReadonlyMap<FixtureId, unknown>): void {
    for (const id of this.#sent.keys()) if (!running.has(id) && !this.#busy.has(id)) this.#sent.delete(id)
  }

  /** Resolves when every match has finished its last update. */
  async finished(): Promise<void> {
    await Promise.all(this.#busy.values())
  }

  /** Numbers continue from the last update that the match accepted or was sent, by any process. */
  async #feed({ snapshot, source }: Pick<FeedUpdate, 'snapshot' | 'source'>, accepted: number): Promise<void> {
    const { fixtureId: id } = snapshot
    const seq = Math.max(accepted, this.#sent.get(id) ?? 0) + 1
    this.#sent.set(id, seq)
    await this.#desk.feed({ kind: 'feed_update', seq, snapshot, source }, { replay: false })
  }
}
