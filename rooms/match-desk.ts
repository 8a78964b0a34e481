/**
 * The caller's side of the matches: finds the match that a command is for, wakes it when it sleeps, and brings back an
 * Outcome. It holds no rule of the game and no state of a match.
 */
import { matchMaker } from '@colyseus/core'
import { unreachable } from '../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, PositionId, UserId } from '../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../actors/kernel/limits.ts'
import { type Outcome, type Refusal, refused, type TradeWindow } from '../actors/kernel/outcome.ts'
import { type Instant, instant, SECOND_MS } from '../actors/kernel/world.ts'
import { type MatchActor, replayOf } from '../actors/match/actor.ts'
import type { FeedUpdate, Trade, UserCommand } from '../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../actors/match/quotes.ts'
import { type MatchView, newMatch } from '../actors/match/state.ts'
import type { MatchRecord } from '../actors/match/store.ts'
import type { MatchSurroundings } from './match-host.ts'
import { type HostedMatch, MATCH_ROOM, type MatchRoomOptions } from './match-room.ts'

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
  readonly surroundings: MatchSurroundings
  readonly directory: Directory
  /** Shared with the rooms, which enter and leave it by themselves. */
  readonly hosted: Map<FixtureId, HostedMatch>
}

/** What became of the attempt to have a match here. */
type Activation =
  | { readonly kind: 'active'; readonly actor: MatchActor }
  /** Nobody has ever reported it. */
  | { readonly kind: 'unknown' }
  /** It is over; nothing will happen to it any more. */
  | { readonly kind: 'settled' }
  /** Another process holds its lease, or this one is stopping. */
  | { readonly kind: 'elsewhere' }

/** Where a command goes: to an actor, or nowhere and why. */
type Destination = { readonly actor: MatchActor } | { readonly refusal: Refusal }

const SETTLED: TradeWindow = { status: 'CLOSED', reason: 'the match has been settled' }
const NOT_HERE: Refusal = { code: 'busy', retryAfterSecs: 1 }
/** Between two attempts to take over a match whose last owner may still hold the lease. */
const RETRY_MS = SECOND_MS

export class MatchDesk {
  readonly #options: MatchDeskOptions
  readonly #activations = new Map<FixtureId, Promise<Activation>>()
  /** Matches known to be over: asked about by every poll of a finished fixture, so not looked up each time. */
  readonly #settled = new Set<FixtureId>()
  #stopping = false

  constructor(options: MatchDeskOptions) {
    this.#options = options
  }

  /**
   * Carries out a user's command. Always answers, `unknown_outcome` when nothing was heard within COMMAND_DEADLINE_MS: then
   * it may or may not have happened, and the same idempotency key finds out. Rejects with a fault of the database.
   */
  submit(command: UserCommand): Promise<Outcome<Trade>> {
    const deadline = instant(this.#options.surroundings.world.now() + COMMAND_DEADLINE_MS)
    return withinDeadline(this.#carryOut(command, deadline))
  }

  /** What an opening would cost now. Changes nothing. */
  async quote(query: QuoteQuery): Promise<Outcome<QuoteAnswer>> {
    const destination = await this.#byInstrument(query.instrumentId)
    return 'actor' in destination ? destination.actor.quote(query) : refused(destination.refusal)
  }

  /**
   * Hands a match the provider's next word, creating it with the first one. `dropped`: it was no news, or the match is
   * over. `elsewhere`: not ours to feed now; the same update may be offered again. Rejects with a fault.
   */
  async feed(update: FeedUpdate, options: { readonly replay: boolean }): Promise<'applied' | 'dropped' | 'elsewhere'> {
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

  /** Sees to it that a match runs here. Null when it is unknown, over, or another process has it. */
  async activate(matchId: FixtureId): Promise<MatchActor | null> {
    const activation = await this.#awaken(matchId, null)
    return activation.kind === 'active' ? activation.actor : null
  }

  /** Sees to it that the match of an instrument runs here. */
  async activateFor(id: InstrumentId): Promise<boolean> {
    return 'actor' in (await this.#byInstrument(id))
  }

  /**
   * Activates these matches and does not give up on those whose former owner still holds a lease: no stop-loss may wait for
   * a visitor. Resolves when all run here or are over, or the desk stops.
   */
  async activateOpenMatches(ids: readonly FixtureId[]): Promise<void> {
    await Promise.all(ids.map((id) => this.#keepTrying(id)))
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
    const outcome =
      'actor' in destination
        ? await destination.actor.submit(command, deadline)
        : ((await this.#recall(command)) ?? refused(destination.refusal))
    return this.#withHistory(command, outcome)
  }

  /** A match knows only what is open; a position that closed while the command was on its way is not unknown to its owner. */
  async #withHistory(command: UserCommand, outcome: Outcome<Trade>): Promise<Outcome<Trade>> {
    if (outcome.ok || outcome.refusal.code !== 'not_found' || command.kind === 'open_position') return outcome
    const { positionId, userId } = command
    const found = await this.#options.directory.matchOfPosition(positionId, userId)
    return found?.open === false ? refused({ code: 'position_not_open', positionId }, outcome.replayed) : outcome
  }

  /** The stored answer of a command that had been carried out while its match was still there to ask. */
  async #recall(command: UserCommand): Promise<Outcome<Trade> | null> {
    if (command.kind === 'change_levels' || command.idempotency === null) return null
    const stored = await this.#options.surroundings.store.recall(command.userId, command.idempotency)
    return stored === null ? null : replayOf(stored, command.idempotency)
  }

  async #byInstrument(id: InstrumentId): Promise<Destination> {
    for (const { actor, leaving } of this.#options.hosted.values()) {
      if (leaving === null && actor.view.info.settledAt === null && actor.view.instrument(id) !== undefined) {
        return { actor }
      }
    }
    const matchId = await this.#options.directory.matchOfInstrument(id)
    return matchId === null ? notFound('instrument') : this.#byMatch(matchId, 'instrument')
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
      case 'elsewhere':
        return { refusal: NOT_HERE }
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
    const { store, leases } = this.#options.surroundings
    if (this.#stopping) return { kind: 'elsewhere' }
    if (this.#settled.has(matchId)) return { kind: 'settled' }
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
      const { surroundings, hosted } = this.#options
      // Its stop-losses and its settlement must not wait for a visitor.
      const onFallen = (): void => void this.#keepTrying(matchId)
      const room: MatchRoomOptions = { surroundings, hosted, record, epoch, onFallen }
      await matchMaker.createRoom(MATCH_ROOM, room)
    } catch (error) {
      await leases.release(matchId, epoch)
      throw error
    }
    const actor = this.#running(matchId)
    return actor === undefined ? { kind: 'elsewhere' } : { kind: 'active', actor }
  }

  async #keepTrying(matchId: FixtureId): Promise<void> {
    while (!this.#stopping) {
      try {
        const { kind } = await this.#awaken(matchId, null)
        if (kind !== 'elsewhere') return
      } catch (error) {
        this.#options.surroundings.report(`match ${matchId}: activation`, error)
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
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
