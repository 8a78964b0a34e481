/**
 * The match actor. It takes the messages waiting in its mailbox as one batch, decides them in pure code, commits them
 * in one statement, applies the events and publishes them. It waits for nothing but its store, and its memory is never
 * ahead of the store.
 */
import { InvariantBroken, present } from '../kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId } from '../kernel/ids.ts'
import { BATCH_MAX, COMMAND_DEADLINE_MS, ROUNDS_MAX, LARGE_BATCH } from '../kernel/limits.ts'
import { type Outcome, refused, type TradeWindow } from '../kernel/outcome.ts'
import { type Instant, instant } from '../kernel/world.ts'
import type { SaidFixture } from '../market/fixture.ts'
import { quoteOf } from '../market/instrument.ts'
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
  walletsOf,
  type Wallets,
} from './entry.ts'
import { Hearing } from './heard.ts'
import { holdingsOf } from './holdings.ts'
import { checkAll, checkTouched } from './invariants.ts'
import type { MatchActorOptions, Publication, StopReason } from './actor-options.ts'
import { ActorStopped, Fenced } from './actor-stopped.ts'
import { Mailbox } from './mailbox.ts'
import type { Ending, FeedUpdate, SystemCommand, Trade, UserCommand } from './messages.ts'
import type { FeedTerms } from './feed-updates.ts'
import { historiesFor } from './histories.ts'
import { quote, type QuoteAnswer, type QuoteQuery } from './quotes.ts'
import { continueStep, findStep, isClosing, leavingOf, type SharedStep } from './shared-step.ts'
import { Draft, MatchState, type MatchView } from './state.ts'
import { type Verdict, type WalletFound, walletName } from './store.ts'
import { tradeWindow } from './suspension.ts'
import { TickKeeper } from './tick-keeper.ts'
import { effectOf, type PriceRules, type RuleEffect } from './rule-change.ts'
import { UnpublishedMoves } from './unpublished-moves.ts'

export type { MatchActorOptions, Publication, StopReason } from './actor-options.ts'
export { ActorStopped } from './actor-stopped.ts'

/** One attempt to commit a batch: what was decided, and the draft that it was decided on. */
interface Attempt {
  readonly batch: readonly Entry[]
  readonly decisions: ReadonlyMap<Entry, Decision>
  readonly draft: Draft
  readonly terms: FeedTerms
}

type Rejected = Extract<Verdict, { kind: 'rejected' }>

/** What rejections have shown about a batch: the stored answers of used keys, and the wallets of users. */
interface Learned {
  readonly repeated: Map<Entry, Decision>
  readonly wallets: Map<string, WalletFound>
}

const TRY_AGAIN: Decision = { kind: 'refused', refusal: BUSY.refusal }

