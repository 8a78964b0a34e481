/**
 * The simulated world: two slots with their match actors, one store, the connection between them, and the clients.
 * Offers every action a step can take, and checks the invariants after each.
 */
import type { FixtureId, InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Money, Price } from '../../actors/kernel/micros.ts'
import type { Outcome, RefusalCode } from '../../actors/kernel/outcome.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { ScoringModel } from '../../actors/market/pricing.ts'
import { ActorStopped, MatchActor, type StopReason } from '../../actors/match/actor.ts'
import { repeatOf } from '../../actors/match/entry.ts'
import type { FeedUpdate, Trade, UserCommand } from '../../actors/match/messages.ts'
import { type MatchOrigin, newMatch } from '../../actors/match/state.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { FairShare, SHARED_BATCH_MAX } from '../../rooms/match/fair-share.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'
import { Book, SIM_LEAGUE } from './book.ts'
import type { Committed } from './committed.ts'
import type { Football } from './football.ts'
import { glanceAt, type Owner, recordHash, stateHash } from './owner.ts'
import { TapeCheck } from './tape-check.ts'
import { WalletCheck } from './wallet-check.ts'
import { checkFailure } from './refusals.ts'
import { checkAnswer, PATIENCE, type Request, Requests } from './requests.ts'
import { hold, same, Violation } from './violation.ts'
import { type CommitCall, type HistoriesCall, LostConnection, Wire } from './wire.ts'

/** A place for one match after another, always with the same footballers. */
export interface MatchSlot {
  readonly n: number
  readonly players: readonly number[]
  football: Football
  /** The number of the last update that was offered. */
  seq: number
  serving: Owner | null
  /** A rule has changed since the owner's last clock tick. */
  rulesChanged: boolean
}

/** One attempt of a client. */
export interface Attempt {
  readonly owner: Owner
  /** The digest of the body it was sent with. */
  readonly fingerprint: string
  /** Whether the answer will reach the client. */
  readonly delivered: boolean
  /** Whether the client retries after a refusal that asks for patience. */
  readonly patient: boolean
}

export interface SimWorldOptions {
  readonly model: ScoringModel
  /** Anchors of some players; the others start at the price of their role. */
  readonly anchors: ReadonlyMap<InstrumentId, Price>
  /** The most commands, and closes by the match, in one commit. */
  readonly batchMax: number
  readonly log: (line: string) => void
}

export class SimWorld {
  readonly world = new TestWorld()
  readonly store = new MemoryMatchStore()
  readonly wire = new Wire(this.store)
  readonly requests = new Requests()
  readonly book = new Book((key) => this.requests.commandOf(key))
  readonly tapes = new TapeCheck()
  readonly owners: Owner[] = []
  readonly slots: MatchSlot[] = []
  rules: TradingRules
  /** The number of batches of a crowd that were limited for the sake of another match. */
  sharedBatches = 0
  /** All matches are served by one process. */
  readonly #share = new FairShare(this.world)
  /** When each match last had a few commands to commit, for a check of the shares. */
  readonly #trading = new Map<FixtureId, number>()
  readonly #wallets = new WalletCheck(this.store, this.book)
  readonly #options: SimWorldOptions
  /** Per match: the newest epoch, and what the store has of it. */
  readonly #epochs = new Map<FixtureId, number>()
  readonly #stored = new Map<FixtureId, string>()
  /** The commit of the owner that is being answered. */
  #delivered: { readonly owner: Owner; readonly committed: Committed } | null = null
  #problem: Violation | null = null

  constructor(rules: TradingRules, options: SimWorldOptions) {
    this.rules = rules
    this.#options = options
  }

  grant(userId: UserId, amount: Money): void {
    this.store.grant(userId, amount)
    this.store.join(userId, amount, SIM_LEAGUE)
    for (const purse of [...PURSES, SIM_LEAGUE]) this.book.grant({ userId, purse }, amount)
    this.#wallets.enter(userId)
  }

  /** The owner of a match; takes the match over if it has none. Null before its first update. */
  async serving(slot: MatchSlot, snapshot: FixtureSnapshot | null = null): Promise<Owner | null> {
    return slot.serving ?? this.takeOver(slot, snapshot)
  }

