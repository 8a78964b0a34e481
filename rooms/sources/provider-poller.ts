/**
 * Polls the live provider for all matches at once and sends each match its update. Every process has a poller; only the
 * one that holds the poller's lease polls, the others wait for the lease.
 */
import { setTimeout as passed } from 'node:timers/promises'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import { DAY_MS, type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import { isInPlay, phaseOf } from '../../actors/market/phase.ts'
import { type Allowance, canAffordMore, pauseMs } from '../../actors/market/polling.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { Leases } from '../../actors/match/store.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import type { Report } from '../report.ts'
import { FaultBook } from './fault-book.ts'
import { MatchUpdates } from './match-updates.ts'
import { newest } from './newest.ts'
import type {
  FeedFault,
  FeedFaultLog,
  FixtureCalendar,
  Provider,
  ProviderAnswer,
  ProviderStatus,
  RunningMatch,
} from './provider.ts'

/** The part of the poller's options that only a process with a live provider has. */
export interface ProviderContext {
  readonly provider: Provider
  readonly calendar: FixtureCalendar
  readonly faults: FeedFaultLog
  /** Between two successful polls. */
  readonly pollMs: number
  /** Logs an event that is no error. */
  readonly log: (event: string, facts: Readonly<Record<string, unknown>>) => void
}

export interface ProviderPollerOptions extends ProviderContext {
  readonly desk: MatchDesk
  readonly leases: Leases
  readonly leaseTtlMs: number
  readonly world: World
  readonly rules: () => TradingRules
  readonly report: Report
}

/** The lease of the poller, under a number that no fixture has. */
const POLLER = fixtureId(0)
/** Between two attempts to acquire the lease. */
const LEASE_RETRY_MS = SECOND_MS
/** How long a stop waits for what is under way: the next process polls at once, and the provider may take seconds. */
const STOP_MS = SECOND_MS
/** In polls: how often to ask by number for unsettled matches not in play, and how often to read the calendar. */
const STRAGGLERS_EVERY = 6
const CALENDAR_EVERY = 360
const STATUS_EVERY = 360
/** The calendar reaches from yesterday to a week ahead. */
const CALENDAR_DAYS = { back: 1, ahead: 7 } as const
/** `randomInt` is uniform over this many values. */
const CHANCES = 1_000

/** What a poll asks for. */
type Request = 'in play' | 'by number' | 'calendar'

export class ProviderPoller {
  readonly #options: ProviderPollerOptions
  readonly #updates: MatchUpdates
  #epoch: number | null = null
  #timer: NodeJS.Timeout | undefined
  #renewTimer: NodeJS.Timeout | undefined
  /** The renewals of the lease, one after the other. */
  #renewals: Promise<void> = Promise.resolve()
  #turn: Promise<void> = Promise.resolve()
  #isStopped = false
  #polls = 0
  /** Failed requests since the last poll ended, and ended polls with one. */
  #failed = 0
  #failures = 0
  /** Failures in a row, by request. */
  readonly #streaks = new Map<Request, number>()
  /** The poll with which the calendar is read again; infinite while it is read. */
  #calendarDue = 0
  /** Calls that the calendar took when it was last read; at first a guess. */
  #calendarCalls = 10
  #calendarRead: Promise<void> = Promise.resolve()
  readonly #faults: FaultBook
  #silentSince: Instant | null = null
  #allowance: Allowance | null = null
  #allowanceAt: Instant | null = null
  #retryAfterMs: number | null = null
  /** By fixture, the goals that the odds in the calendar expect; the provider does not tell them of matches in play. */
  #expectedGoals: ReadonlyMap<FixtureId, SaidFixture['expectedGoals']> = new Map()

  constructor(options: ProviderPollerOptions) {
    this.#options = options
    this.#faults = new FaultBook(options.faults, options.report)
    this.#updates = new MatchUpdates(options.desk, (matchId, error) =>
      this.#faults.skip({ reason: 'update', matchId, detail: wordsOf(error) }),
    )
  }

  /** Begins to poll, or to wait for the lease. To be called once. */
  start(): void {
    this.#renewTimer = setInterval(() => {
      this.#renewals = this.#renewals.then(() => this.#renew())
    }, this.#options.leaseTtlMs / 3)
    this.#schedule(0)
  }

  /** Waits a second at most for the poll under way and for the updates it has sent, then releases the lease. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearInterval(this.#renewTimer)
    const ended = Promise.all([this.#turn, this.#calendarRead]).then(() => this.#updates.finished())
    await Promise.race([ended, passed(STOP_MS, undefined, { ref: false })])
    await this.#release()
  }

  status(): ProviderStatus {
    return {
      polling: this.#epoch !== null,
      polls: this.#polls,
      failing: this.#streak('in play'),
      failures: this.#failures,
      faults: this.#faults.counts,
      quotaLeft: this.#allowanceNow()?.remaining ?? null,
      silentSince: this.#silentSince,
    }
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#turn = this.#takeTurn().then((pause) => {
        if (!this.#isStopped) this.#schedule(pause)
      })
    }, ms)
  }

  /** Polls once if this process holds the lease. Returns the pause before the next turn; never rejects. */
  async #takeTurn(): Promise<number> {
    const { desk, leases, pollMs, world, log, report } = this.#options
    try {
      if (desk.hasGivenBack) {
        await this.#release()
        return LEASE_RETRY_MS
      }
      if (this.#epoch === null) {
        this.#epoch = await leases.acquire(POLLER)
        if (this.#epoch === null) return LEASE_RETRY_MS
        this.#silentSince = world.steady.now()
        log('provider_polling_started', { pollMs })
      }
    } catch (error) {
      report('provider_lease_failed', error)
      return LEASE_RETRY_MS
    }
    await this.#pollAndCount()
    return this.#pauseMs()
  }

  #pauseMs(): number {
    const { pollMs, world } = this.#options
    // A pause that the provider asks for holds for every request, whichever it answered with it.
    const failures = this.#streak('in play') || Number(this.#retryAfterMs !== null)
    const pace = { pollMs, failures, retryAfterMs: this.#retryAfterMs, allowance: this.#allowanceNow() }
    this.#retryAfterMs = null
    return pauseMs(pace, world.randomInt(CHANCES) / CHANCES)
  }

  /** Never rejects: what fails is counted, and what is left is done. */
  async #pollAndCount(): Promise<void> {
    const { world, log } = this.#options
    const running = await this.#running()
    if (running === null) return
    await this.#poll(this.#polls, running)
    this.#polls++
    if (this.#streak('in play') === 0) this.#silentSince = world.steady.now()
    if (this.#failed > 0) this.#failures++
    this.#failed = 0
    await this.#faults.keep()
    if (this.#polls % STATUS_EVERY === 0) log('provider_status', { ...this.status() })
  }

  /** Null if the database cannot say: then no match could take an update, and the provider is not to blame. */
  async #running(): Promise<ReadonlyMap<FixtureId, RunningMatch> | null> {
    try {
      const running = await this.#options.calendar.running()
      return new Map(running.map((match) => [match.matchId, match]))
    } catch (error) {
      this.#options.report('running_matches_unread', error)
      return null
    }
  }

  /**
   * The matches in play, those by number and the calendar are three requests, none of which must cost the others their
   * answer. Without a page of the list of matches in play nothing else is asked: the provider is most likely away.
   */
  async #poll(n: number, running: ReadonlyMap<FixtureId, RunningMatch>): Promise<void> {
    const { provider, pollMs } = this.#options
    const isTurn = n % STRAGGLERS_EVERY === 0
    const canAsk = (calls: number): boolean =>
      !this.#isStopped && canAffordMore({ allowance: this.#allowanceNow(), pollMs }, isTurn ? calls : null)
    let answered: ReadonlySet<FixtureId> = new Set()
    this.#updates.keepOnly(running)
    const isAnswered = await this.#request('in play', async () => {
      const answer = await provider.inPlay()
      answered = await this.#take(answer, running)
      // What could be read has been taken; the rest is still a failure.
      if (answer.incomplete !== undefined) throw answer.incomplete
    })
    if (!isAnswered && answered.size === 0) return
    // A match in play that the list leaves out is asked for at once; the others can wait for some polls.
    const missing = [...running.values()].filter(({ matchId }) => !answered.has(matchId))
    const more = missing.filter(({ phase }) => isTurn || isInPlay(phase))
    if (more.length > 0 && canAsk(1)) {
      await this.#request('by number', async () => {
        await this.#take(await provider.fixtures(more.map(({ matchId }) => matchId)), running)
      })
    }
    if (n < this.#calendarDue || !canAsk(this.#calendarCalls)) return
    this.#calendarRead = this.#followCalendar(n)
    await Promise.race([this.#calendarRead, passed(pollMs, undefined, { ref: false })])
  }

  /** Reads the calendar, beside the polls where it takes minutes: each match in play would be suspended as late. */
  async #followCalendar(n: number): Promise<void> {
    this.#calendarDue = Infinity
    const isRead = await this.#request('calendar', () => this.#readCalendar())
    // One that fails is tried again at the next poll, and then less and less often: each costs a call.
    const pause = isRead ? CALENDAR_EVERY : Math.min(CALENDAR_EVERY, 2 ** (this.#streak('calendar') - 1))
    this.#calendarDue = n + pause
  }

  /** Carries out one request of a poll. Only the first failure in a row is news. @returns whether it succeeded. */
  async #request(what: Request, work: () => Promise<void>): Promise<boolean> {
    const { log, report } = this.#options
    const failedBefore = this.#streak(what)
    try {
      await work()
      if (failedBefore > 0) log('provider_recovered', { request: what, failedPolls: failedBefore })
      this.#streaks.delete(what)
      return true
    } catch (error) {
      if (this.#isStopped) return false
      this.#failed++
      this.#streaks.set(what, failedBefore + 1)
      this.#retryAfterMs = retryAfterOf(error) ?? this.#retryAfterMs
      const fault = { reason: 'request', matchId: null, detail: `${what}: ${wordsOf(error)}` } as const
      this.#faults.count(fault)
      if (failedBefore === 0) report('provider_failed', error, { request: what })
      return false
    }
  }

  /** Null once it must have been renewed: the provider may tell it rarely. */
  #allowanceNow(): Allowance | null {
    const [allowance, at] = [this.#allowance, this.#allowanceAt]
    if (allowance === null || at === null) return null
    return this.#options.world.steady.now() - at < allowance.resetsInSecs * SECOND_MS ? allowance : null
  }

  #streak(what: Request): number {
    return this.#streaks.get(what) ?? 0
  }

  async #readCalendar(): Promise<void> {
    const { provider, calendar, world } = this.#options
    const now = world.now()
    const from = instant(now - CALENDAR_DAYS.back * DAY_MS)
    const to = instant(now + CALENDAR_DAYS.ahead * DAY_MS)
    const before = this.#allowanceNow()?.remaining
    const answer = await provider.calendar(from, to)
    if (this.#isStopped) return
    this.#note(answer)
    const left = answer.allowance?.remaining
    if (before !== undefined && left !== undefined && left < before) this.#calendarCalls = before - left
    this.#expectedGoals = new Map(answer.fixtures.map(({ fixtureId: id, expectedGoals }) => [id, expectedGoals]))
    const listed = this.#outlinesOf(answer.fixtures)
    await calendar.replace(from, to, await this.#storable(listed))
  }

  /** Sends every match its update, and the other fixtures to the calendar. Returns the fixtures of the answer. */
  async #take(answer: ProviderAnswer, running: ReadonlyMap<FixtureId, RunningMatch>): Promise<ReadonlySet<FixtureId>> {
    if (this.#isStopped) return new Set()
    this.#note(answer)
    const others: SaidFixture[] = []
    for (const snapshot of newest(answer.fixtures)) {
      const match = running.get(snapshot.fixtureId)
      if (match !== undefined || this.#starts(snapshot))
        this.#updates.send(
          { snapshot: this.#withOdds(snapshot), source: answer.sources.get(snapshot) },
          match?.feedSeq ?? 0,
        )
      else others.push(snapshot)
    }
    await this.#storable(this.#outlinesOf(others))
    return new Set(answer.fixtures.map((snapshot) => snapshot.fixtureId))
  }

  #outlinesOf(fixtures: readonly SaidFixture[]): readonly MatchInfo[] {
    return fixtures.flatMap((snapshot) => {
      try {
        return [outlineOf(snapshot)]
      } catch (error) {
        this.#faults.skip({ reason: 'calendar', matchId: snapshot.fixtureId, detail: wordsOf(error) })
        return []
      }
    })
  }

  /**
   * Stores fixtures in the calendar and returns those that it took. All at once; if that fails, one by one, so that a
   * fixture that cannot be stored harms no other. Rejects if none can be: then it is the database that is away.
   */
  async #storable(fixtures: readonly MatchInfo[]): Promise<readonly MatchInfo[]> {
    if (fixtures.length === 0) return fixtures
    const { calendar } = this.#options
    try {
      await calendar.note(fixtures)
      return fixtures
    } catch (error) {
      const stored: MatchInfo[] = []
      const skipped: FeedFault[] = []
      for (const fixture of fixtures) {
        try {
          await calendar.note([fixture])
          stored.push(fixture)
        } catch (why) {
          skipped.push({ reason: 'calendar', matchId: fixture.matchId, detail: wordsOf(why) })
        }
      }
      if (stored.length === 0 && fixtures.length > 1) throw error
      for (const fault of skipped) this.#faults.skip(fault)
      return stored
    }
  }

  /** A match keeps the odds of its first update in play. */
  #withOdds(snapshot: SaidFixture): SaidFixture {
    const expectedGoals = snapshot.expectedGoals ?? this.#expectedGoals.get(snapshot.fixtureId) ?? null
    return { ...snapshot, expectedGoals }
  }

  #note({ unreadable, refused, allowance }: ProviderAnswer): void {
    for (const { matchId, detail } of unreadable) this.#faults.skip({ reason: 'unreadable', matchId, detail })
    for (const [matchId, names] of refused) this.#faults.skip({ reason: 'field', matchId, detail: names.join(', ') })
    if (allowance === null) return
    const wasSpent = this.#allowance?.remaining === 0
    this.#allowance = allowance
    this.#allowanceAt = this.#options.world.steady.now()
    if (allowance.remaining > 0 || wasSpent) return
    const detail = `the provider's quota is spent, and renewed in ${allowance.resetsInSecs} s`
    this.#faults.count({ reason: 'quota', matchId: null, detail })
    this.#options.report('provider_quota_spent', new Error(detail))
  }

  /** Whether a fixture gets its match now: it is in play, or may be traded before kick-off. */
  #starts(snapshot: SaidFixture): boolean {
    const phase = phaseOf(snapshot)
    return isInPlay(phase) || (phase === 'scheduled' && this.#options.rules().preMatch && snapshot.players.length > 0)
  }

  async #renew(): Promise<void> {
    const { leases, report } = this.#options
    if (this.#epoch === null) return
    try {
      if (!(await leases.renew(POLLER, this.#epoch))) this.#epoch = null
    } catch (error) {
      report('provider_lease_renewal_failed', error) // without the database no match can commit an update either
    }
  }

  async #release(): Promise<void> {
    const epoch = this.#epoch
    if (epoch === null) return
    this.#epoch = null
    // One that arrived after the release would keep the lease from the next process.
    await this.#renewals
    await this.#options.leases.release(POLLER, epoch)
  }
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const outlineOf = (snapshot: SaidFixture): MatchInfo => newMatch(snapshot, { replay: false }).info

function retryAfterOf(error: unknown): number | null {
  const asked: unknown = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : null
  return typeof asked === 'number' ? asked : null
}
