/**
 * The match actor: takes what waits in its mailbox as one batch, decides it in pure code, commits it in one statement,
 * applies it, and tells. It never waits for anything but its store, and its memory is never ahead of it.
 */
import { InvariantBroken, present, unreachable } from '../kernel/assert.ts'
import type { FixtureId, InstrumentId } from '../kernel/ids.ts'
import { COMMAND_DEADLINE_MS, type TradingRules } from '../kernel/limits.ts'
import type { Price } from '../kernel/micros.ts'
import { done, type Outcome, type Refusal, type RefusalCode, refused, type TradeWindow } from '../kernel/outcome.ts'
import { type Instant, instant, type World } from '../kernel/world.ts'
import { type Cause, type Instrument, type Quote, quoteOf } from '../market/instrument.ts'
import type { ScoringModel } from '../market/pricing.ts'
import { decide, proceed } from './decide.ts'
import { holdingsOf } from './holdings.ts'
import { checkAll, checkTouched } from './invariants.ts'
import { Mailbox } from './mailbox.ts'
import type { Clock, FeedUpdate, IdempotencyKey, MatchEvent, Trade, UserCommand } from './messages.ts'
import { type FeedTerms, unlisted } from './moves.ts'
import { largestLots, quote, type QuoteAnswer, type QuoteQuery } from './quotes.ts'
import { Draft, MatchState, type MatchView } from './state.ts'
import type { CommitFailure, KeyedCommand, MatchRecord, MatchStore, StoredResult, Verdict } from './store.ts'
import { tradeWindow } from './suspension.ts'
import { TickKeeper } from './tick-keeper.ts'
import type { Decided } from './trading.ts'

export interface MatchActorOptions {
  readonly record: MatchRecord
  readonly epoch: number
  readonly store: MatchStore
  readonly world: World
  /** Read anew for every batch, so that a changed setting counts at once. */
  readonly rules: () => TradingRules
  readonly model: () => ScoringModel
  /** Called after every commit, in order, with what is now true. Must not throw. */
  readonly onCommitted: (events: readonly MatchEvent[]) => void
  /** The actor has stopped by itself and must be let go of. Whoever comes next loads the match anew. */
  readonly onStopped: (reason: StopReason, error: unknown) => void
}

/** Another owner took over; an invariant broke; the store failed and it is not known what it wrote. */
export type StopReason = 'fenced' | 'broken' | 'fault'

/** One price to tell subscribers: the newest of what moved since the last publication. */
export interface Publication {
  readonly instrument: Instrument
  readonly quote: Quote
  /** What subscribers were told before. */
  readonly previous: Price
  readonly cause: Cause
  readonly providerEventId: number
  readonly at: Instant
  /** Older moves were folded into this one. */
  readonly conflated: boolean
}

interface UserEntry {
  readonly userId: UserCommand['userId']
  readonly command: UserCommand
  readonly deadline: Instant
  readonly answer: (outcome: Outcome<Trade>) => void
  readonly fail: (error: unknown) => void
}

interface SystemEntry {
  readonly userId: null
  readonly command: FeedUpdate | Clock
  readonly answer: (news: boolean) => void
  readonly fail: (error: unknown) => void
}

type Entry = UserEntry | SystemEntry

/** What became of an entry while its batch was decided. */
type Fate =
  | { readonly kind: 'decided'; readonly decided: Decided }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'repeated'; readonly stored: StoredResult }
  | { readonly kind: 'proceeded'; readonly news: boolean }

export class MatchActor {
  readonly matchId: FixtureId
  readonly epoch: number
  readonly #options: MatchActorOptions
  readonly #state: MatchState
  readonly #mailbox = new Mailbox<Entry>()
  readonly #ticks = new TickKeeper()
  /** Keys that are queued or being committed. */
  readonly #keysAtWork = new Set<string>()
  /** The last committed price of each instrument: what a rule that has changed since would make of it is not that. */
  readonly #prices: Map<InstrumentId, Price>
  /** The impact cap that the last tick of the clock saw. */
  #capPpm: number
  #draining: Promise<void> | null = null
  #stopped = false

