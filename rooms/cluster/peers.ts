/**
 * Sends commands, questions and feed updates to the processes that run their matches. The lease in the database says
 * which process that is; what this process remembers is only a hint where to ask first.
 */
import type { FixtureId, PositionId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { type Outcome, type Refusal, refused, type TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Ending, FeedUpdate, Trade, UserCommand } from '../../actors/match/messages.ts'
import type { MatchOrigin } from '../../actors/match/state.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { ConsideredSetting, RuleEffect } from '../../actors/match/rule-change.ts'
import type { ProcessId } from './bus.ts'
import type { Activity, ClusterBus, Ended, Fed, Requests, Voided } from './protocol.ts'

/** What this process does for the others. Undefined: the match does not run here. */
export interface Host {
  /** The number of matches that run here. */
  readonly size: number
  submitHere(matchId: FixtureId, command: UserCommand, deadline: Instant): Promise<Outcome<Trade>> | undefined
  quoteHere(matchId: FixtureId, query: QuoteQuery): Outcome<QuoteAnswer> | undefined
  effectHere(matchId: FixtureId, setting: ConsideredSetting): RuleEffect | undefined
  feedHere(update: FeedUpdate, origin: MatchOrigin): Promise<Fed>
  endHere(matchId: FixtureId, ending: Ending): Promise<Ended | undefined>
  voidHere(matchId: FixtureId, id: PositionId): Promise<Voided | undefined>
  activityHere(matchId: FixtureId): Promise<Activity>
}

/** The owners of matches, by the leases in the database. */
export interface Ownership {
  /** The process that holds an unexpired lease of the match, or null. */
  ownerOf(matchId: FixtureId): Promise<ProcessId | null>
  /** The matches for which another process holds an unexpired lease. */
  elsewhere(): Promise<readonly FixtureId[]>
  /** Unsettled matches without an owner, except those in `running`. */
  orphans(running: readonly FixtureId[]): Promise<readonly FixtureId[]>
}

export interface PeersOptions {
  readonly bus: ClusterBus
  readonly ownership: Pick<Ownership, 'ownerOf'>
  readonly world: Pick<World, 'now' | 'randomInt'>
}

/** The group of the processes that run matches. */
const HOSTS = 'hosts'
/**
 * A process waits longer the more matches it runs, so that the one with the fewest is the first to take another. Chance
 * decides between equals: without it, forty processes that have just started would all query the database for a match.
 */
const PLACING_MS = { perMatch: 20, most: 400, chance: 60 } as const
/** To find a process that activates a match, including the wait for placement. */
const WAKE_MS = 1_500
/** To commit a feed update; the batch before it may be a large one. */
const FEED_MS = 5 * SECOND_MS
/**
 * During a handover the owner is asked at most 36 times, 50 ms apart, and not in the last moments in which the next
 * owner could hardly answer: that nothing has happened is a better answer than that it is unknown.
 */
const HANDOVER = { tries: 36, pauseMs: 50, answerMs: 150 } as const
/** Owners remembered: more than there are matches at a time. */
const REMEMBERED_MAX = 1_000

export const NOT_HERE: Refusal = { code: 'busy', retryAfterSecs: 1 }
export const SETTLED: TradeWindow = { status: 'CLOSED', reason: 'the match has been settled' }

/** `unowned`: no process runs it now, so nothing has happened. `silent`: something may have. */
type Asked<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'unowned' | 'silent' | 'unknown' | 'settled' }

/** The requests that the owner of a match answers. */
type OwnerKind = Exclude<keyof Requests, 'wake' | 'feed'>
type AnswerOf<K extends keyof Requests> = NonNullable<Requests[K]['answer']>

