/**
 * The one poller of the live provider: a room whose holder of the lease asks for all matches at once and hands each match
 * its update. Whoever does not hold the lease waits for it.
 */
import { matchMaker } from '@colyseus/core'
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import { HOUR_MS, type Instant, instant, SECOND_MS, type World } from '../../actors/kernel/world.ts'
import { type FeedClock, sourceTime } from '../../actors/market/feed-clock.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { isInPlay, type Phase, phaseOf } from '../../actors/market/phase.ts'
import { type Allowance, canAffordMore, pauseMs } from '../../actors/market/polling.ts'
import type { FeedUpdate, MatchInfo } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { Leases } from '../../actors/match/store.ts'
import type { MatchDesk } from '../match/match-desk.ts'
import type { Report } from '../report.ts'
import { SafeRoom } from '../match/safe-room.ts'

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
  /** Matches of the provider that have begun to run and are not settled, wherever they run. */
  running(): Promise<readonly RunningMatch[]>
}

/** A match as the poller has to know it: as last committed, since it may run in another process. */
export interface RunningMatch {
  readonly matchId: FixtureId
  readonly phase: Phase
  /** The last update it has accepted. */
  readonly feedSeq: number
}

/** What polling needs of the house. */
export interface ProviderContext {
  readonly provider: Provider
  readonly calendar: FixtureCalendar
  /** Between two polls when all is well. */
  readonly pollMs: number
  /** Tells operators something that is no error. */
  readonly tell: (event: string, facts: Readonly<Record<string, unknown>>) => void
}

export interface ProviderRoomOptions extends ProviderContext {
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
  /** The last update that each match was told here. */
  readonly #told = new Map<FixtureId, number>()
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

  protected override report(...failure: Parameters<Report>): void {
    this.#options?.report(...failure)
  }

  get #given(): ProviderRoomOptions {
    return present(this.#options, 'options of the poller')
  }

  #step(): void {
    if (this.#stopped) return
    this.#atWork = this.#turn()
      .catch((error: unknown) => {
        this.report('provider_turn_failed', error)
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
      tell('provider_polling_started', { pollMs })
    }
    try {
      await this.#poll(this.#polls++)
      if (this.#failing > 0) tell('provider_recovered', { failedPolls: this.#failing })
      this.#failing = 0
      this.#answeredAt = world.now()
    } catch (error) {
      this.#failures++
      this.#retryAfterMs = retryAfterOf(error)
      // Only the first of a row is news.
      if (this.#failing++ === 0) this.report('provider_failed', error)
    }
    if (this.#polls % STATUS_EVERY === 0) tell('provider_status', { ...this.status() })
    const pace = { pollMs, failures: this.#failing, retryAfterMs: this.#retryAfterMs, allowance: this.#allowance }
    return pauseMs(pace, world.randomInt(CHANCES) / CHANCES)
  }

  async #poll(n: number): Promise<void> {
    const { provider, calendar, pollMs } = this.#given
    const running = new Map((await calendar.running()).map((match) => [match.matchId, match]))
    this.#forgetAllBut(running)
    const answered = await this.#take(await provider.inPlay(), running)
    // A match in play that the list leaves out is asked for at once; others, which have time, now and then.
    const missing = [...running.values()].filter(({ matchId }) => !answered.has(matchId))
    const more = missing.filter(({ phase }) => n % STRAGGLERS_EVERY === 0 || isInPlay(phase))
    if (more.length > 0 && canAffordMore({ allowance: this.#allowance, pollMs })) {
      await this.#take(await provider.fixtures(more.map(({ matchId }) => matchId)), running)
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
  async #take(answer: ProviderAnswer, running: ReadonlyMap<FixtureId, RunningMatch>): Promise<ReadonlySet<FixtureId>> {
    this.#hear(answer)
    const others: MatchInfo[] = []
    for (const snapshot of answer.fixtures) {
      const match = running.get(snapshot.fixtureId)
      if (match !== undefined || this.#begins(snapshot)) this.#hand(snapshot, match?.feedSeq ?? 0)
      else others.push(outlineOf(snapshot))
    }
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
      this.report('fixture_skipped', new Error(reason))
    }
  }

  /** Whether a fixture gets its match now: it is in play, or may be traded before. */
  #begins(snapshot: FixtureSnapshot): boolean {
    const phase = phaseOf(snapshot)
    return isInPlay(phase) || (phase === 'scheduled' && this.#given.rules().preMatch && snapshot.players.length > 0)
  }

  #hand(snapshot: FixtureSnapshot, heard: number): void {
    const { fixtureId: id } = snapshot
    if (this.#busy.has(id)) return
    const handed = this.#feed(snapshot, heard)
      .catch((error: unknown) => this.report('provider_update_failed', error, { matchId: id }))
      .finally(() => this.#busy.delete(id))
    this.#busy.set(id, handed)
  }

  /** Updates are counted on from the last one that the match has heard or was told, by whichever process. */
  async #feed(snapshot: FixtureSnapshot, heard: number): Promise<void> {
    const { fixtureId: id } = snapshot
    const { sourceAt, clock } = sourceTime(snapshot, this.#clocks.get(id) ?? null, snapshot.sourceAt)
    if (clock === null) this.#clocks.delete(id)
    else this.#clocks.set(id, clock)
    const seq = Math.max(heard, this.#told.get(id) ?? 0) + 1
    this.#told.set(id, seq)
    const update: FeedUpdate = { kind: 'feed_update', seq, snapshot: { ...snapshot, sourceAt } }
    await this.#given.desk.feed(update, { replay: false })
  }

  #forgetAllBut(running: ReadonlyMap<FixtureId, RunningMatch>): void {
    for (const known of [this.#clocks, this.#told]) {
      for (const id of known.keys()) if (!running.has(id) && !this.#busy.has(id)) known.delete(id)
    }
  }

  async #renew(): Promise<void> {
    if (this.#epoch === null || this.#stopped) return
    try {
      if (!(await this.#given.leases.renew(POLLER, this.#epoch))) this.#epoch = null
    } catch (error) {
      this.report('provider_lease_renewal_failed', error) // nothing can be committed meanwhile either
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