  /** Throws InvariantBroken when the record contradicts itself. */
  constructor(options: MatchActorOptions) {
    this.#options = options
    this.#state = new MatchState(options.record)
    this.matchId = options.record.info.matchId
    this.epoch = options.epoch
    this.#prices = new Map(options.record.instruments.map((instrument) => [instrument.id, instrument.published]))
    this.#capPpm = options.rules().impactCapPpm
    checkAll(this.#state, this.#capPpm)
  }

  /** The committed state. */
  get view(): MatchView {
    return this.#state
  }

  /** How much waits to be decided. */
  get waiting(): number {
    return this.#mailbox.size
  }

  /**
   * Queues a user's command and answers with its outcome once that is durable. Refuses `busy` when the mailbox is full,
   * when the command waited past its deadline, or when the actor has stopped; `key_in_flight` when its idempotency key
   * is being worked on. Rejects only with a fault, and then the command may or may not have happened. The deadline is the
   * caller's when he has been waiting already.
   */
  submit(
    command: UserCommand,
    deadline: Instant = instant(this.#options.world.now() + COMMAND_DEADLINE_MS),
  ): Promise<Outcome<Trade>> {
    const key = keyOf(command)
    if (key !== null && this.#keysAtWork.has(key)) return Promise.resolve(refused({ code: 'key_in_flight' }))
    return new Promise((resolve, reject) => {
      const release = (): void => {
        if (key !== null) this.#keysAtWork.delete(key)
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
      if (key !== null) this.#keysAtWork.add(key)
      this.#drain()
    })
  }

  /** Queues a feed update; resolves when it is durable, with false when it was no news. Rejects when the actor stops. */
  feed(update: FeedUpdate): Promise<boolean> {
    return this.#post(update)
  }

  /** Time has passed: call about once a second. Resolves when what followed from it is durable. */
  clock(): Promise<boolean> {
    return this.#post({ kind: 'clock' })
  }

  /** What an opening would cost now. Reads committed state only. */
  quote(query: QuoteQuery): Outcome<QuoteAnswer> {
    return quote(this.#state, query, this.#options.world.now(), this.#options.rules())
  }

  /** The trade window of the match, or of one instrument of it. */
  window(id?: InstrumentId): TradeWindow {
    const instrument = id === undefined ? null : (this.#state.instrument(id) ?? null)
    return tradeWindow(this.#state.info, instrument, this.#options.world.now(), this.#options.rules())
  }

  /** Prices that moved since the last call, which thereby become the last published ones. */
  takeUnpublished(): readonly Publication[] {
    return this.#ticks.takeUnpublished().map((move) => {
      const before = this.#state.listed(move.instrumentId)
      const now = quoteOf(before, this.#options.rules().impactCapPpm)
      this.#state.markPublished(before.id, now.price)
      return {
        instrument: this.#state.listed(before.id),
        quote: now,
        previous: before.published,
        cause: move.cause,
        providerEventId: move.providerEventId,
        at: move.at,
        conflated: move.folded > 0,
      }
    })
  }

  /** Takes no more commands, finishes those it has, and resolves. */
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
      // Everything that arrives in this turn of the loop joins the first batch.
      await Promise.resolve()
      while (this.#mailbox.size > 0) await this.#settle(this.#mailbox.take())
    } catch (error) {
      this.#break(error instanceof InvariantBroken ? 'broken' : 'fault', error)
    } finally {
      // In the same turn as the last look into the mailbox: what arrives from here on starts a run of its own.
      this.#draining = null
    }
  }

  /** Decides and commits one batch, again without the commands that the commit turned down, until it stands. */
  async #settle(batch: readonly Entry[]): Promise<void> {
    try {
      const { store, world, rules, model } = this.#options
      const turnedDown = new Map<Entry, Fate>()
      const histories = await this.#historiesFor(batch)
      for (;;) {
        const terms: FeedTerms = {
          at: world.now(),
          rules: rules(),
          model: model(),
          newId: () => world.newId(),
          histories,
          formerCapPpm: this.#capPpm,
        }
        const draft = new Draft(this.#state)
        // What the commit has turned down stays so; the rest is decided as if that had never been there, refusals too.
        const fates = new Map<Entry, Fate>()
        for (const entry of batch) fates.set(entry, turnedDown.get(entry) ?? this.#decide(entry, draft, terms))
        const verdict = await this.#commit(store, batch, fates, draft, terms)
        if (verdict.kind === 'fenced') throw new Fenced(this.matchId, this.epoch)
        if (verdict.kind === 'committed') return this.#conclude(batch, fates, draft, terms, verdict.wallets)
        for (const failure of verdict.failures) {
          const [entry, fate] = this.#turnDown(failure, fates, { draft, terms })
          turnedDown.set(entry, fate)
        }
      }
    } catch (error) {
      for (const entry of batch) entry.fail(error)
      throw error
    }
  }

  #decide(entry: Entry, draft: Draft, terms: FeedTerms): Fate {
    if (entry.userId === null) return { kind: 'proceeded', news: proceed(draft, entry.command, terms) }
    if (terms.at > entry.deadline) return { kind: 'refused', refusal: BUSY.refusal }
    const outcome = decide(draft, entry.command, terms)
    return outcome.ok ? { kind: 'decided', decided: outcome.value } : { kind: 'refused', refusal: outcome.refusal }
  }

  async #commit(
    store: MatchStore,
    batch: readonly Entry[],
    fates: ReadonlyMap<Entry, Fate>,
    draft: Draft,
    terms: FeedTerms,
  ): Promise<Verdict> {
    const keyed = keyedCommands(batch, fates)
    const ticks = this.#ticks.toStore(draft.events, terms.at)
    if (draft.events.length === 0 && keyed.length === 0 && ticks.length === 0)
      return { kind: 'committed', wallets: new Map() }
    const instruments = [...draft.touched].map((instrument) => ({
      instrument,
      price: quoteOf(instrument, terms.rules.impactCapPpm).price,
    }))
    // Laid over the committed prices only once they are committed themselves.
    const prices = new Map(instruments.map(({ instrument, price }) => [instrument.id, price]))
    const priceOf = (id: InstrumentId): Price => present(prices.get(id) ?? this.#prices.get(id), `price of ${id}`)
    const verdict = await store.commit({
      id: this.#options.world.newId(),
      matchId: this.matchId,
      epoch: this.epoch,
      at: terms.at,
      events: draft.events,
      instruments,
      ticks,
      keyed,
      watch: holdingsOf(draft, usersOf(batch, fates), priceOf),
      requests: requestsOf(batch),
      traces: tracesOf(batch),
      openPositionsMax: terms.rules.openPositionsMax,
    })
    if (verdict.kind === 'committed') for (const [id, price] of prices) this.#prices.set(id, price)
    return verdict
  }

  /** Makes it so in memory, answers everybody, and tells the world. */
  #conclude(
    batch: readonly Entry[],
    fates: ReadonlyMap<Entry, Fate>,
    draft: Draft,
    terms: FeedTerms,
    wallets: Extract<Verdict, { kind: 'committed' }>['wallets'],
  ): void {
    for (const event of draft.events) this.#state.apply(event)
    this.#ticks.committed(draft.events, terms.at)
    if (batch.some((entry) => entry.command.kind === 'clock')) this.#capPpm = terms.rules.impactCapPpm
    checkTouched(this.#state, draft.events, terms.rules.impactCapPpm)
    for (const entry of batch) answer(entry, present(fates.get(entry), 'fate'), wallets)
    if (draft.events.length > 0) this.#options.onCommitted(draft.events)
    const { settling, settledAt } = this.#state.info
    if (settling !== null && settledAt === null) this.#goOnSettling()
  }

  #goOnSettling(): void {
    const ignore = (): void => undefined
    this.#mailbox.put({ userId: null, command: { kind: 'clock' }, answer: ignore, fail: ignore })
  }

  #turnDown(
    failure: CommitFailure,
    fates: ReadonlyMap<Entry, Fate>,
    decision: { readonly draft: Draft; readonly terms: FeedTerms },
  ): readonly [Entry, Fate] {
    const [entry, fate] = present(
      [...fates].find(([e]) => e.userId === failure.userId),
      `command of ${failure.userId}`,
    )
    return [entry, this.#turnedDown(failure, fate, decision)]
  }

  #turnedDown(
    failure: CommitFailure,
    fate: Fate,
    { draft, terms }: { readonly draft: Draft; readonly terms: FeedTerms },
  ): Fate {
    switch (failure.kind) {
      case 'key_used':
        return { kind: 'repeated', stored: failure.stored }
      case 'position_limit':
        return { kind: 'refused', refusal: { code: 'position_limit', max: terms.rules.openPositionsMax } }
      case 'insufficient_margin': {
        if (fate.kind !== 'decided') throw new InvariantBroken(`an undecided command cannot cost too much`)
        const { position } = fate.decided
        // As it stands without the order; or as the same batch has listed it.
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

/** This actor takes nothing any more; the match has, or will have, another one, and a retry reaches it. */
export class ActorStopped extends Error {
  override name = 'ActorStopped'
  constructor(matchId: FixtureId, why = 'has stopped') {
    super(`the actor of match ${matchId} ${why}`)
  }
}

class Fenced extends ActorStopped {
  override name = 'Fenced'
  constructor(matchId: FixtureId, epoch: number) {
    super(matchId, `was overtaken: there is an epoch newer than ${epoch}`)
  }
}

const BUSY = refused({ code: 'busy', retryAfterSecs: 1 })

function idempotencyOf(command: UserCommand): IdempotencyKey | null {
  return command.kind === 'change_levels' ? null : command.idempotency
}

function keyOf(command: UserCommand): string | null {
  return idempotencyOf(command)?.id ?? null
}

/** Refusals that ask for patience: a retry with the same key must be able to succeed, so they are not kept. */
const NOT_NOW: ReadonlySet<RefusalCode> = new Set(['cooldown_active', 'market_suspended'])

/** The keys to look up, and the results to store for their retries. One that waited too long has not been looked at. */
function keyedCommands(batch: readonly Entry[], fates: ReadonlyMap<Entry, Fate>): KeyedCommand[] {
  const keyed: KeyedCommand[] = []
  for (const entry of batch) {
    if (entry.userId === null) continue
    const idempotency = idempotencyOf(entry.command)
    const fate = present(fates.get(entry), 'fate')
    if (idempotency === null) continue
    if (fate.kind === 'decided') keyed.push({ userId: entry.userId, idempotency, result: fate.decided })
    if (fate.kind === 'refused' && fate.refusal.code !== 'busy') {
      const result = NOT_NOW.has(fate.refusal.code) ? null : { refusal: fate.refusal }
      keyed.push({ userId: entry.userId, idempotency, result })
    }
  }
  return keyed
}

/** Whose wallets the batch must report: everybody who is to get an answer that shows one. */
function usersOf(batch: readonly Entry[], fates: ReadonlyMap<Entry, Fate>): UserEntry['userId'][] {
  const users: UserEntry['userId'][] = []
  for (const entry of batch) {
    if (entry.userId === null) continue
    const fate = present(fates.get(entry), 'fate')
    if (fate.kind === 'decided' || (fate.kind === 'refused' && idempotencyOf(entry.command) !== null))
      users.push(entry.userId)
  }
  return users
}

const requestsOf = (batch: readonly Entry[]): string[] =>
  batch.flatMap(({ userId, command }) =>
    userId === null || command.requestId === undefined ? [] : [command.requestId],
  )

const tracesOf = (batch: readonly Entry[]): string[] =>
  batch.flatMap(({ userId, command }) => (userId === null || command.trace === undefined ? [] : [command.trace]))

function answer(entry: Entry, fate: Fate, wallets: Extract<Verdict, { kind: 'committed' }>['wallets']): void {
  if (entry.userId === null) return entry.answer(fate.kind === 'proceeded' && fate.news)
  switch (fate.kind) {
    case 'decided':
      return entry.answer(
        done({ ...fate.decided, wallet: present(wallets.get(entry.userId), 'wallet after commit'), repeated: false }),
      )
    case 'refused':
      return entry.answer(refused(fate.refusal))
    case 'repeated':
      return entry.answer(repeatOf(fate.stored, idempotencyOf(entry.command)))
    case 'proceeded':
      throw new InvariantBroken('a user command does not proceed')
    default:
      return unreachable(fate)
  }
}

/** The answer to a key that was used before: the stored result for the same request, a refusal for another one. */
export function repeatOf(stored: StoredResult, idempotency: IdempotencyKey | null): Outcome<Trade> {
  if (stored.fingerprint !== idempotency?.fingerprint) return refused({ code: 'key_reused' })
  if ('refusal' in stored.result) return refused(stored.result.refusal, true)
  return done({ ...stored.result, wallet: stored.wallet, repeated: true })
}
