/**
 * The match actor. It takes the messages waiting in its mailbox as one batch, decides them in pure code, commits them
 * in one statement, applies the events and publishes them. It waits for nothing but its store, and its memory is never
 * ahead of the store.
 */
import { InvariantBroken, present, unreachable } from '../kernel/assert.ts'
import type { FixtureId, InstrumentId } from '../kernel/ids.ts'
import { COMMAND_DEADLINE_MS, type TradingRules } from '../kernel/limits.ts'
import type { Price } from '../kernel/micros.ts'
import { type Outcome, refused, type TradeWindow } from '../kernel/outcome.ts'
import { type Instant, instant, type World } from '../kernel/world.ts'
import type { FixtureSnapshot } from '../market/fixture.ts'
import { type Cause, type Instrument, type Quote, quoteOf } from '../market/instrument.ts'
import type { ScoringModel } from '../market/pricing.ts'
import { decide, proceed } from './decide.ts'
import {
  answer,
  BUSY,
  type Decision,
  type Entry,
  keyedCommands,
  keyOf,
  requestsOf,
  tracesOf,
  type UserEntry,
  usersOf,
  type Wallets,
} from './entry.ts'
import { holdingsOf } from './holdings.ts'
import { checkAll, checkTouched } from './invariants.ts'
import { Mailbox } from './mailbox.ts'
import type { Clock, FeedUpdate, MatchEvent, Trade, UserCommand } from './messages.ts'
import { type FeedTerms, unlisted } from './moves.ts'
import { largestLots, quote, type QuoteAnswer, type QuoteQuery } from './quotes.ts'
import { Draft, MatchState, type MatchView } from './state.ts'
import type { CommitFailure, MatchRecord, MatchStore, Verdict } from './store.ts'
import { tradeWindow } from './suspension.ts'
import { TickKeeper } from './tick-keeper.ts'
import { effectOf, type PriceRules, type RuleEffect } from './rule-change.ts'
import { UnpublishedMoves } from './unpublished-moves.ts'

export interface MatchActorOptions {
  readonly record: MatchRecord
  readonly epoch: number
  readonly store: MatchStore
  readonly world: World
  /** Read for every batch, so that a changed setting takes effect at once. */
  readonly rules: () => TradingRules
  readonly model: () => ScoringModel
  /** Called after every commit, in order, with the committed events. Must not throw. */
  readonly onCommitted: (events: readonly MatchEvent[]) => void
  /** The actor stopped itself; discard it. The next command reloads the match. */
  readonly onStopped: (reason: StopReason, error: unknown) => void
}

/** Another owner took over; an invariant broke; the store failed and it is unknown what it wrote. */
export type StopReason = 'fenced' | 'broken' | 'fault'

/** A price to publish: the newest since the last publication. */
export interface Publication {
  readonly instrument: Instrument
  readonly quote: Quote
  /** The price last published. */
  readonly previous: Price
  readonly cause: Cause
  readonly providerEventId: number
  readonly at: Instant
  /** True when this price replaces older ones that were never published. */
  readonly conflated: boolean
}

/** One attempt to commit a batch: what was decided, and the draft that it was decided on. */
interface Attempt {
  readonly batch: readonly Entry[]
  readonly decisions: ReadonlyMap<Entry, Decision>
  readonly draft: Draft
  readonly terms: FeedTerms
}

export class MatchActor {
  readonly matchId: FixtureId
  readonly epoch: number
  readonly #options: MatchActorOptions
  readonly #state: MatchState
  readonly #mailbox = new Mailbox<Entry>()
  readonly #ticks = new TickKeeper()
  readonly #unpublished = new UnpublishedMoves()
  /** The last update that was committed, and the model that priced it. */
  #priced: { readonly snapshot: FixtureSnapshot; readonly model: ScoringModel } | null = null
  /** Idempotency keys that are queued or being committed. */
  readonly #keysInFlight = new Set<string>()
  #draining: Promise<void> | null = null
  #stopped = false

