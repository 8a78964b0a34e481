/**
 * A match in this process: the real actor, its rules and its price model, on wallets in memory. There is no server, no
 * clock and no database: time is what the caller says. Equal calls give equal matches.
 */
import type { InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Money } from '../../actors/kernel/micros.ts'
import type { Outcome, TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { ScoringModel } from '../../actors/market/pricing.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { MatchEvent, Trade, UserCommand } from '../../actors/match/messages.ts'
import { type MatchView, newMatch } from '../../actors/match/state.ts'
import type { InstrumentHistory } from '../../actors/match/store.ts'
import { Till, type Trade as EndedTrade } from './till.ts'

export interface MatchRunOptions {
  /** Describes the match before its first update. */
  readonly first: SaidFixture
  /** What players are worth beforehand. */
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
  /** Both are read for every batch, so that a run may change them. */
  readonly rules: () => TradingRules
  readonly model: () => ScoringModel
  /** What every user begins with. */
  readonly balance: Money
  /** Called after every commit, with what it has made true. */
  readonly onCommitted?: (events: readonly MatchEvent[]) => void
}

export class MatchRun {
  readonly #actor: MatchActor
  readonly #till: Till
  #now: Instant
  #ids = 0
  #fault: unknown = null

  constructor({ first, histories, rules, model, balance, onCommitted }: MatchRunOptions) {
    this.#now = first.sourceAt
    this.#till = new Till(histories, balance)
    const world = {
      now: () => this.#now,
      steady: { now: () => this.#now },
      newId: () => `00000000-0000-7000-8000-${String((this.#ids += 1)).padStart(12, '0')}`,
      randomInt: () => 0,
      secret: () => '',
    }
    this.#actor = new MatchActor({
      record: newMatch(first, { replay: false }),
      epoch: 1,
      store: this.#till,
      world,
      rules,
      model,
      pause: () => Promise.resolve(),
      onCommitted: (events) => {
        // What is published is what the next order is compared with.
        this.#actor.takeUnpublished()
        onCommitted?.(events)
      },
      onStopped: (_, error) => (this.#fault = error),
    })
  }

  get now(): Instant {
    return this.#now
  }

  /** The committed state. */
  get view(): MatchView {
    return this.#actor.view
  }

  /** Positions that have ended. */
  get trades(): readonly EndedTrade[] {
    return this.#till.trades
  }

  /** Time passes. It never goes back. */
  passTo(at: Instant): void {
    this.#now = instant(Math.max(this.#now, at))
  }

  /** The match hears an update now, and what time has brought. */
  async update(snapshot: SaidFixture, seq: number): Promise<void> {
    await this.#actor.feed({ kind: 'feed_update', seq, snapshot: { ...snapshot, sourceAt: this.#now } })
    await this.#actor.clock()
  }

  /** Ends the match as an operator would, at its current prices, unless its ending has begun. */
  async conclude(): Promise<void> {
    if (this.view.info.settling === null) await this.#actor.end('full_time')
    await this.#actor.clock()
  }

  /** A user's command now. Those that are submitted together are committed together. */
  submit(command: UserCommand): Promise<Outcome<Trade>> {
    return this.#actor.submit(command)
  }

  window(id?: InstrumentId): TradeWindow {
    return this.#actor.window(id)
  }

  funds(user: UserId): ReturnType<Till['funds']> {
    return this.#till.funds(user, this.#now)
  }

  /** Throws unless the match has settled. */
  async end(): Promise<void> {
    await this.#actor.stop()
    if (this.#fault !== null) throw this.#fault
    if (this.view.info.settledAt === null) throw new Error(`match ${this.#actor.matchId} has not settled`)
  }
}