export class MatchActor {
  readonly matchId: FixtureId
  readonly epoch: number
  readonly #options: MatchActorOptions
  readonly #state: MatchState
  readonly #mailbox = new Mailbox<Entry>()
  readonly #ticks = new TickKeeper()
  readonly #unpublished = new UnpublishedMoves()
  /** The last update that was committed, and the model that priced it. */
  #priced: { readonly snapshot: SaidFixture; readonly model: ScoringModel } | null = null
  readonly #hearing = new Hearing()
  /** Idempotency keys that are queued or being committed. */
  readonly #keysInFlight = new Set<string>()
  /** The rest of the step under way, as last found; null when it must be found again. */
  #step: SharedStep | null = null
  #batchMax = BATCH_MAX
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
    deadline: Instant = instant(this.#options.world.steady.now() + COMMAND_DEADLINE_MS),
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

  /**
   * Ends the match for an operator. Resolves when the beginning of its settlement is durable, with false when it had
   * begun before. Rejects when the actor stops.
   */
  end(ending: Ending): Promise<boolean> {
    return this.#post({ kind: 'end_match', ending })
  }

  /** Voids a position for an operator. False when it is not open here: then news no longer corrects it. */
  void(positionId: PositionId): Promise<boolean> {
    return this.#post({ kind: 'void_position', positionId })
  }

  /** The cost of an opening now. Reads committed state only. */
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

  #post(command: SystemCommand): Promise<boolean> {
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
      while (this.#mailbox.size > 0 || leavingOf(this.#state) !== null) {
        const waiting = this.#mailbox.fromUsers + (isClosing(this.#state) ? BATCH_MAX : 0)
        this.#batchMax = this.#options.batchMax?.(waiting) ?? BATCH_MAX
        const isHeld = await this.#continueStep()
        const batch = this.#mailbox.take({ max: this.#batchMax, isHeld })
        if (batch.length > 0) await this.#processBatch(batch)
        if (batch.length > LARGE_BATCH) await this.#options.pause()
      }
    } catch (error) {
      this.#break(error instanceof InvariantBroken ? 'broken' : 'fault', error)
    } finally {
      // Same turn as the last look into the mailbox: a message that arrives from now on starts a new run.
      this.#draining = null
    }
  }

  /**
   * Closes the next positions of a step under way. Until all are closed, users trade the other instruments, and the
   * match's own messages wait. Returns whether they do.
   */ // T35
  async #continueStep(): Promise<boolean> {
    const leaving = leavingOf(this.#state)
    if (leaving === null) return false
    const { pause } = this.#options
    await pause()
    this.#step ??= await findStep(this.#state, leaving.instrument, leaving.from, pause)
    const terms = this.#terms(new Map())
    const draft = new Draft(this.#state, this.#batchMax)
    this.#step = continueStep(draft, this.#step, terms)
    const attempt: Attempt = { batch: [], decisions: new Map(), draft, terms }
    const verdict = await this.#commit(attempt)
    if (verdict.kind === 'fenced') throw new Fenced(this.matchId, this.epoch)
    if (verdict.kind === 'rejected') throw new InvariantBroken('closes by the match were rejected')
    this.#conclude(attempt, verdict.wallets)
    return leavingOf(this.#state) !== null
  }

  /** Decides and commits one batch, again with what it learned from a rejection, at most ROUNDS_MAX times. */ // A13
  async #processBatch(batch: readonly Entry[]): Promise<void> {
    try {
      const learned: Learned = { repeated: new Map(), wallets: new Map() }
      const histories = await historiesFor(batch, this.#state, this.#options.store)
      for (let round = 1; ; round++) {
        const terms = { ...this.#terms(histories), wallets: learned.wallets }
        const draft = new Draft(this.#state, this.#batchMax)
        // All are decided again, refusals too: an order that cannot be paid leaves no trace in the others.
        const decisions = new Map<Entry, Decision>()
        for (const entry of batch)
          decisions.set(entry, learned.repeated.get(entry) ?? this.#decide(entry, draft, terms))
        const attempt: Attempt = { batch, decisions, draft, terms }
        const verdict = await this.#commit(attempt)
        if (verdict.kind === 'fenced') throw new Fenced(this.matchId, this.epoch)
        if (verdict.kind === 'committed') return this.#conclude(attempt, verdict.wallets)
        const failed = this.#learn(batch, verdict, learned)
        if (round === ROUNDS_MAX) return this.#beginAgain(batch, failed, learned)
      }
    } catch (error) {
      for (const entry of batch) entry.fail(error)
      throw error
    }
  }

  /** Remembers what a rejection shows. Returns the entries that it names. */
  #learn(batch: readonly Entry[], { failures, wallets }: Rejected, learned: Learned): ReadonlySet<Entry> {
    const failed = new Set<Entry>()
    for (const failure of failures) {
      const named = batch.find(({ userId }) => userId === failure.userId)
      const entry = present(named, `command of ${failure.userId}`)
      failed.add(entry)
      if (failure.kind === 'key_used') learned.repeated.set(entry, { kind: 'repeated', stored: failure.stored })
    }
    for (const wallet of wallets) learned.wallets.set(walletName(wallet), wallet)
    return failed
  }

  /**
   * The last round named users whose wallets were changed between two rounds by what they do in other matches. They are
   * asked to try again, and the others start over as a batch without them.
   */
  #beginAgain(batch: readonly Entry[], failed: ReadonlySet<Entry>, { repeated }: Learned): void {
    for (const entry of batch) {
      const decision = repeated.get(entry) ?? (failed.has(entry) ? TRY_AGAIN : null)
      if (decision !== null) answer(entry, decision, new Map())
    }
    this.#mailbox.putBack(batch.filter((entry) => !repeated.has(entry) && !failed.has(entry)))
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
    if (entry.userId === null) {
      const { length } = draft.events
      const news = proceed(draft, entry.command, terms)
      return { kind: 'proceeded', news, effect: draft.events.length > length, after: length }
    }
    if (this.#options.world.steady.now() > entry.deadline) return { kind: 'refused', refusal: BUSY.refusal }
    const outcome = decide(draft, entry.command, terms)
    return outcome.ok ? { kind: 'allowed', allowed: outcome.value } : { kind: 'refused', refusal: outcome.refusal }
  }

  async #commit({ batch, decisions, draft, terms }: Attempt): Promise<Verdict> {
    const keyed = keyedCommands(batch, decisions, draft)
    const chosen = this.#ticks.choose({ ...terms, events: draft.events, view: draft })
    if (draft.events.length === 0 && keyed.length === 0 && chosen.ticks.length === 0)
      return { kind: 'committed', wallets: new Map() }
    // Journal and tape begin with the first update. What is refused before names no rules, or the update would not.
    const hasBegun = draft.info.feedSeq > 0
    const instruments = [...draft.touched].map((instrument) => ({ instrument, price: quoteOf(instrument).price }))
    const verdict = await this.#options.store.commit({
      id: this.#options.world.newId(),
      matchId: this.matchId,
      epoch: this.epoch,
      at: terms.at,
      events: draft.events,
      instruments,
      ticks: chosen.ticks,
      keyed,
      heard: hasBegun ? this.#hearing.of(batch, decisions, terms) : [],
      room: this.#batchMax,
      watch: holdingsOf(draft, walletsOf(batch, decisions, draft)),
      requests: requestsOf(batch),
      traces: tracesOf(batch),
      ...(terms.rules.protection === null ? {} : { protected: true }),
      openPositionsMax: terms.rules.openPositionsMax,
    })
    // Also one without events, such as a refusal that is kept: what it heard is in the journal.
    if (verdict.kind === 'committed') {
      this.#ticks.committed(chosen)
      if (hasBegun) this.#hearing.committed(terms)
    }
    return verdict
  }

  /** Applies the events, answers the callers and publishes. */
  #conclude({ batch, decisions, draft, terms }: Attempt, wallets: Wallets): void {
    for (const event of draft.events) this.#state.apply(event)
    for (const entry of batch) {
      const decision = decisions.get(entry)
      if (entry.command.kind !== 'feed_update' || decision?.kind !== 'proceeded' || !decision.news) continue
      this.#priced = { snapshot: entry.command.snapshot, model: terms.model }
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

  #break(reason: StopReason, error: unknown): void {
    this.#stopped = true
    for (const entry of this.#mailbox.clear()) {
      if (entry.userId === null) entry.fail(new ActorStopped(this.matchId))
      else entry.answer(BUSY)
    }
    this.#options.onStopped(error instanceof Fenced ? 'fenced' : reason, error)
  }
}
