/**
 * Polls the live provider for all matches at once and sends each match its update. Every process has a poller; only the
 * one that holds the poller's lease polls, the others wait for the lease.
 */
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import { HOUR_MS, type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { isInPlay, phaseOf } from '../../actors/market/phase.ts'
import { type Allowance, canAffordMore, pauseMs } from '../../actors/market/polling.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { Leases } from '../../actors/match/store.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import type { Report } from '../report.ts'
import { MatchUpdates } from './match-updates.ts'
import type { FixtureCalendar, Provider, ProviderAnswer, ProviderStatus, RunningMatch } from './provider.ts'

/** The part of the poller's options that only a process with a live provider has. */
export interface ProviderContext {
  readonly provider: Provider
  readonly calendar: FixtureCalendar
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
/**
 * In polls: how often to ask by number for unsettled matches that are not in play, and how often to read the calendar.
 */
const STRAGGLERS_EVERY = 6
const CALENDAR_EVERY = 360
const STATUS_EVERY = 360
const DAY_MS = 24 * HOUR_MS
/** The calendar reaches from yesterday to a week ahead. */
const CALENDAR_DAYS = { back: 1, ahead: 7 } as const
/** Distinct reasons remembered, so that each is reported once. */
const REASONS_MAX = 1_000
/** `randomInt` is uniform over this many values. */
const CHANCES = 1_000

export class ProviderPoller {
  readonly #options: ProviderPollerOptions
  readonly #updates: MatchUpdates
  #epoch: number | null = null
  #timer: NodeJS.Timeout | undefined
  #renewal: NodeJS.Timeout | undefined
  #turn: Promise<void> = Promise.resolve()
  #isStopped = false
  #polls = 0
  #failing = 0
  #failures = 0
  #unreadable = 0
  #answeredAt: Instant | null = null
  #allowance: Allowance | null = null
  #retryAfterMs: number | null = null
  readonly #reported = new Set<string>()
  /** By fixture, the goals that the odds in the calendar expect; the provider does not tell them of matches in play. */
  #expectedGoals: ReadonlyMap<FixtureId, FixtureSnapshot['expectedGoals']> = new Map()

  constructor(options: ProviderPollerOptions) {
    this.#options = options
    this.#updates = new MatchUpdates(options.desk, options.report)
  }

  /** Begins to poll, or to wait for the lease. To be called once. */
  start(): void {
    this.#renewal = setInterval(() => void this.#renew(), this.#options.leaseTtlMs / 3)
    this.#schedule(0)
  }

  /** Waits for the poll under way and for the updates it has sent, then releases the lease. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    clearInterval(this.#renewal)
    await this.#turn
    await this.#updates.finished()
    if (this.#epoch !== null) await this.#options.leases.release(POLLER, this.#epoch)
    this.#epoch = null
  }

  status(): ProviderStatus {
    return {
      polling: this.#epoch !== null,
      polls: this.#polls,
      failing: this.#failing,
      failures: this.#failures,
      unreadable: this.#unreadable,
      answeredAt: this.#answeredAt,
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
    const { leases, pollMs, log, report } = this.#options
    try {
      if (this.#epoch === null) {
        this.#epoch = await leases.acquire(POLLER)
        if (this.#epoch === null) return LEASE_RETRY_MS
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
    const pace = { pollMs, failures: this.#failing, retryAfterMs: this.#retryAfterMs, allowance: this.#allowance }
    return pauseMs(pace, world.randomInt(CHANCES) / CHANCES)
  }

  async #pollAndCount(): Promise<void> {
    const { world, log, report } = this.#options
    try {
      await this.#poll(this.#polls++)
      if (this.#failing > 0) log('provider_recovered', { failedPolls: this.#failing })
      this.#failing = 0
      this.#answeredAt = world.now()
    } catch (error) {
      this.#failures++
      this.#retryAfterMs = retryAfterOf(error)
      // Only the first failure in a row is news.
      if (this.#failing++ === 0) report('provider_failed', error)
    }
    if (this.#polls % STATUS_EVERY === 0) log('provider_status', { ...this.status() })
  }

  async #poll(n: number): Promise<void> {
    const { provider, calendar, pollMs } = this.#options
    const running = new Map((await calendar.running()).map((match) => [match.matchId, match]))
    this.#updates.keepOnly(running)
    const answered = await this.#take(await provider.inPlay(), running)
    // A match in play that the list leaves out is asked for at once; the others can wait for some polls.
    const missing = [...running.values()].filter(({ matchId }) => !answered.has(matchId))
    const more = missing.filter(({ phase }) => n % STRAGGLERS_EVERY === 0 || isInPlay(phase))
    if (more.length > 0 && canAffordMore({ allowance: this.#allowance, pollMs })) {
      await this.#take(await provider.fixtures(more.map(({ matchId }) => matchId)), running)
    }
    if (n % CALENDAR_EVERY === 0 && canAffordMore({ allowance: this.#allowance, pollMs })) await this.#readCalendar()
  }

  async #readCalendar(): Promise<void> {
    const { provider, calendar, world } = this.#options
    const now = world.now()
    const from = instant(now - CALENDAR_DAYS.back * DAY_MS)
    const to = instant(now + CALENDAR_DAYS.ahead * DAY_MS)
    const answer = await provider.calendar(from, to)
    this.#note(answer)
    this.#expectedGoals = new Map(answer.fixtures.map(({ fixtureId: id, expectedGoals }) => [id, expectedGoals]))
    await calendar.replace(from, to, answer.fixtures.map(outlineOf))
  }

  /** Sends every match its update, and the other fixtures to the calendar. Returns the fixtures of the answer. */
  async #take(answer: ProviderAnswer, running: ReadonlyMap<FixtureId, RunningMatch>): Promise<ReadonlySet<FixtureId>> {
    this.#note(answer)
    const others: MatchInfo[] = []
    for (const snapshot of answer.fixtures) {
      const match = running.get(snapshot.fixtureId)
      if (match !== undefined || this.#starts(snapshot))
        this.#updates.send(
          { snapshot: this.#withOdds(snapshot), source: answer.sources.get(snapshot) },
          match?.feedSeq ?? 0,
        )
      else others.push(outlineOf(snapshot))
    }
    if (others.length > 0) await this.#options.calendar.note(others)
    return new Set(answer.fixtures.map((snapshot) => snapshot.fixtureId))
  }

  /** A match keeps the odds of its first update in play. */
  #withOdds(snapshot: FixtureSnapshot): FixtureSnapshot {
    const expectedGoals = snapshot.expectedGoals ?? this.#expectedGoals.get(snapshot.fixtureId) ?? null
    return { ...snapshot, expectedGoals }
  }

  #note({ unreadable, allowance }: ProviderAnswer): void {
    this.#allowance = allowance ?? this.#allowance
    this.#unreadable += unreadable.length
    for (const reason of unreadable) {
      if (this.#reported.has(reason)) continue
      if (this.#reported.size >= REASONS_MAX) this.#reported.clear()
      this.#reported.add(reason)
      this.#options.report('fixture_skipped', new Error(reason))
    }
  }

  /** Whether a fixture gets its match now: it is in play, or may be traded before kick-off. */
  #starts(snapshot: FixtureSnapshot): boolean {
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
}

const outlineOf = (snapshot: FixtureSnapshot): MatchInfo => newMatch(snapshot, { replay: false }).info

function retryAfterOf(error: unknown): number | null {
  const asked: unknown = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : null
  return typeof asked === 'number' ? asked : null
}