  /** Starts a new owner. The former one, if any, is not informed. */
  async takeOver(slot: MatchSlot, snapshot: FixtureSnapshot | null = null): Promise<Owner | null> {
    const matchId = slot.football.fixtureId
    const stored = await this.store.load(matchId)
    if (stored === null && snapshot === null) return null
    const epoch = (await this.store.acquire(matchId)) ?? 0
    const record = stored ?? (snapshot === null ? null : newMatch(snapshot, originOf(slot)))
    if (record === null) return null
    if (stored !== null) this.#checkRecord(matchId, await this.#hashOf(matchId))
    hold('fence', epoch > (this.#epochs.get(matchId) ?? 0), () => `epoch ${epoch} is not new`)
    this.#epochs.set(matchId, epoch)
    if (slot.serving !== null) slot.serving.standing = 'stalled'
    this.#options.log(`owner ${epoch} takes match ${matchId}`)
    const owner = this.#ownerOf(slot, record, epoch)
    this.owners.push(owner)
    slot.serving = owner
    return owner
  }

  #ownerOf(slot: MatchSlot, record: MatchRecord, epoch: number): Owner {
    const rules = (): TradingRules => this.rules
    try {
      const actor = new MatchActor({
        record,
        epoch,
        store: this.wire.storeFor(() => owner, rules),
        world: this.world,
        rules,
        model: () => this.#options.model,
        batchMax: (waiting) => this.#batchMax(record.info.matchId, waiting),
        pause: () => Promise.resolve(),
        onCommitted: () => undefined,
        onStopped: (reason, error) => this.#stopped(owner, slot, reason, error),
      })
      const published = new Map(record.instruments.map((i) => [i.id, i.published]))
      const glance = glanceAt(actor.view)
      const owner: Owner = { actor, epoch, slot: slot.n, standing: 'serving', published, failed: false, glance }
      return owner
    } catch (error) {
      throw new Violation('reload', `match ${record.info.matchId} cannot be loaded: ${String(error)}`)
    }
  }

  /** The size of a match's next batch, while this many commands wait for it. */
  #batchMax(matchId: FixtureId, waiting: number): number {
    const max = this.#share.batchMax(matchId, waiting)
    const now = this.world.now()
    if (waiting > 0 && waiting < FEW) this.#trading.set(matchId, now)
    if (waiting > SHARED_BATCH_MAX) {
      // For good: a clock that is set back later does not make them recent again.
      for (const [id, at] of this.#trading) if (now - at > CONSIDERATE_MS) this.#trading.delete(id)
    }
    const others = [...this.#trading.keys()].filter((id) => id !== matchId)
    if (waiting > SHARED_BATCH_MAX && others.length > 0) {
      this.sharedBatches++
      this.#guard(() => hold('share', max <= SHARED_BATCH_MAX, () => `${max} of ${waiting} at once beside others`))
    }
    return Math.min(max, this.#options.batchMax)
  }

  /** Sends a client's request to an actor; the answer is checked when it arrives. */
  send(request: Request, attempt: Attempt): void {
    request.out++
    if (request.key === null) request.closed = true // without a key a client does not retry
    attempt.owner.actor.submit(withBody(request.command, attempt.fingerprint)).then(
      (outcome) => this.#guard(() => this.#answered(request, attempt, outcome)),
      (error: unknown) => this.#guard(() => this.#failed(request, attempt.owner, error)),
    )
  }

  /** Answers a request for a match that is over, as the desk does: from the stored results. */
  async recall(request: Request, fingerprint: string): Promise<void> {
    const { command } = request
    const idempotency = command.kind === 'change_levels' ? null : command.idempotency
    const stored = idempotency === null ? null : await this.store.recall(command.userId, idempotency)
    request.closed = true
    if (stored === null || idempotency === null) return
    const outcome = repeatOf(stored, { ...idempotency, fingerprint })
    checkAnswer(request, fingerprint, outcome, { committed: null, stalled: false }, this.book)
  }

  /** Offers an update to an owner. */
  offer(owner: Owner, update: FeedUpdate): void {
    const { matchId } = owner.actor
    owner.actor.feed(update).then(
      (news) =>
        this.#guard(() => {
          const reached = this.book.matches.get(matchId)?.feedSeq ?? 0
          hold('memory', !news || reached >= update.seq, () => `update ${update.seq} was acknowledged, not committed`)
        }),
      (error: unknown) => this.#guard(() => this.#checkFault(owner, error)),
    )
  }

  clock(owner: Owner): void {
    owner.actor.clock().then(
      () => {
        for (const slot of this.slots) if (slot.serving === owner) slot.rulesChanged = false
      },
      (error: unknown) => this.#guard(() => this.#checkFault(owner, error)),
    )
  }

  /** Publishes what has moved; it must be the current price. */
  publish(owner: Owner): void {
    const ahead = this.wire.calls.some((c) => c.kind === 'commit' && c.owner === owner && c.verdict !== null)
    for (const { instrument, quote } of owner.actor.takeUnpublished()) {
      owner.published.set(instrument.id, quote.price)
      if (ahead || owner.standing !== 'serving') continue
      const { matchId, base, imbalance, ended, settlement } = this.book.instrument(instrument.id)
      if (matchId !== owner.actor.matchId) continue
      same('price', [quote.base, quote.imbalance], [base, ended ?? imbalance], `published quote of ${instrument.id}`)
      hold(
        'settlement',
        settlement === null || quote.price === settlement,
        () => `${instrument.id} is published at another price`,
      )
    }
  }

  /** The store carries out a commit; its answer is not delivered yet. */
  async carryOut(call: CommitCall): Promise<void> {
    const { batch } = call
    const verdict = await this.wire.carryOut(call)
    if (verdict === null) return this.breakOff(call)
    const newest = this.#epochs.get(batch.matchId) ?? 0
    this.#options.log(`store ${verdict.kind} ${batch.events.map((e) => e.kind).join(' ')}`)
    switch (verdict.kind) {
      case 'fenced':
        return hold('fence', batch.epoch < newest, () => 'the rightful owner was turned away')
      case 'rejected':
        for (const failure of verdict.failures) checkFailure(failure, this.book, batch)
        return
      case 'committed': {
        hold('fence', batch.epoch === newest, () => `epoch ${batch.epoch} writes, the newest is ${newest}`)
        await this.tapes.take(batch)
        this.book.take({ ...call, batchMax: this.#options.batchMax, wallets: verdict.wallets })
        call.after = await this.#hashOf(batch.matchId)
        this.#stored.set(batch.matchId, call.after)
      }
    }
  }

  /** Delivers the store's verdict to the actor. */
  async answer(call: CommitCall): Promise<void> {
    const { owner, verdict } = call
    if (verdict === null) return
    this.wire.take(call)
    const committed = verdict.kind === 'committed'
    if (committed) {
      const { batchMax } = this.#options
      this.#delivered = { owner, committed: { ...call, batchMax, wallets: verdict.wallets } }
    }
    call.answer(verdict)
    await turn()
    this.#delivered = null
    if (!committed || this.#problem !== null) return
    if (call.after !== '') same('memory', stateHash(owner.actor.view), call.after, `state of owner ${owner.epoch}`)
    owner.glance = glanceAt(owner.actor.view)
  }

  async answerHistories(call: HistoriesCall): Promise<void> {
    this.wire.take(call)
    const known = new Map(await this.store.histories(call.ids))
    for (const id of call.ids) {
      const anchor = this.#options.anchors.get(id) ?? null
      if (anchor !== null) known.set(id, { last: null, past: null, heldBy: null, ...known.get(id), anchor })
    }
    call.answer(known)
  }

  /** The connection breaks: the actor's call fails, whatever its outcome. */
  breakOff(call: CommitCall | HistoriesCall): void {
    this.wire.take(call)
    call.owner.failed = true
    call.fail(new LostConnection('the connection is lost'))
  }

  /** The process of an owner dies. What it has sent may still arrive. */
  kill(owner: Owner, arrives: () => boolean): void {
    this.#options.log(`owner ${owner.epoch} of slot ${owner.slot} dies`)
    this.wire.cutOff(owner, arrives)
    owner.standing = 'gone'
    for (const slot of this.slots) if (slot.serving === owner) slot.serving = null
  }

  /** The owner is asked to stop, and does not wait for its successor. */
  retire(slot: MatchSlot): void {
    if (slot.serving === null) return
    void slot.serving.actor.stop()
    slot.serving.standing = 'stalled'
    slot.serving = null
  }

  /** Checks the invariants. Throws a Violation. */
  check(): void {
    if (this.#problem !== null) throw this.#problem
    for (const owner of this.owners) {
      if (owner.standing === 'gone') continue
      const glance = glanceAt(owner.actor.view)
      hold('memory', glance === owner.glance, () => `owner ${owner.epoch} changed without a commit`)
    }
    this.#wallets.check()
    for (const { serving, football, rulesChanged } of this.slots) {
      const idle = serving !== null && !this.wire.calls.some((call) => call.owner === serving)
      if (idle && !rulesChanged) this.book.checkTriggers(football.fixtureId)
    }
  }

  /** Changes a setting, which counts from the next batch on. */
  changeRules(change: Partial<TradingRules>): void {
    this.rules = { ...this.rules, ...change }
    for (const slot of this.slots) slot.rulesChanged = true
  }

  #answered(request: Request, { owner, fingerprint, delivered, patient }: Attempt, outcome: Outcome<Trade>): void {
    request.out--
    const result = outcome.ok ? `trade ${outcome.value.position.id}` : outcome.refusal.code
    this.#options.log(`answer ${request.key ?? request.command.kind} ${result}${delivered ? '' : ' (lost)'}`)
    const committed = this.#delivered?.owner === owner ? this.#delivered.committed : null
    checkAnswer(request, fingerprint, outcome, { committed, stalled: owner.standing !== 'serving' }, this.book)
    if (!delivered) request.unknown = true
    else if (outcome.ok || !(patient ? WAIT : ASK_AGAIN).has(outcome.refusal.code)) request.closed = true
  }

  #failed(request: Request, owner: Owner, error: unknown): void {
    request.out--
    request.unknown = true
    this.#checkFault(owner, error)
  }

  /** A fault must have a reason: the connection broke, or another process owns the match. */
  #checkFault(owner: Owner, error: unknown): void {
    const expected = error instanceof LostConnection || error instanceof ActorStopped
    const overtaken = owner.epoch < (this.#epochs.get(owner.actor.matchId) ?? 0)
    hold(
      'alive',
      expected && (owner.failed || overtaken || owner.standing !== 'serving'),
      () => `a fault: ${String(error)}`,
    )
  }

  #stopped(owner: Owner, slot: MatchSlot, reason: StopReason, error: unknown): void {
    this.#options.log(`owner ${owner.epoch} stops: ${reason}`)
    owner.standing = 'stopped'
    if (slot.serving === owner) slot.serving = null
    this.#guard(() => {
      hold('alive', reason !== 'broken', () => `owner ${owner.epoch} broke down: ${String(error)}`)
      this.#checkFault(owner, error)
    })
  }

