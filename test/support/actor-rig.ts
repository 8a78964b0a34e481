/** A match actor on a memory store, with users who have wallets, for tests of the game's rules. */
import type { PositionId, UserId } from '../../actors/kernel/ids.ts'
import { BATCH_MAX, DEFAULT_RULES, STARTING_BALANCE, type TradingRules } from '../../actors/kernel/limits.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { lots, type Money } from '../../actors/kernel/micros.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { MatchActor, type MatchActorOptions, type StopReason } from '../../actors/match/actor.ts'
import type { ChangeLevels, MatchEvent, Trade } from '../../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { MatchRecord, MatchStore } from '../../actors/match/store.ts'
import type { Position } from '../../actors/position/position.ts'
import { half, MATCH, openOrder, P, record, snapshot, U, u } from './fixtures.ts'
import { MemoryMatchStore } from './memory-store.ts'
import { TestWorld } from './test-world.ts'

export interface ActorRigOptions {
  readonly record?: MatchRecord
  readonly rules?: Partial<TradingRules>
  readonly users?: number
  /** What each user begins with. */
  readonly balance?: Money
  readonly model?: ScoringModel
  /** The most commands, and closes by the match, in one commit. */
  readonly batchMax?: number | NonNullable<MatchActorOptions['batchMax']>
  /** Waits for a turn of the event loop. */
  readonly pause?: MatchActorOptions['pause']
  /** Wraps the store, to make it fail. */
  readonly wrap?: (store: MatchStore, world: TestWorld) => MatchStore
}

export class ActorRig {
  readonly world = new TestWorld()
  readonly store = new MemoryMatchStore()
  readonly events: MatchEvent[] = []
  stopped: { readonly reason: StopReason; readonly error: unknown } | null = null
  rules: TradingRules
  model: ScoringModel
  #actor: MatchActor | null = null
  #seq = 1
  #elapsedSecs = 10
  readonly #options: ActorRigOptions

  private constructor(options: ActorRigOptions) {
    this.#options = options
    this.model = options.model ?? DEFAULT_MODEL
    // No feed is late in these tests, unless a test sets its own limits.
    this.rules = { ...DEFAULT_RULES, feedStaleMs: HOUR_MS, feedFrozenMs: HOUR_MS, ...options.rules }
    for (let n = 1; n <= (options.users ?? 3); n++) {
      this.store.grant(U(n), options.balance ?? STARTING_BALANCE)
    }
  }

  /** A rig whose match is live and stored, as if it had been running for a while. */
  static async set(options: ActorRigOptions = {}): Promise<ActorRig> {
    const stage = new ActorRig(options)
    await stage.load(options.record ?? record())
    return stage
  }

  get actor(): MatchActor {
    if (this.#actor === null) throw new Error('the stage is not set')
    return this.#actor
  }

  /** Makes a new owner of the match, from this record or from the last commit. */
  async load(from?: MatchRecord): Promise<MatchActor> {
    const epoch = (await this.store.acquire(MATCH)) ?? 0
    if (from !== undefined) this.store.put(from)
    const loaded = await this.store.load(MATCH)
    if (loaded === null) throw new Error('no match to load')
    this.stopped = null
    this.#actor = new MatchActor({
      record: loaded,
      epoch,
      store: this.#options.wrap?.(this.store, this.world) ?? this.store,
      world: this.world,
      rules: () => this.rules,
      model: () => this.model,
      batchMax: (waiting) => {
        const { batchMax = BATCH_MAX } = this.#options
        return typeof batchMax === 'number' ? batchMax : batchMax(waiting)
      },
      pause: () => this.#options.pause?.() ?? Promise.resolve(),
      onCommitted: (events) => this.events.push(...events),
      onStopped: (reason, error) => {
        this.stopped = { reason, error }
      },
    })
    return this.#actor
  }

  /** The half ten seconds of play on, when the whistle has gone. */
  whistled(): FixtureSnapshot['periods'] {
    return half(this.#elapsedSecs + 10, false)
  }

  /** The next feed update, ten seconds of play later. */
  async moves(over: Partial<FixtureSnapshot> = {}, speed?: number): Promise<boolean> {
    this.#elapsedSecs += 10
    return this.actor.feed({
      kind: 'feed_update',
      seq: ++this.#seq,
      speed,
      snapshot: snapshot({ periods: half(this.#elapsedSecs), sourceAt: this.world.now(), ...over }),
    })
  }

  async opens(over: Parameters<typeof openOrder>[0] = {}): Promise<Outcome<Trade>> {
    return this.actor.submit(openOrder(over))
  }

  async closes(positionId: PositionId, userId: UserId = U(1)): Promise<Outcome<Trade>> {
    return this.actor.submit({ kind: 'close_position', userId, positionId, idempotency: null })
  }

  /** A level that is left out is kept, and null removes it. */
  async changes(positionId: PositionId, levels: Partial<ChangeLevels>, userId: UserId = U(1)): Promise<Outcome<Trade>> {
    const { stopLoss, takeProfit } = levels
    return this.actor.submit({ kind: 'change_levels', userId, positionId, stopLoss, takeProfit })
  }

  /** Of half a lot long of player 1, without levels, for a user of whose means nothing is known. */
  quotes(over: Partial<QuoteQuery> = {}): QuoteAnswer {
    const query = {
      instrumentId: P(1),
      direction: 'long',
      lots: lots(u(0.5)),
      stopLoss: null,
      takeProfit: null,
    } as const
    return ok(this.actor.quote({ ...query, means: {}, ...over }))
  }

  /** How a position was closed: null while it is open. */
  closeOf(id: PositionId): Position['close'] | undefined {
    return this.store.positions.get(id)?.close
  }
}

/** The value of an outcome that must be a success. */
export function ok<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.refusal)}`)
  return outcome.value
}

/** The code of a refusal, or 'ok'. */
export const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.refusal.code)