  /** Throws InvariantBroken when the record contradicts itself. */
  constructor(options: MatchActorOptions) {
    this.#options = options
    this.#state = new MatchState(options.record)
    this.matchId = options.record.info.matchId
    this.epoch = options.epoch
    checkAll(this.#state)
  }

  /** The committed state. */
  get view(): MatchView {
    return this.#state
  }

  /** The number of messages waiting to be decided. */
  get waiting(): number {
    return this.#mailbox.size
  }

  /**
   * Queues a user's command and resolves with its outcome once that is durable. Refuses with `busy` when the mailbox is
   * full, when the command waited past its deadline, or when the actor has stopped; with `key_in_flight` when its
   * idempotency key is being processed. Rejects only with a fault, and then the command may or may not have happened.
   * A caller that has already waited passes its own deadline.
   */
  submit(
    command: UserCommand,
    deadline: Instant = instant(this.#options.world.now() + COMMAND_DEADLINE_MS),
  ): Promise<Outcome<Trade>> {
    const key = keyOf(command)
    if (key !== null && this.#keysInFlight.has(key)) return Promise.resolve(refused({ code: 'key_in_flight' }))
    return new Promise((resolve, reject) => {
      const release = (): void => {
        if (key !== null) this.#keysInFlight.delete(key)
      }
      const entry: UserEntry = {
        userId: command.userId,
        command,
        deadline,
        answer: (outcome) => {
          release()
          resolve(outcome)
        },
        fail: (error) => {
          release()
          reject(error)
        },
      }
      if (this.#stopped || !this.#mailbox.put(entry)) return resolve(BUSY)
      if (key !== null) this.#keysInFlight.add(key)
      this.#drain()
    })
  }

  /** Queues a feed update. Resolves when it is durable, with false when it was old. Rejects when the actor stops. */
  feed(update: FeedUpdate): Promise<boolean> {
    return this.#post(update)
  }

  /** Lets time take effect: call about once a second. Resolves when its consequences are durable. */
  clock(): Promise<boolean> {
    return this.#post({ kind: 'clock' })
  }

  /** What opening a position would cost now. Reads committed state only. */
  quote(query: QuoteQuery): Outcome<QuoteAnswer> {
    return quote(this.#state, query, this.#options.world.now(), this.#options.rules())
  }

  /** What these rules would do to the match, if they came into force now. */
  effectOf(next: PriceRules): RuleEffect {
    const { rules, model } = this.#options
    const now = { rules: rules(), model: model() }
    return effectOf(this.#state, this.#priced?.snapshot ?? null, { now, next, terms: this.#terms(new Map()) })
  }

  /** The trade window of the match, or of one of its instruments. */
  window(id?: InstrumentId): TradeWindow {
    const instrument = id === undefined ? null : (this.#state.instrument(id) ?? null)
    return tradeWindow(this.#state.info, instrument, this.#options.world.now(), this.#options.rules())
  }

  /** Takes the prices that moved since the last call; they become the last published ones. */
  takeUnpublished(): readonly Publication[] {
    return this.#unpublished.take().map((move) => {
      const before = this.#state.listed(move.instrumentId)
      const now = quoteOf(before)
      this.#state.markPublished(before.id, now.price)
      return {
        instrument: this.#state.listed(before.id),
        quote: now,
        previous: before.published,
        cause: move.cause,
        providerEventId: move.providerEventId,
        at: move.at,
        conflated: move.conflated,
      }
    })
  }

  /** Stops taking commands, and resolves when those it has are finished. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#draining
  }

  #post(command: FeedUpdate | Clock): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(new ActorStopped(this.matchId))
      this.#mailbox.put({ userId: null, command, answer: resolve, fail: reject })
      this.#drain()
    })
  }

  #drain(): void {
    this.#draining ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      // Everything that arrives in this turn of the event loop joins the first batch.
      await Promise.resolve()
      while (this.#mailbox.size > 0) await this.#processBatch(this.#mailbox.take())
    } catch (error) {
      this.#break(error instanceof InvariantBroken ? 'broken' : 'fault', error)
    } finally {
      // Same turn as the last look into the mailbox: a message that arrives from now on starts a new run.
      this.#draining = null
    }
  }

  /** Decides and commits one batch, again without the commands that the commit rejected, until it is written. */
  async #processBatch(batch: readonly Entry[]): Promise<void> {
    try {
      const rejected = new Map<Entry, Decision>()
      const histories = await this.#historiesFor(batch)
      for (;;) {
        const terms = this.#terms(histories)
        const draft = new Draft(this.#state)
        // Rejected commands stay rejected. All others are decided again, refusals too, as if those had never come.
        const decisions = new Map<Entry, Decision>()
        for (const entry of batch) decisions.set(entry, rejected.get(entry) ?? this.#decide(entry, draft, terms))
        const attempt: Attempt = { batch, decisions, draft, terms }
        const verdict = await this.#commit(attempt)
        if (verdict.kind === 'fenced') throw new Fenced(this.matchId, this.epoch)
        if (verdict.kind === 'committed') return this.#conclude(attempt, verdict.wallets)
        for (const failure of verdict.failures) {
          const entry = batch.find(({ userId }) => userId === failure.userId)
          rejected.set(present(entry, `command of ${failure.userId}`), this.#rejection(failure, attempt))
        }
      }
    } catch (error) {
      for (const entry of batch) entry.fail(error)
      throw error
    }
  }

  #terms(histories: FeedTerms['histories']): FeedTerms {
    const { world, rules, model } = this.#options
    return {
      at: world.now(),
      rules: rules(),
      model: model(),
      priorModel: this.#priced?.model ?? model(),
      newId: () => world.newId(),
      histories,
    }
  }

  #decide(entry: Entry, draft: Draft, terms: FeedTerms): Decision {
    if (entry.userId === null) return { kind: 'proceeded', news: proceed(draft, entry.command, terms) }
    if (terms.at > entry.deadline) return { kind: 'refused', refusal: BUSY.refusal }
    const outcome = decide(draft, entry.command, terms)
    return outcome.ok ? { kind: 'allowed', allowed: outcome.value } : { kind: 'refused', refusal: outcome.refusal }
  }

  async #commit({ batch, decisions, draft, terms }: Attempt): Promise<Verdict> {
    const keyed = keyedCommands(batch, decisions)
    const ticks = this.#ticks.toStore(draft.events, terms.at)
    if (draft.events.length === 0 && keyed.length === 0 && ticks.length === 0)
      return { kind: 'committed', wallets: new Map() }
    const instruments = [...draft.touched].map((instrument) => ({ instrument, price: quoteOf(instrument).price }))
    return this.#options.store.commit({
      id: this.#options.world.newId(),
      matchId: this.matchId,
      epoch: this.epoch,
      at: terms.at,
      events: draft.events,
      instruments,
      ticks,
      keyed,
      watch: holdingsOf(draft, usersOf(batch, decisions)),
      requests: requestsOf(batch),
      traces: tracesOf(batch),
      openPositionsMax: terms.rules.openPositionsMax,
    })
  }

  /** Applies the events, answers the callers and publishes. */
  #conclude({ batch, decisions, draft, terms }: Attempt, wallets: Wallets): void {
    for (const event of draft.events) this.#state.apply(event)
    this.#ticks.committed(draft.events, terms.at)
    for (const { command } of batch) {
      if (command.kind === 'feed_update') this.#priced = { snapshot: command.snapshot, model: terms.model }
    }
    this.#unpublished.add(draft.events)
    checkTouched(this.#state, draft.events)
    for (const entry of batch) answer(entry, present(decisions.get(entry), 'decision'), wallets)
    if (draft.events.length > 0) this.#options.onCommitted(draft.events)
    const { settling, settledAt } = this.#state.info
    if (settling !== null && settledAt === null) this.#continueSettlement()
  }

  #continueSettlement(): void {
    const ignore = (): void => undefined
    this.#mailbox.put({ userId: null, command: { kind: 'clock' }, answer: ignore, fail: ignore })
  }

  /** What a command is answered that the commit rejected. */
  #rejection(failure: CommitFailure, { batch, decisions, draft, terms }: Attempt): Decision {
    switch (failure.kind) {
      case 'key_used':
        return { kind: 'repeated', stored: failure.stored }
      case 'position_limit':
        return { kind: 'refused', refusal: { code: 'position_limit', max: terms.rules.openPositionsMax } }
      case 'insufficient_margin': {
        const entry = batch.find(({ userId }) => userId === failure.userId)
        const decision = entry === undefined ? undefined : decisions.get(entry)
        if (decision?.kind !== 'allowed') throw new InvariantBroken('only an allowed command can cost too much')
        const { position } = decision.allowed
        // The instrument without this order; one that this batch lists is not in the committed state.
        const instrument = this.#state.instrument(position.instrumentId) ?? draft.listed(position.instrumentId)
        return {
          kind: 'refused',
          refusal: {
            code: 'insufficient_margin',
            required: position.margin,
            available: failure.available,
            maxLots: largestLots(instrument, position.direction, failure.available, terms.rules),
          },
        }
      }
      default:
        return unreachable(failure)
    }
  }

  async #historiesFor(batch: readonly Entry[]): Promise<FeedTerms['histories']> {
    const ids = new Set<InstrumentId>()
    for (const { command } of batch) {
      if (command.kind !== 'feed_update') continue
      for (const player of unlisted(this.#state, command.snapshot)) ids.add(player.instrumentId)
    }
    return ids.size === 0 ? new Map() : this.#options.store.histories([...ids])
  }

  #break(reason: StopReason, error: unknown): void {
    this.#stopped = true
    for (const entry of this.#mailbox.clear()) {
      if (entry.userId === null) entry.fail(new ActorStopped(this.matchId))
      else entry.answer(BUSY)
    }
    this.#options.onStopped(error instanceof Fenced ? 'fenced' : reason, error)
  }
}

/** The actor takes no more messages. A retry reaches its successor. */
export class ActorStopped extends Error {
  override name = 'ActorStopped'
  constructor(matchId: FixtureId, why = 'has stopped') {
    super(`the actor of match ${matchId} ${why}`)
  }
}

class Fenced extends ActorStopped {
  override name = 'Fenced'
  constructor(matchId: FixtureId, epoch: number) {
    super(matchId, `was fenced: an epoch newer than ${epoch} exists`)
  }
}
