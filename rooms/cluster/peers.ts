/**
 * The matches that other processes run, for a process that has a command, a question or a visitor for one. Who runs a match
 * is what the lease in the database says; what is remembered here is only where to ask first.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { type Outcome, type Refusal, refused, type TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { FeedUpdate, Trade, UserCommand } from '../../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { Bus, ProcessId } from './bus.ts'

/** What became of the attempt to have a match here. */
export type Activity = 'active' | 'unknown' | 'settled' | 'elsewhere'
/** What a match made of a feed update; `elsewhere`: it is not ours to feed now, offer it again. */
export type Fed = 'applied' | 'dropped' | 'elsewhere'

/** What this process does for the others. Undefined: the match does not run here. */
export interface Host {
  /** Matches that run here. */
  readonly size: number
  submitHere(matchId: FixtureId, command: UserCommand, deadline: Instant): Promise<Outcome<Trade>> | undefined
  quoteHere(matchId: FixtureId, query: QuoteQuery): Outcome<QuoteAnswer> | undefined
  feedHere(update: FeedUpdate, options: { readonly replay: boolean }): Promise<Fed>
  activityHere(matchId: FixtureId): Promise<Activity>
}

/** Who owns the matches, by the leases in the database. */
export interface Ownership {
  /** The process whose lease of a match runs; null when none does. */
  ownerOf(matchId: FixtureId): Promise<ProcessId | null>
  /** Unsettled matches that no process runs, as far as this one knows, which runs those that are named. */
  orphans(running: readonly FixtureId[]): Promise<readonly FixtureId[]>
}

export interface PeersOptions {
  readonly bus: Bus
  readonly ownership: Ownership
  readonly world: Pick<World, 'now'>
}

/** Processes that run matches. */
const HOSTS = 'hosts'
/** A match is woken by whoever has the fewest, because he is the first to try. */
const PLACING_MS = { perMatch: 20, most: 400 } as const
/** To find a process that wakes a match, placing included. */
const WAKE_MS = 1_500
/** To carry out a feed update: the batch before it may be a large one. */
const FEED_MS = 5 * SECOND_MS
/** While a match is being handed over its owner is asked again so often, so long after. */
const HANDOVER = { tries: 20, pauseMs: 50 } as const
/** Owners remembered. More than matches are ever played at a time. */
const REMEMBERED_MAX = 1_000

export const NOT_HERE: Refusal = { code: 'busy', retryAfterSecs: 1 }
export const SETTLED: TradeWindow = { status: 'CLOSED', reason: 'the match has been settled' }

/** `nobody`: no process runs it now, so nothing has happened. `silent`: something may have. */
type Asked =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'nobody' | 'silent' | 'unknown' | 'settled' }

interface Request {
  readonly matchId: FixtureId
  readonly body: unknown
}
interface Answer {
  readonly runsHere: boolean
  readonly answer?: unknown
}

export class Peers {
  readonly #options: PeersOptions
  readonly #owners = new Map<FixtureId, ProcessId>()

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** From now on others may ask for the matches of this process. */
  async open(host: Host): Promise<void> {
    const { bus, world } = this.#options
    this.serve('command', (matchId, body) => {
      const { command, leftMs } = body as { command: UserCommand; leftMs: number }
      return host.submitHere(matchId, command, instant(world.now() + leftMs))
    })
    this.serve('quote', (matchId, body) => host.quoteHere(matchId, body as QuoteQuery))
    bus.serve('wake', async (body) => {
      await placing(host.size)
      const matchId = body as FixtureId
      const activity = await host.activityHere(matchId)
      // Somebody else has been faster, and answers.
      return activity === 'elsewhere' ? undefined : { activity, owner: bus.processId }
    })
    bus.serve('feed', async (body) => {
      const { update, isPlaced } = body as { update: FeedUpdate; isPlaced: boolean }
      if (!isPlaced) await placing(host.size)
      const fed = await host.feedHere(update, { replay: false })
      return fed === 'elsewhere' && !isPlaced ? undefined : fed
    })
    await bus.join(HOSTS)
  }

