/**
 * The caller's side of the matches: finds the match that a command is for, wakes it when it sleeps, and brings back an
 * Outcome. It holds no rule of the game and no state of a match.
 */
import { matchMaker } from '@colyseus/core'
import { unreachable } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { type Outcome, type Refusal, refused, type TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import { repeatOf } from '../../actors/match/entry.ts'
import type { FeedUpdate, Trade, UserCommand } from '../../actors/match/messages.ts'
import { type Ending, finalSnapshot } from '../../actors/match/ending.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import { type MatchView, newMatch } from '../../actors/match/state.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import type { ActivationResult } from '../feed/wake-limiter.ts'
import type { MatchContext } from './match-host.ts'
import { type HostedMatch, MATCH_ROOM, type MatchRoomOptions } from './match-room.ts'
import { type Host, NOT_HERE, type Ownership, type Peers, placing, SETTLED } from '../cluster/peers.ts'
import type { Activity, Fed } from '../cluster/protocol.ts'

/** Where things are that no match of this process knows. */
export interface Directory {
  /** The match an instrument belongs to now, or null. */
  matchOfInstrument(id: InstrumentId): Promise<FixtureId | null>
  /** The match of this user's position, and whether it is still open; null when there is none, or it is another's. */
  matchOfPosition(
    id: PositionId,
    userId: UserId,
  ): Promise<{ readonly matchId: FixtureId; readonly open: boolean } | null>
}

export interface MatchDeskOptions {
  readonly context: MatchContext
  readonly directory: Directory
  readonly ownership: Ownership
  /** Shared with the rooms, which enter and leave it by themselves. */
  readonly hosted: Map<FixtureId, HostedMatch>
  /** Whether matches may run in this process. */
  readonly runsMatches: boolean
  /** The other processes; null when there is none. */
  readonly peers: Peers | null
  /** Sees to it that the prices of a match of another process are here; false when there is no such match. */
  readonly followRemote: (matchId: FixtureId) => Promise<boolean>
}

/** How often a match is told its end while its feed goes on speaking. */
const END_TRIES = 5

/** What became of the attempt to end a match. */
export type Ended = 'ending' | 'over' | 'unknown' | 'elsewhere'

/** What became of the attempt to have a match here. */
type Activation =
  | { readonly kind: 'active'; readonly actor: MatchActor }
  /** Nobody has ever reported it. */
  | { readonly kind: 'unknown' }
  /** It is over; nothing will happen to it any more. */
  | { readonly kind: 'settled' }
  /** Another process holds its lease, or this one is stopping. */
  | { readonly kind: 'elsewhere' }

/** Where a command goes: to an actor, to another process, or nowhere and why. */
type Destination =
  | { readonly actor: MatchActor }
  | { readonly remote: FixtureId; readonly peers: Peers; readonly what: 'instrument' | 'position' }
  | { readonly refusal: Refusal }

const REMEMBERED_MS = 5_000
/** Instruments remembered: more than are played at a time. */
const REMEMBERED_MAX = 10_000

export class MatchDesk implements Host {
  readonly #options: MatchDeskOptions
  readonly #activations = new Map<FixtureId, Promise<Activation>>()
  /** Matches known to be over: asked about by every poll of a finished fixture, so not looked up each time. */
  readonly #settled = new Set<FixtureId>()
  /** Where instruments of other processes were a moment ago. */
  readonly #matches = new Map<InstrumentId, { readonly matchId: FixtureId; readonly until: number }>()
  #stopping = false

  constructor(options: MatchDeskOptions) {
    this.#options = options
  }

  /**
   * Carries out a user's command. Always answers, `unknown_outcome` when nothing was heard within COMMAND_DEADLINE_MS: then
   * it may or may not have happened, and the same idempotency key finds out. Rejects with a fault of the database.
   */
  submit(command: UserCommand): Promise<Outcome<Trade>> {
    const deadline = instant(this.#options.context.world.now() + COMMAND_DEADLINE_MS)
    return withinDeadline(this.#carryOut(command, deadline))
  }

  /** What an opening would cost now. Changes nothing. */
  async quote(query: QuoteQuery): Promise<Outcome<QuoteAnswer>> {
    const destination = await this.#byInstrument(query.instrumentId)
    if ('actor' in destination) return destination.actor.quote(query)
    return 'remote' in destination
      ? destination.peers.askQuote(destination.remote, query)
      : refused(destination.refusal)
  }

  /**
   * Hands a match the provider's next word, wherever it runs, creating it with the first one. A replay's match runs where
   * its replay does. `dropped`: it was no news, or the match is over. `elsewhere`: it could not be handed over; the same
   * update may be offered again. Rejects with a fault.
   */
  async feed(update: FeedUpdate, { replay }: { readonly replay: boolean }): Promise<Fed> {
    const { peers } = this.#options
    const isHere = replay || peers === null || this.#running(update.snapshot.fixtureId) !== undefined
    return isHere ? this.feedHere(update, { replay }) : peers.offer(update)
  }

  /** The same for a match that is to run in this process. */
  async feedHere(update: FeedUpdate, options: { readonly replay: boolean }): Promise<Fed> {
    const activation = await this.#awaken(update.snapshot.fixtureId, () => newMatch(update.snapshot, options))
    switch (activation.kind) {
      case 'active':
        return (await activation.actor.feed(update)) ? 'applied' : 'dropped'
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
   * Ends a match by an operator's word, wherever it runs; what is open in it is settled, or void, from then on. `over`: that
   * has begun already. `elsewhere`: it could not be told. Rejects with a fault.
   */
  async end(matchId: FixtureId, ending: Ending): Promise<Ended> {
    const { store, world } = this.#options.context
    for (let tries = 0; tries < END_TRIES; tries++) {
      const record = await store.load(matchId)
      if (record === null) return 'unknown'
      if (record.info.settling !== null) return 'over'
      const snapshot = finalSnapshot(record, ending, world.now())
      const update: FeedUpdate = { kind: 'feed_update', seq: record.info.feedSeq + 1, snapshot }
      const fed = await this.feed(update, { replay: false })
      if (fed === 'applied') return 'ending'
      if (fed === 'elsewhere') return 'elsewhere'
      // Dropped: the feed has spoken meanwhile, so the word is said again, after that.
    }
    return 'elsewhere'
  }

  /** Sees to it that a match runs here. Null when it is unknown, over, or another process has it. */
  async activate(matchId: FixtureId): Promise<MatchActor | null> {
    const activation = await this.#awaken(matchId, null)
    return activation.kind === 'active' ? activation.actor : null
  }

  /** Sees to it that the match of an instrument runs, and that its prices are here. */
  async activateFor(id: InstrumentId): Promise<ActivationResult> {
    const destination = await this.#byInstrument(id)
    if ('actor' in destination) return 'awake'
    if ('remote' in destination) return (await this.#options.followRemote(destination.remote)) ? 'awake' : 'busy'
    return destination.refusal.code === 'busy' ? 'busy' : 'nobody'
  }

  /**
   * Takes up every unsettled match that no process runs: no stop-loss may wait for a visitor. To be called about once a
   * second. Rejects with a fault.
   */
  async lookForOrphans(): Promise<void> {
    const { ownership, peers, hosted, runsMatches } = this.#options
    if (!runsMatches) return
    for (const matchId of await ownership.orphans([...hosted.keys()])) {
      if (this.#stopping) return
      if (peers !== null) await placing(hosted.size)
      await this.#takeUp(matchId)
    }
  }

  // What other processes ask of this one (Host).

  get size(): number {
    return this.#options.hosted.size
  }

  submitHere(matchId: FixtureId, command: UserCommand, deadline: Instant): Promise<Outcome<Trade>> | undefined {
    return this.#running(matchId)?.submit(command, deadline)
  }

  quoteHere(matchId: FixtureId, query: QuoteQuery): Outcome<QuoteAnswer> | undefined {
    return this.#running(matchId)?.quote(query)
  }

  async activityHere(matchId: FixtureId): Promise<Activity> {
    return (await this.#awaken(matchId, null)).kind
  }

  /** The committed state of a match that runs here. */
  view(matchId: FixtureId): MatchView | undefined {
    return this.#running(matchId)?.view
  }

  /** The trade window of a match that runs here, or of one of its instruments. */
  window(matchId: FixtureId, instrumentId?: InstrumentId): TradeWindow | undefined {
    return this.#running(matchId)?.window(instrumentId)
  }

  /** Takes no more commands and starts no more matches; resolves when no start is under way. */
  async stop(): Promise<void> {
    this.#stopping = true
    await Promise.allSettled(this.#activations.values())
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
    if ('actor' in destination) return destination.actor.submit(command, deadline)
    let refusal: Refusal
    if ('remote' in destination) {
      const { remote, peers, what } = destination
      const answer = await peers.submit(remote, command, { deadline, what })
      if ('outcome' in answer) return answer.outcome
      refusal = answer.refusal
    } else refusal = destination.refusal
    return (await this.#recall(command)) ?? refused(refusal)
  }

  /** A match knows only what is open; a position that closed while the command was on its way is not unknown to its owner. */
  async #withHistory(command: UserCommand, outcome: Outcome<Trade>): Promise<Outcome<Trade>> {
    if (outcome.ok || outcome.refusal.code !== 'not_found' || command.kind === 'open_position') return outcome
    const { positionId, userId } = command
    const found = await this.#options.directory.matchOfPosition(positionId, userId)
    return found?.open === false ? refused({ code: 'position_not_open', positionId }, outcome.repeated) : outcome
  }

  /** The stored answer of a command that had been carried out while its match was still there to ask. */
  async #recall(command: UserCommand): Promise<Outcome<Trade> | null> {
    if (command.kind === 'change_levels' || command.idempotency === null) return null
    const stored = await this.#options.context.store.recall(command.userId, command.idempotency)
    return stored === null ? null : repeatOf(stored, command.idempotency)
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

  /** A process without the match would ask the database for every order; a player changes matches once in days. */
  async #matchOf(id: InstrumentId): Promise<FixtureId | null> {
    const { directory, peers, context } = this.#options
    if (peers === null) return directory.matchOfInstrument(id)
    const now = context.world.now()
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
    const activation = await this.#awaken(matchId, null)
    switch (activation.kind) {
      case 'active':
        return { actor: activation.actor }
      case 'unknown':
        return notFound(what)
      case 'settled':
        return { refusal: { code: 'market_closed', window: SETTLED } }
      case 'elsewhere': {
        const { peers } = this.#options
        return peers === null || this.#stopping ? { refusal: NOT_HERE } : { remote: matchId, peers, what }
      }
      default:
        return unreachable(activation)
    }
  }

  #running(matchId: FixtureId): MatchActor | undefined {
    const hosted = this.#options.hosted.get(matchId)
    return hosted?.leaving === null ? hosted.actor : undefined
  }

  /** One activation at a time per match; `fresh` makes the record of one that nobody has reported yet. */
  async #awaken(matchId: FixtureId, fresh: (() => MatchRecord) | null): Promise<Activation> {
    const actor = this.#running(matchId)
    if (actor !== undefined) return { kind: 'active', actor }
    const underWay = this.#activations.get(matchId)
    if (underWay !== undefined) {
      const activation = await underWay
      return activation.kind === 'unknown' && fresh !== null ? this.#awaken(matchId, fresh) : activation
    }
    const activation = this.#start(matchId, fresh).finally(() => this.#activations.delete(matchId))
    this.#activations.set(matchId, activation)
    return activation
  }

  async #start(matchId: FixtureId, fresh: (() => MatchRecord) | null): Promise<Activation> {
    const { ownership, peers, runsMatches, context } = this.#options
    const { store, leases } = context
    if (this.#stopping || !runsMatches) return { kind: 'elsewhere' }
    if (this.#settled.has(matchId)) return { kind: 'settled' }
    // To load what another process runs would cost it as much as a commit.
    if (peers !== null && (await ownership.ownerOf(matchId)) !== null) return { kind: 'elsewhere' }
    await this.#options.hosted.get(matchId)?.leaving
    // Before the lease is taken: an unknown or finished match needs none.
    const known = await store.load(matchId)
    if (known === null && fresh === null) return { kind: 'unknown' }
    if (known !== null && known.info.settledAt !== null) {
      this.#settled.add(matchId)
      return { kind: 'settled' }
    }
    const epoch = await leases.acquire(matchId)
    if (epoch === null) return { kind: 'elsewhere' }
    try {
      // Again: until now the former owner may have written.
      const record = (await store.load(matchId)) ?? fresh?.() ?? known
      if (record === null) return { kind: 'unknown' }
      const { hosted } = this.#options
      // Its stop-losses and its settlement must not wait for a visitor.
      const onFallen = (): void => void this.#takeUp(matchId)
      const room: MatchRoomOptions = { context, hosted, record, epoch, onFallen }
      await matchMaker.createRoom(MATCH_ROOM, room)
    } catch (error) {
      await leases.release(matchId, epoch)
      throw error
    }
    const actor = this.#running(matchId)
    return actor === undefined ? { kind: 'elsewhere' } : { kind: 'active', actor }
  }

  /** What fails now is an orphan, and found again. */
  async #takeUp(matchId: FixtureId): Promise<void> {
    try {
      await this.#awaken(matchId, null)
    } catch (error) {
      this.#options.context.report('match_activation_failed', error, { matchId })
    }
  }
}

const notFound = (what: 'instrument' | 'position'): Destination => ({ refusal: { code: 'not_found', what } })

/** The outcome, or `unknown_outcome` when it takes too long. A late answer is dropped, a late fault too. */
async function withinDeadline(outcome: Promise<Outcome<Trade>>): Promise<Outcome<Trade>> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Outcome<Trade>>((resolve) => {
    timer = setTimeout(() => resolve(refused({ code: 'unknown_outcome', retryAfterSecs: 1 })), COMMAND_DEADLINE_MS)
  })
  try {
    return await Promise.race([outcome, late])
  } finally {
    clearTimeout(timer)
  }
}
