/**
 * The one poller of the live provider: a room whose holder of the lease asks for all matches at once and hands each match
 * its update. Whoever does not hold the lease waits for it.
 */
import { matchMaker } from '@colyseus/core'
import { present } from '../actors/kernel/assert.ts'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import type { TradingRules } from '../actors/kernel/limits.ts'
import { HOUR_MS, type Instant, instant, SECOND_MS, type World } from '../actors/kernel/world.ts'
import { type FeedClock, sourceTime } from '../actors/market/feed-clock.ts'
import type { FixtureSnapshot } from '../actors/market/fixture.ts'
import { isInPlay, phaseOf } from '../actors/market/phase.ts'
import { type Allowance, canAffordMore, pauseMs } from '../actors/market/polling.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import { newMatch } from '../actors/match/state.ts'
import type { Leases } from '../actors/match/store.ts'
import type { MatchDesk } from './match-desk.ts'
import type { Report } from './report.ts'
import { SafeRoom } from './safe-room.ts'

export const PROVIDER_ROOM = 'provider'

export interface ProviderAnswer {
  readonly fixtures: readonly FixtureSnapshot[]
  /** Why so many payloads made no sense, for people to read. */
  readonly unreadable: readonly string[]
  /** Null when the provider did not say. */
  readonly allowance: Allowance | null
}

/** Where live matches come from. Every method throws when there is no answer, with `retryAfterMs` when it says how long. */
export interface Provider {
  /** What is in play, and around it. */
  inPlay(): Promise<ProviderAnswer>
  fixtures(ids: readonly FixtureId[]): Promise<ProviderAnswer>
  /** Everything between two days, both included, in outline. */
  calendar(from: Instant, to: Instant): Promise<ProviderAnswer>
}

/** Where fixtures are kept that nobody has to run. */
export interface FixtureCalendar {
  /** Writes these over what was known of them. */
  note(fixtures: readonly MatchInfo[]): Promise<void>
  /** Forgets those between two instants that are not among these, and notes these. */
  replace(from: Instant, to: Instant, fixtures: readonly MatchInfo[]): Promise<void>
  /** Matches of the provider that have begun to run and are not settled. */
  unsettled(): Promise<readonly FixtureId[]>
}

/** What polling needs of the house. */
export interface ProviderSurroundings {
  readonly provider: Provider
  readonly calendar: FixtureCalendar
  /** Between two polls when all is well. */
  readonly pollMs: number
  /** Tells operators something that is no error. */
  readonly tell: (message: string, facts: Readonly<Record<string, unknown>>) => void
}

export interface ProviderRoomOptions extends ProviderSurroundings {
  readonly desk: MatchDesk
  readonly leases: Leases
  readonly leaseTtlMs: number
  readonly world: World
  readonly rules: () => TradingRules
  readonly report: Report
}

/** How polling goes. */
export interface ProviderStatus {
  /** Whether this process is the one that polls. */
  readonly polling: boolean
  readonly polls: number
  /** Failed polls in a row, and in all. */
  readonly failing: number
  readonly failures: number
  /** Payloads that made no sense. */
  readonly unreadable: number
  readonly answeredAt: Instant | null
}

/** No fixture has this number: its lease is the poller's. */
const POLLER = fixtureId(0)
/** How long somebody waits who does not hold the lease. */
const WAIT_MS = SECOND_MS
/** In polls: how often matches are asked for by number that are not in play and not settled, and how often the calendar. */
const STRAGGLERS_EVERY = 6
const CALENDAR_EVERY = 360
const STATUS_EVERY = 360
const DAY_MS = 24 * HOUR_MS
/** The calendar reaches from yesterday to a week ahead. */
const CALENDAR_DAYS = { back: 1, ahead: 7 } as const
/** So many different complaints are remembered, to tell each once. */
const COMPLAINTS_MAX = 1_000

