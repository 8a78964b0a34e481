/**
 * Sends requests and feed updates to the processes that run their matches. The lease in the database says
 * which process that is; what this process remembers is only a hint where to ask first.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import type { Refusal, TradeWindow } from '../../actors/kernel/outcome.ts'
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import type { MatchOrigin } from '../../actors/match/state.ts'
import type { ProcessId } from './bus.ts'
import {
  type Activity,
  type AnswerOf,
  type ClusterBus,
  type Fed,
  MATCH_KINDS,
  type MatchKind,
  type RequestOf,
  type Requests,
} from './protocol.ts'

type OrNotHere<Answer> = Promise<Answer | undefined> | Answer | undefined

/** What this process does for the others. Undefined: the match does not run here. */
export interface Host {
  /** The number of matches that run here. */
  readonly size: number
  answerHere<K extends MatchKind>(kind: K, request: RequestOf<K>): OrNotHere<AnswerOf<K>>
  feedHere(update: FeedUpdate, origin: MatchOrigin): Promise<Fed>
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
  readonly world: Pick<World, 'steady' | 'randomInt'>
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
export type Unanswered = 'unowned' | 'silent' | 'unknown' | 'settled'
export type Asked<Answer> = { readonly kind: 'answered'; readonly answer: Answer } | { readonly kind: Unanswered }

/** The requests that the owner of a match answers. */
type OwnerKind = Exclude<keyof Requests, 'wake' | 'feed'>

export class Peers {
  readonly #options: PeersOptions
  readonly #owners = new Map<FixtureId, ProcessId>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** From now on other processes can ask for the matches of this one. */
  async open(host: Host): Promise<void> {
    const { bus } = this.#options
    for (const kind of MATCH_KINDS) this.serve(kind, (request) => host.answerHere(kind, request))
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
  serve<K extends OwnerKind>(kind: K, answer: (request: RequestOf<K>) => OrNotHere<AnswerOf<K>>): void {
    this.#options.bus.serve(kind, async (request) => (await answer(request)) ?? null)
  }

  /**
   * Sends a match its feed update, wherever it runs. Without an owner, the process with the fewest matches takes it.
   * Null: it has no owner, and no process could be asked.
   */
  async offer(update: FeedUpdate): Promise<Fed | null> {
    const { bus } = this.#options
    const { fixtureId: matchId } = update.snapshot
    const owner = await this.#ownerOf(matchId)
    const reply =
      owner === null
        ? await bus.askAny(HOSTS, 'feed', { matchId, update, isPlaced: false }, FEED_MS)
        : await bus.ask(owner, 'feed', { matchId, update, isPlaced: true }, FEED_MS)
    if (reply.kind === 'answered' && reply.answer !== null && reply.answer !== 'elsewhere') return reply.answer
    this.#owners.delete(matchId)
    return owner === null && reply.kind !== 'answered' ? null : 'elsewhere'
  }

  /** Asks the process that runs a match; a match without an owner is activated first. */
  async ask<K extends OwnerKind>(kind: K, request: RequestOf<K>, withinMs: number): Promise<Asked<AnswerOf<K>>> {
    const { bus, world } = this.#options
    const { matchId } = request
    const deadline = world.steady.now() + withinMs
    let gone = 0
    for (let tries = 0; tries < HANDOVER.tries && world.steady.now() <= deadline; tries++) {
      // One miss means that the remembered owner was wrong. Two mean that the owner is handing the match over.
      if (tries > 1) {
        await pause(HANDOVER.pauseMs)
        if (deadline - world.steady.now() < HANDOVER.answerMs) break
      }
      const owner = await this.#find(matchId)
      if (typeof owner !== 'string') return owner
      const reply = await bus.ask(owner, kind, request, Math.max(1, deadline - world.steady.now()))
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
