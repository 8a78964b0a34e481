/**
 * The desk is the caller's side of the matches: it finds the match of a command, activates it if necessary, and returns
 * an Outcome. It holds no rules of the game and no state of a match.
 */
import { unreachable } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { type Outcome, refused, type TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import { BUSY, idempotencyOf, repeatOf } from '../../actors/match/entry.ts'
import type { FeedUpdate, IdempotencyKey, Trade, UserCommand } from '../../actors/match/messages.ts'
import { canComeBack, comesBack } from '../../actors/match/new-playing.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { ConsideredSetting, PriceRules, RuleEffect } from '../../actors/match/rule-change.ts'
import { type MatchOrigin, type MatchView, newMatch } from '../../actors/match/state.ts'
import type { ActivationResult } from '../feed/wake-limiter.ts'
import { loadOrQuarantine } from './load.ts'
import type { MatchContext } from './match-host.ts'
import { type Activation, type Destination, notFound, type Reachable } from './destination.ts'
import { answerOr, handling } from './match-requests.ts'
import { OrphanSearch } from './orphan-search.ts'
import { Turns } from './turns.ts'
import { withinDeadline } from './within-deadline.ts'
import type { HostedMatch, MatchRoomOptions } from './match-room.ts'
import { type Asked, type Host, NOT_HERE, type Ownership, type Peers, SETTLED } from '../cluster/peers.ts'
import type { Activity, AnswerOf, Fed, MatchKind, RequestOf } from '../cluster/protocol.ts'

/** The matches of instruments and positions that are not in a match of this process. */
export interface Directory {
  /** The match that lists an instrument now, or null. */
  matchOfInstrument(id: InstrumentId): Promise<FixtureId | null>
  /** The match of this user's position, and whether it is open; null if it does not exist or is another user's. */
  matchOfPosition(
    id: PositionId,
    userId: UserId,
  ): Promise<{ readonly matchId: FixtureId; readonly open: boolean } | null>
}

export interface MatchDeskOptions {
  readonly context: MatchContext
  readonly directory: Directory
  readonly ownership: Ownership
  /** The rooms add and remove themselves. */
  readonly hosted: Map<FixtureId, HostedMatch>
  /** Opens the room of a match. Rejects when its record contradicts itself. */
  readonly openRoom: (room: MatchRoomOptions) => Promise<unknown>
  /** Whether matches may run in this process. */
  readonly runsMatches: boolean
  /** Null when there are no other processes. */
  readonly peers: Peers | null
  /** The rules that a setting would bring into force; null if it is not valid. */
  readonly rulesWith: (setting: ConsideredSetting) => PriceRules | null
  /** Makes the prices of a match in another process available here; false when no process runs it. */
  readonly followRemote: (matchId: FixtureId) => Promise<boolean>
}

/** What a feed shows of a match. */
interface Sighting {
  readonly snapshot: SaidFixture
  readonly origin: MatchOrigin
}
const REMEMBERED_MS = 5_000
const REMEMBERED_MAX = 10_000 // instruments: more than are in play at a time

export class MatchDesk implements Host {
  readonly #options: MatchDeskOptions
  readonly #activations = new Map<FixtureId, Promise<Activation>>()
  /** Settled matches that never come back. Each poll of one asks for it, so they are not looked up each time. */
  readonly #settled = new Set<FixtureId>()
  /** The matches of instruments in other processes, for REMEMBERED_MS. */
  readonly #matches = new Map<InstrumentId, { readonly matchId: FixtureId; readonly until: number }>()
  readonly #turns = new Turns()
  #stopping = false
  readonly #orphans: OrphanSearch
  #givenBack = false

  constructor(options: MatchDeskOptions) {
    this.#options = options
    this.#orphans = new OrphanSearch({
      ...options,
      world: options.context.world,
      isOff: () => this.#stopping || this.#givenBack || !options.runsMatches,
      takeUp: (matchId) => this.#takeUp(matchId),
    })
  }

  /**
   * Carries out a user's command. Without an answer within COMMAND_DEADLINE_MS the outcome is `unknown_outcome`: it may
   * have happened, and a retry with the same idempotency key finds out. Rejects with a fault of the database.
   */
  submit(command: UserCommand): Promise<Outcome<Trade>> {
    const deadline = instant(this.#options.context.world.steady.now() + COMMAND_DEADLINE_MS)
    return withinDeadline(this.#carryOut(command, deadline))
  }

  /** The stored answer to a key, whatever has become of its match; null if it has none. */ // A5
  async recall(user: UserId, idempotency: IdempotencyKey | null): Promise<Outcome<Trade> | null> {
    const stored = idempotency === null ? null : await this.#options.context.store.recall(user, idempotency)
    return stored === null ? null : repeatOf(stored, idempotency)
  }

  /** The cost of an opening now. Changes nothing. */
  async quote(query: QuoteQuery): Promise<Outcome<QuoteAnswer>> {
    const destination = await this.#byInstrument(query.instrumentId)
    if ('actor' in destination) return destination.actor.quote(query)
    if ('refusal' in destination) return refused(destination.refusal)
    return this.ask('quote', { matchId: destination.remote, query })
  }

  /**
   * Sends a match its next feed update, wherever it runs; the first update creates it. The match of a replay runs in
   * the replay's process. `dropped`: the update was old, or the match is over. `elsewhere`: the match could not be
   * reached; offer the update again. Rejects with a fault.
   */
  async feed(update: FeedUpdate, origin: MatchOrigin): Promise<Fed> {
    const { peers } = this.#options
    const isHere = origin.replay || peers === null || this.#running(update.snapshot.fixtureId) !== undefined
    const fed = isHere ? null : await peers.offer(update)
    // Without the bus no other process hears of a match that has no owner.
    return fed ?? this.feedHere(update, origin)
  }

  /** The same for a match that must run in this process. */
  async feedHere(update: FeedUpdate, origin: MatchOrigin): Promise<Fed> {
    const { snapshot } = update
    const activation = await this.#activation(snapshot.fixtureId, { snapshot, origin })
    switch (activation.kind) {
      case 'active': {
        const { actor } = activation
        // Its feed has forgotten the number of a match that was over; that of its record counts on.
        const seq = comesBack(actor.view.info, snapshot) ? actor.view.info.feedSeq + 1 : update.seq
        return (await actor.feed({ ...update, seq })) ? 'applied' : 'dropped'
      }
      case 'settled':
      case 'unknown':
        return 'dropped'
      case 'elsewhere':
        return 'elsewhere'
      default:
        return unreachable(activation)
    }
  }

  /**
   * Asks a match, wherever it runs; one that no process runs is activated first. `unanswered` of its kind in
   * `match-requests.ts` stands for no answer. Rejects with a fault.
   */
  async ask<K extends MatchKind>(kind: K, request: RequestOf<K>): Promise<AnswerOf<K>> {
    return answerOr(kind, request, await this.#asked(kind, request))
  }

  /** Runs a match here. Null when it is unknown or settled, or another process runs it. */
  async activate(matchId: FixtureId): Promise<MatchActor | null> {
    const activation = await this.#activation(matchId, null)
    return activation.kind === 'active' ? activation.actor : null
  }

  /** Runs the match of an instrument in some process, and makes its prices available here. */
  async activateFor(id: InstrumentId): Promise<ActivationResult> {
    const destination = await this.#byInstrument(id)
    if ('actor' in destination) return 'active'
    if ('remote' in destination) return (await this.#options.followRemote(destination.remote)) ? 'active' : 'busy'
    return destination.refusal.code === 'busy' ? 'busy' : 'unknown'
  }

  /**
   * Runs every unsettled match that no process runs: no stop-loss may wait for a client. Call it about once a second,
   * and when a process is gone. Rejects with a fault.
   */
  lookForOrphans(): Promise<void> {
    return this.#orphans.look()
  }

  /** Stops every match here, and takes none up until `resume`. */
  async giveBack(): Promise<void> {
    this.#givenBack = true
    await Promise.allSettled([...this.#options.hosted.values()].map((match) => match.retire()))
  }

  resume(): void {
    this.#givenBack = false
  }

  /** Whether other processes run the matches, because this one does not hear them: it reaches none of them. */
  get hasGivenBack(): boolean {
    return this.#givenBack
  }

  // For other processes (Host).

  get size(): number {
    return this.#options.hosted.size + this.#activations.size
  }

  async answerHere<K extends MatchKind>(kind: K, request: RequestOf<K>): Promise<AnswerOf<K> | undefined> {
    const actor = this.#running(request.matchId)
    return actor && handling(kind).here(actor, request, { ...this.#options, world: this.#options.context.world })
  }

  async activityHere(matchId: FixtureId): Promise<Activity> {
    return (await this.#activation(matchId, null)).kind
  }

  /** The committed state of a match that runs here. */
  view(matchId: FixtureId): MatchView | undefined {
    return this.#running(matchId)?.view
  }

  /** What a valid setting would do to the matches that run here, and to those in other processes. */
  async effectsOf(setting: ConsideredSetting): Promise<readonly RuleEffect[]> {
    const { hosted, ownership, peers } = this.#options
    const here = [...hosted.keys()].map((matchId) => this.answerHere('effect', { matchId, setting }))
    const known = (await Promise.all(here)).filter((effect) => effect !== undefined)
    if (peers === null) return known
    const running = new Set(known.map(({ matchId }) => matchId))
    const others = (await ownership.elsewhere()).filter((matchId) => !running.has(matchId))
    return [...known, ...(await Promise.all(others.map((matchId) => this.ask('effect', { matchId, setting }))))]
  }

  /** The trade window of a match that runs here, or of one of its instruments. */
  window(matchId: FixtureId, instrumentId?: InstrumentId): TradeWindow | undefined {
    return this.#running(matchId)?.window(instrumentId)
  }

  /** Refuses commands and starts no matches; resolves when no start is under way. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.allSettled(this.#activations.values())
  }

  async #asked<K extends MatchKind>(kind: K, request: RequestOf<K>): Promise<Asked<AnswerOf<K>>> {
    const { peers } = this.#options
    const activity = peers === null ? await this.activityHere(request.matchId) : 'elsewhere'
    const answer = await this.answerHere(kind, request)
    if (answer !== undefined) return { kind: 'answered', answer }
    if (peers !== null) return peers.ask(kind, request, handling(kind).withinMs(request))
    return { kind: activity === 'unknown' || activity === 'settled' ? activity : 'unowned' }
  }

  async #carryOut(command: UserCommand, deadline: Instant): Promise<Outcome<Trade>> {
    if (this.#stopping) return refused(NOT_HERE)
    const destination =
      command.kind === 'open_position'
        ? await this.#byInstrument(command.instrumentId)
        : await this.#byPosition(command.positionId, command.userId)
    return this.#withHistory(command, await this.#deliver(command, destination, deadline))
  }

  async #deliver(command: UserCommand, destination: Destination, deadline: Instant): Promise<Outcome<Trade>> {
    if ('refusal' in destination)
      return (await this.recall(command.userId, idempotencyOf(command))) ?? refused(destination.refusal)
    const matchId = 'actor' in destination ? destination.actor.matchId : destination.remote
    if (!this.#turns.hasRoom(matchId)) return BUSY
    await this.#turns.next(matchId)
    const outcome = await this.#send(command, destination, deadline)
    await this.#turns.next(matchId)
    return outcome
  }

  async #send(command: UserCommand, destination: Reachable, deadline: Instant): Promise<Outcome<Trade>> {
    if ('actor' in destination) return destination.actor.submit(command, deadline)
    const leftMs = Math.max(0, deadline - this.#options.context.world.steady.now())
    const request = { matchId: destination.remote, command, leftMs }
    const asked = await this.#asked('command', request)
    const refusal = answerOr('command', request, asked)
    if (asked.kind === 'answered' || asked.kind === 'silent') return refusal
    return (await this.recall(command.userId, idempotencyOf(command))) ?? refusal
  }

  /** A match knows only open positions; one that has just closed is not unknown to its owner. */
  async #withHistory(command: UserCommand, outcome: Outcome<Trade>): Promise<Outcome<Trade>> {
    if (outcome.ok || outcome.refusal.code !== 'not_found' || command.kind === 'open_position') return outcome
    const { positionId, userId } = command
    const found = await this.#options.directory.matchOfPosition(positionId, userId)
    return found?.open === false ? refused({ code: 'position_not_open', positionId }, outcome.repeated) : outcome
  }

  async #byInstrument(id: InstrumentId): Promise<Destination> {
    for (const { actor, leaving } of this.#options.hosted.values()) {
      if (leaving === null && actor.view.info.settledAt === null && actor.view.instrument(id) !== undefined) {
        return { actor }
      }
    }
    const matchId = await this.#matchOf(id)
    return matchId === null ? notFound('instrument') : this.#byMatch(matchId, 'instrument')
  }

  /** Remembered, since a process without the match would query the database for every order. */
  async #matchOf(id: InstrumentId): Promise<FixtureId | null> {
    const { directory, peers, context } = this.#options
    if (peers === null) return directory.matchOfInstrument(id)
    const now = context.world.steady.now()
    const known = this.#matches.get(id)
    if (known !== undefined && known.until > now) return known.matchId
    const matchId = await directory.matchOfInstrument(id)
    if (matchId === null) return null
    if (this.#matches.size >= REMEMBERED_MAX) this.#matches.clear()
    this.#matches.set(id, { matchId, until: now + REMEMBERED_MS })
    return matchId
  }

  async #byPosition(id: PositionId, userId: UserId): Promise<Destination> {
    for (const { actor, leaving } of this.#options.hosted.values()) {
      if (leaving === null && actor.view.position(id) !== undefined) return { actor }
    }
    const found = await this.#options.directory.matchOfPosition(id, userId)
    if (found === null) return notFound('position')
    if (!found.open) return { refusal: { code: 'position_not_open', positionId: id } }
    return this.#byMatch(found.matchId, 'position')
  }

  async #byMatch(matchId: FixtureId, what: 'instrument' | 'position'): Promise<Destination> {
    const activation = await this.#activation(matchId, null)
    switch (activation.kind) {
      case 'active':
        return { actor: activation.actor }
      case 'unknown':
        return notFound(what)
      case 'settled':
        return { refusal: { code: 'market_closed', window: SETTLED } }
      case 'elsewhere':
        return this.#options.peers === null || this.#stopping ? { refusal: NOT_HERE } : { remote: matchId }
      default:
        return unreachable(activation)
    }
  }

  #running(matchId: FixtureId): MatchActor | undefined {
    const hosted = this.#options.hosted.get(matchId)
    return hosted?.leaving === null ? hosted.actor : undefined
  }

  /** One activation at a time per match. With a `sighting` also of one that is not stored yet, or comes back. */
  async #activation(matchId: FixtureId, sighting: Sighting | null): Promise<Activation> {
    const actor = this.#running(matchId)
    if (actor !== undefined) return { kind: 'active', actor }
    const underWay = this.#activations.get(matchId)
    if (underWay !== undefined) {
      const activation = await underWay
      const mayStart = sighting !== null && (activation.kind === 'unknown' || activation.kind === 'settled')
      return mayStart ? this.#activation(matchId, sighting) : activation
    }
    const activation = this.#start(matchId, sighting).finally(() => this.#activations.delete(matchId))
    this.#activations.set(matchId, activation)
    return activation
  }

  async #start(matchId: FixtureId, sighting: Sighting | null): Promise<Activation> {
    const { ownership, peers, runsMatches, context } = this.#options
    const { leases } = context
    if (this.#stopping || this.#givenBack || !runsMatches) return { kind: 'elsewhere' }
    if (this.#settled.has(matchId)) return { kind: 'settled' }
    // Loading a match that another process runs would cost that process as much as a commit.
    if (peers !== null && (await ownership.ownerOf(matchId)) !== null) return { kind: 'elsewhere' }
    await this.#options.hosted.get(matchId)?.leaving
    // Before the lease is acquired: an unknown or settled match needs none.
    const known = await loadOrQuarantine(context, matchId)
    if (known === null && sighting === null) return { kind: 'unknown' }
    if (known !== null && known.info.settledAt !== null) {
      if (!canComeBack(known.info)) this.#settled.add(matchId)
      if (sighting === null || !comesBack(known.info, sighting.snapshot)) return { kind: 'settled' }
    }
    const epoch = await leases.acquire(matchId)
    if (epoch === null) return { kind: 'elsewhere' }
    try {
      // Again: the former owner may have written until now.
      const fresh = sighting === null ? null : newMatch(sighting.snapshot, sighting.origin)
      const record = (await loadOrQuarantine(context, matchId)) ?? fresh ?? known
      if (record === null) return { kind: 'unknown' }
      const { hosted } = this.#options
      // Its stop-losses and its settlement must not wait for a client.
      const onFallen = (): void => void this.#takeUp(matchId)
      await this.#options.openRoom({ context, hosted, record, epoch, onFallen })
    } catch (error) {
      await leases.release(matchId, epoch)
      throw error
    }
    const actor = this.#running(matchId)
    return actor === undefined ? { kind: 'elsewhere' } : { kind: 'active', actor }
  }

  /** After a failure the match is an orphan, and found again. */
  async #takeUp(matchId: FixtureId): Promise<void> {
    try {
      await this.#activation(matchId, null)
    } catch (error) {
      this.#options.context.report('match_activation_failed', error, { matchId })
    }
  }
}