  /** Answers requests of this kind about matches that run here. */
  serve(kind: string, answer: (matchId: FixtureId, body: unknown) => unknown): void {
    this.#options.bus.serve(kind, async (request): Promise<Answer> => {
      const { matchId, body } = request as Request
      const given: unknown = await answer(matchId, body)
      return given === undefined ? { runsHere: false } : { runsHere: true, answer: given }
    })
  }

  /** Carries out a command where its match runs, or says why it cannot. Rejects with a fault of that process. */
  async submit(
    matchId: FixtureId,
    command: UserCommand,
    { deadline, what }: { readonly deadline: Instant; readonly what: 'instrument' | 'position' },
  ): Promise<{ readonly outcome: Outcome<Trade> } | { readonly refusal: Refusal }> {
    const leftMs = Math.max(0, deadline - this.#options.world.now())
    const asked = await this.ask(matchId, 'command', { command, leftMs }, leftMs)
    if (asked.kind === 'silent') return { outcome: refused({ code: 'unknown_outcome', retryAfterSecs: 1 }) }
    return asked.kind === 'answered'
      ? { outcome: asked.answer as Outcome<Trade> }
      : { refusal: refusalOf(asked.kind, what) }
  }

  async askQuote(matchId: FixtureId, query: QuoteQuery): Promise<Outcome<QuoteAnswer>> {
    const asked = await this.ask(matchId, 'quote', query, COMMAND_DEADLINE_MS)
    if (asked.kind === 'silent') return refused(NOT_HERE)
    return asked.kind === 'answered'
      ? (asked.answer as Outcome<QuoteAnswer>)
      : refused(refusalOf(asked.kind, 'instrument'))
  }

  /** Hands a match its feed update, wherever it runs; one that nobody runs is taken by whoever has the fewest. */
  async offer(update: FeedUpdate): Promise<Fed> {
    const { bus } = this.#options
    const owner = await this.#ownerOf(update.snapshot.fixtureId)
    const reply =
      owner === null
        ? await bus.askAny(HOSTS, 'feed', { update, isPlaced: false }, FEED_MS)
        : await bus.ask(owner, 'feed', { update, isPlaced: true }, FEED_MS)
    if (reply.kind === 'answered' && reply.body !== 'elsewhere') return reply.body as Fed
    this.#owners.delete(update.snapshot.fixtureId)
    return 'elsewhere'
  }

  /** Asks the process that runs a match, waking it first if it sleeps. */
  async ask(matchId: FixtureId, kind: string, body: unknown, withinMs: number): Promise<Asked> {
    const { bus, world } = this.#options
    const deadline = world.now() + withinMs
    let gone = 0
    for (let tries = 0; tries < HANDOVER.tries && world.now() <= deadline; tries++) {
      // The second time what was remembered has proved wrong; then the owner lives and hands it over, and nothing has happened.
      if (tries > 1) await pause(HANDOVER.pauseMs)
      const found = await this.#find(matchId)
      if (typeof found !== 'string') return found
      const request: Request = { matchId, body }
      const reply = await bus.ask(found, kind, request, Math.max(1, deadline - world.now()))
      if (reply.kind === 'answered') {
        const { runsHere, answer } = reply.body as Answer
        if (runsHere) return { kind: 'answered', answer }
      }
      this.#owners.delete(matchId)
      if (reply.kind === 'silent') return { kind: 'silent' }
      // Its lease still runs: it has died, and nobody will take the match for a while.
      if (reply.kind === 'gone' && ++gone > 1) break
    }
    return { kind: 'nobody' }
  }

  /** Somebody says that this match runs there now: he is asked first. */
  learn(matchId: FixtureId, owner: ProcessId): void {
    this.#remember(matchId, owner)
  }

  /** The process that runs a match; one that nobody owns is woken. */
  async #find(matchId: FixtureId): Promise<ProcessId | Asked> {
    const owner = await this.#ownerOf(matchId)
    if (owner !== null) return owner
    const reply = await this.#options.bus.askAny(HOSTS, 'wake', matchId, WAKE_MS)
    if (reply.kind !== 'answered') return { kind: 'nobody' }
    const woken = reply.body as { readonly activity: Exclude<Activity, 'elsewhere'>; readonly owner: ProcessId }
    if (woken.activity !== 'active') return { kind: woken.activity }
    this.#remember(matchId, woken.owner)
    return woken.owner
  }

  async #ownerOf(matchId: FixtureId): Promise<ProcessId | null> {
    const known = this.#owners.get(matchId)
    if (known !== undefined) return known
    const owner = await this.#options.ownership.ownerOf(matchId)
    if (owner !== null) this.#remember(matchId, owner)
    return owner
  }

  #remember(matchId: FixtureId, owner: ProcessId): void {
    if (this.#owners.size >= REMEMBERED_MAX) this.#owners.clear()
    this.#owners.set(matchId, owner)
  }
}

/** Gives those who run fewer matches the first try. */
export const placing = (size: number): Promise<void> => pause(Math.min(size * PLACING_MS.perMatch, PLACING_MS.most))

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

function refusalOf(kind: 'nobody' | 'unknown' | 'settled', what: 'instrument' | 'position'): Refusal {
  if (kind === 'unknown') return { code: 'not_found', what }
  return kind === 'settled' ? { code: 'market_closed', window: SETTLED } : NOT_HERE
}