export class Peers {
  readonly #options: PeersOptions
  readonly #owners = new Map<FixtureId, ProcessId>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** From now on other processes can ask for the matches of this one. */
  async open(host: Host): Promise<void> {
    const { bus, world } = this.#options
    this.serve('command', ({ matchId, command, leftMs }) =>
      host.submitHere(matchId, command, instant(world.now() + leftMs)),
    )
    this.serve('quote', ({ matchId, query }) => host.quoteHere(matchId, query))
    this.serve('effect', ({ matchId, setting }) => host.effectHere(matchId, setting))
    this.serve('end', ({ matchId, ending }) => host.endHere(matchId, ending))
    this.serve('void', ({ matchId, positionId }) => host.voidHere(matchId, positionId))
    bus.serve('wake', async ({ matchId }) => {
      // If not, another process was faster, and answers.
      if (!(await this.isNext(matchId, host.size))) return undefined
      const activity = await host.activityHere(matchId)
      return activity === 'elsewhere' ? undefined : { activity, owner: bus.processId }
    })
    bus.serve('feed', async ({ matchId, update, isPlaced }) => {
      if (!isPlaced && !(await this.isNext(matchId, host.size))) return undefined
      const fed = await host.feedHere(update, { replay: false })
      return fed === 'elsewhere' && !isPlaced ? undefined : fed
    })
    await bus.join(HOSTS)
  }

  /** Answers requests of this kind about matches that run here. */
  serve<K extends OwnerKind>(
    kind: K,
    answer: (request: Requests[K]['request']) => Promise<AnswerOf<K> | undefined> | AnswerOf<K> | undefined,
  ): void {
    this.#options.bus.serve(kind, async (request) => (await answer(request)) ?? null)
  }