export class ProviderRoom extends SafeRoom {
  /** Nobody joins; null ticks the room's clock every 17 ms. */
  override patchRate = null
  #options: ProviderRoomOptions | null = null
  #epoch: number | null = null
  #atWork: Promise<void> | null = null
  #stopped = false
  #polls = 0
  #failing = 0
  #failures = 0
  #unreadable = 0
  #answeredAt: Instant | null = null
  #allowance: Allowance | null = null
  #retryAfterMs: number | null = null
  readonly #clocks = new Map<FixtureId, FeedClock>()
  /** Matches that are still at work on their last update: they skip one rather than queue. */
  readonly #busy = new Map<FixtureId, Promise<void>>()
  readonly #complaints = new Set<string>()

  override onCreate(options: ProviderRoomOptions): void {
    this.#options = options
    this.roomId = PROVIDER_ROOM
    this.clock.setInterval(() => void this.#renew(), options.leaseTtlMs / 3)
    this.clock.setTimeout(() => this.#step(), 0) // once the room exists
  }

  /** Waits for the poll in hand and what it handed on, and gives the lease back. */
  override async onDispose(): Promise<void> {
    this.#stopped = true
    await this.#atWork
    await Promise.all(this.#busy.values())
    if (this.#epoch !== null) await this.#given.leases.release(POLLER, this.#epoch)
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

  protected override report(where: string, error: unknown): void {
    this.#options?.report(where, error)
  }

  get #given(): ProviderRoomOptions {
    return present(this.#options, 'options of the poller')
  }

  #step(): void {
    if (this.#stopped) return
    this.#atWork = this.#turn()
      .catch((error: unknown) => {
        this.report('provider', error)
        return WAIT_MS
      })
      .then((pause) => {
        this.#atWork = null
        if (!this.#stopped) this.clock.setTimeout(() => this.#step(), pause)
      })
  }

  /** One poll, for whoever holds the lease. Says how long to wait for the next. */
  async #turn(): Promise<number> {
    const { leases, world, pollMs, tell } = this.#given
    if (this.#epoch === null) {
      this.#epoch = await leases.acquire(POLLER)
      if (this.#epoch === null) return WAIT_MS
      tell('polling the provider', { pollMs })
    }
    try {
      await this.#poll(this.#polls++)
      if (this.#failing > 0) tell('the provider answers again', { failed: this.#failing })
      this.#failing = 0
      this.#answeredAt = world.now()
    } catch (error) {
      this.#failures++
      this.#retryAfterMs = retryAfterOf(error)
      // Only the first of a row is news.
      if (this.#failing++ === 0) this.report('provider', error)
    }
    if (this.#polls % STATUS_EVERY === 0) tell('provider', { ...this.status() })
    const pace = { pollMs, failures: this.#failing, retryAfterMs: this.#retryAfterMs, allowance: this.#allowance }
    return pauseMs(pace, world.randomInt(CHANCES) / CHANCES)
  }

  async #poll(n: number): Promise<void> {
    const { provider, calendar, pollMs } = this.#given
    const answered = await this.#take(await provider.inPlay())
    const unsettled = await calendar.unsettled()
    this.#forgetAllBut(unsettled)
    const missing = unsettled.filter((id) => !answered.has(id))
    // A match in play that the list leaves out is asked for at once; others, which have time, now and then.
    const more = missing.filter((id) => n % STRAGGLERS_EVERY === 0 || this.#isInPlay(id))
    if (more.length > 0 && canAffordMore({ allowance: this.#allowance, pollMs })) {
      await this.#take(await provider.fixtures(more))
    }
    if (n % CALENDAR_EVERY === 0 && canAffordMore({ allowance: this.#allowance, pollMs })) await this.#readCalendar()
  }

  async #readCalendar(): Promise<void> {
    const { provider, calendar, world } = this.#given
    const now = world.now()
    const from = instant(now - CALENDAR_DAYS.back * DAY_MS)
    const to = instant(now + CALENDAR_DAYS.ahead * DAY_MS)
    const answer = await provider.calendar(from, to)
    this.#hear(answer)
    await calendar.replace(from, to, answer.fixtures.map(outlineOf))
  }

  /** Hands every match its update, and the calendar the rest. Returns whom the answer spoke of. */
  async #take(answer: ProviderAnswer): Promise<ReadonlySet<FixtureId>> {
    this.#hear(answer)
    const known = await Promise.all(
      answer.fixtures.map(async (snapshot) => [snapshot, await this.#runs(snapshot)] as const),
    )
    for (const [snapshot, runs] of known) if (runs) this.#hand(snapshot)
    const others = known.flatMap(([snapshot, runs]) => (runs ? [] : [outlineOf(snapshot)]))
    if (others.length > 0) await this.#given.calendar.note(others)
    return new Set(answer.fixtures.map((snapshot) => snapshot.fixtureId))
  }

  #hear({ unreadable, allowance }: ProviderAnswer): void {
    this.#allowance = allowance ?? this.#allowance
    this.#unreadable += unreadable.length
    for (const reason of unreadable) {
      if (this.#complaints.has(reason)) continue
      if (this.#complaints.size >= COMPLAINTS_MAX) this.#complaints.clear()
      this.#complaints.add(reason)
      this.report('provider', new Error(`a fixture is skipped: ${reason}`))
    }
  }

  /** Whether a fixture has an actor here, or gets one now: it is in play, or may be traded before. */
  async #runs(snapshot: FixtureSnapshot): Promise<boolean> {
    const { desk, rules } = this.#given
    if (desk.view(snapshot.fixtureId) !== undefined) return true
    const phase = phaseOf(snapshot)
    const begins = isInPlay(phase) || (phase === 'scheduled' && rules().preMatch && snapshot.players.length > 0)
    return begins || (await desk.activate(snapshot.fixtureId)) !== null
  }

  #hand(snapshot: FixtureSnapshot): void {
    const { fixtureId: id } = snapshot
    if (this.#busy.has(id)) return
    const handed = this.#feed(snapshot)
      .catch((error: unknown) => this.report(`provider: match ${id}`, error))
      .finally(() => this.#busy.delete(id))
    this.#busy.set(id, handed)
  }

  async #feed(snapshot: FixtureSnapshot): Promise<void> {
    const { desk } = this.#given
    const { fixtureId: id } = snapshot
    // Updates are counted on from the last one the match has heard, whoever told it.
    const actor = await desk.activate(id)
    const seq = (actor?.view.info.feedSeq ?? 0) + 1
    const { sourceAt, clock } = sourceTime(snapshot, this.#clocks.get(id) ?? null, snapshot.sourceAt)
    if (clock === null) this.#clocks.delete(id)
    else this.#clocks.set(id, clock)
    await desk.feed({ kind: 'feed_update', seq, snapshot: { ...snapshot, sourceAt } }, { replay: false })
  }

  #isInPlay(id: FixtureId): boolean {
    const view = this.#given.desk.view(id)
    return view !== undefined && isInPlay(view.info.phase)
  }

  #forgetAllBut(ids: readonly FixtureId[]): void {
    const kept = new Set(ids)
    for (const id of this.#clocks.keys()) if (!kept.has(id)) this.#clocks.delete(id)
  }

  async #renew(): Promise<void> {
    if (this.#epoch === null || this.#stopped) return
    try {
      if (!(await this.#given.leases.renew(POLLER, this.#epoch))) this.#epoch = null
    } catch (error) {
      this.report('provider: lease', error) // nothing can be committed meanwhile either
    }
  }
}

const CHANCES = 1_000

const outlineOf = (snapshot: FixtureSnapshot): MatchInfo => newMatch(snapshot, { replay: false }).info

function retryAfterOf(error: unknown): number | null {
  const asked: unknown = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : null
  return typeof asked === 'number' ? asked : null
}

/** Starts the poller of this process. */
export async function startPolling(options: ProviderRoomOptions): Promise<ProviderRoom> {
  await matchMaker.createRoom(PROVIDER_ROOM, options)
  const room = matchMaker.getLocalRoomById(PROVIDER_ROOM)
  if (!(room instanceof ProviderRoom)) throw new Error('the poller has no room')
  return room
}