  /** The digest of a match as stored; empty once it has settled, when other matches may take its players over. */
  async #hashOf(matchId: FixtureId): Promise<string> {
    const record = await this.store.load(matchId)
    return record === null || record.info.settledAt !== null ? '' : recordHash(record)
  }

  #checkRecord(matchId: FixtureId, found: string): void {
    const known = this.#stored.get(matchId)
    hold('reload', known === undefined || known === found, () => `match ${matchId} is loaded as ${found}, was ${known}`)
  }

  #guard(check: () => void): void {
    try {
      check()
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      this.#problem ??= error
    }
  }
}

/** The last match replays a recording, for practice. */
const originOf = ({ n }: MatchSlot): MatchOrigin => (n === 2 ? { replay: true, purse: 'practice' } : { replay: false })

/** A match with fewer commands waiting trades a little; others are considerate of it for a while. */
const FEW = 20
const CONSIDERATE_MS = 250

/** Refusals that say nothing about the request itself. */
const ASK_AGAIN: ReadonlySet<RefusalCode> = new Set(['busy', 'key_in_flight', 'unknown_outcome'])
const WAIT: ReadonlySet<RefusalCode> = new Set([...ASK_AGAIN, ...PATIENCE])

/** Lets everything run that does not wait for the store. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function withBody(command: UserCommand, fingerprint: string): UserCommand {
  if (command.kind === 'change_levels' || command.idempotency === null) return command
  return { ...command, idempotency: { ...command.idempotency, fingerprint } }
}