  /** Carries out a command where its match runs, or returns why it cannot. Rejects with a fault of that process. */
  async submit(
    matchId: FixtureId,
    command: UserCommand,
    { deadline, what }: { readonly deadline: Instant; readonly what: 'instrument' | 'position' },
  ): Promise<{ readonly outcome: Outcome<Trade> } | { readonly refusal: Refusal }> {
    const leftMs = Math.max(0, deadline - this.#options.world.now())
    const asked = await this.ask('command', { matchId, command, leftMs }, leftMs)
    if (asked.kind === 'silent') return { outcome: refused({ code: 'unknown_outcome', retryAfterSecs: 1 }) }
    return asked.kind === 'answered' ? { outcome: asked.answer } : { refusal: refusalOf(asked.kind, what) }
  }

  async askQuote(matchId: FixtureId, query: QuoteQuery): Promise<Outcome<QuoteAnswer>> {
    const asked = await this.ask('quote', { matchId, query }, COMMAND_DEADLINE_MS)
    if (asked.kind === 'silent') return refused(NOT_HERE)
    return asked.kind === 'answered' ? asked.answer : refused(refusalOf(asked.kind, 'instrument'))
  }

  /** What a setting would do to a match that runs elsewhere; not `known` without an answer. */
  async effect(matchId: FixtureId, setting: ConsideredSetting): Promise<RuleEffect> {
    const asked = await this.ask('effect', { matchId, setting }, COMMAND_DEADLINE_MS)
    if (asked.kind === 'answered') return asked.answer
    return { matchId, known: asked.kind === 'settled', moves: [], closes: 0 }
  }

  /** Ends a match where it runs. Without an answer it may have ended: ending it again finds out. */
  async end(matchId: FixtureId, ending: Ending): Promise<Ended> {
    const asked = await this.ask('end', { matchId, ending }, FEED_MS)
    if (asked.kind === 'answered') return asked.answer
    if (asked.kind === 'settled') return 'over'
    return asked.kind === 'unknown' ? 'unknown' : 'elsewhere'
  }

  /** Voids an open position where its match runs. Without an answer it may be void: its row tells. */
  async void(matchId: FixtureId, positionId: PositionId): Promise<Voided> {
    const asked = await this.ask('void', { matchId, positionId }, FEED_MS)
    if (asked.kind === 'answered') return asked.answer
    return asked.kind === 'settled' || asked.kind === 'unknown' ? 'closed' : 'elsewhere'
  }

  /**
   * Sends a match its feed update, wherever it runs. Without an owner, the process with the fewest matches takes it.
   */
  async offer(update: FeedUpdate): Promise<Fed> {
    const { bus } = this.#options
    const { fixtureId: matchId } = update.snapshot
    const owner = await this.#ownerOf(matchId)
    const reply =
      owner === null
        ? await bus.askAny(HOSTS, 'feed', { matchId, update, isPlaced: false }, FEED_MS)
        : await bus.ask(owner, 'feed', { matchId, update, isPlaced: true }, FEED_MS)
    if (reply.kind === 'answered' && reply.answer !== null && reply.answer !== 'elsewhere') return reply.answer
    this.#owners.delete(matchId)
    return 'elsewhere'
  }

  /** Asks the process that runs a match; a match without an owner is activated first. */
  async ask<K extends OwnerKind>(
    kind: K,
    request: Requests[K]['request'],
    withinMs: number,
  ): Promise<Asked<AnswerOf<K>>> {
    const { bus, world } = this.#options
    const { matchId } = request
    const deadline = world.now() + withinMs
    let gone = 0
    for (let tries = 0; tries < HANDOVER.tries && world.now() <= deadline; tries++) {
      // One miss means that the remembered owner was wrong. Two mean that the owner is handing the match over.
      if (tries > 1) {
        await pause(HANDOVER.pauseMs)
        if (deadline - world.now() < HANDOVER.answerMs) break
      }
      const owner = await this.#find(matchId)
      if (typeof owner !== 'string') return owner
      const reply = await bus.ask(owner, kind, request, Math.max(1, deadline - world.now()))
      if (reply.kind === 'answered' && reply.answer !== null) return { kind: 'answered', answer: reply.answer }
      this.#owners.delete(matchId)
      if (reply.kind === 'silent') return { kind: 'silent' }
      // The owner has died, or is of a version that cannot read the request; it may hold its lease for a while yet.
      if (reply.kind === 'gone' && ++gone > 1) break
    }
    return { kind: 'unowned' }
  }

  /** Remembers that this match runs in that process. */
  learn(matchId: FixtureId, owner: ProcessId): void {
    if (this.#owners.size >= REMEMBERED_MAX) this.#owners.clear()
    this.#owners.set(matchId, owner)
  }

  /**
   * Waits longer the more matches this process runs, as long as others may take a match that has no owner. False if one
   * has said that it runs the match: nothing must then be asked of the database.
   */
  async isNext(matchId: FixtureId, size: number): Promise<boolean> {
    this.#owners.delete(matchId)
    const { perMatch, most, chance } = PLACING_MS
    await pause(Math.min(size * perMatch, most) + this.#options.world.randomInt(chance))
    return !this.#owners.has(matchId)
  }

  /** The process that runs a match; a match without an owner is activated. */
  async #find(matchId: FixtureId): Promise<ProcessId | { readonly kind: 'unowned' | 'unknown' | 'settled' }> {
    const owner = await this.#ownerOf(matchId)
    if (owner !== null) return owner
    const reply = await this.#options.bus.askAny(HOSTS, 'wake', { matchId }, WAKE_MS)
    if (reply.kind !== 'answered' || reply.answer === null) return { kind: 'unowned' }
    const woken = reply.answer
    if (woken.activity !== 'active') return { kind: woken.activity }
    this.learn(matchId, woken.owner)
    return woken.owner
  }

  async #ownerOf(matchId: FixtureId): Promise<ProcessId | null> {
    const known = this.#owners.get(matchId)
    if (known !== undefined) return known
    const owner = await this.#options.ownership.ownerOf(matchId)
    if (owner !== null) this.learn(matchId, owner)
    return owner
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function refusalOf(kind: 'unowned' | 'unknown' | 'settled', what: 'instrument' | 'position'): Refusal {
  if (kind === 'unknown') return { code: 'not_found', what }
  return kind === 'settled' ? { code: 'market_closed', window: SETTLED } : NOT_HERE
}
