/**
 * The gameplay bot: plays recordings with simulated traders. The replays to play are rows in the database, and every
 * process follows them once a second, so that a replay can be started and stopped through any process and survives a
 * restart. The process that holds the lease of the match plays it; the others stand by.
 */
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { REPLAY_FIXTURES_FROM, REPLAYS_MAX } from '../../actors/kernel/limits.ts'
import { type Instant, MINUTE_MS, type World } from '../../actors/kernel/world.ts'
import type { SaidFixture } from '../../actors/market/fixture.ts'
import { isInPlay, phaseOf } from '../../actors/market/phase.ts'
import type { Ending } from '../../actors/match/messages.ts'
import { FRAME_MS, type Recording } from '../../actors/replay/recording.ts'
import type { ReplayPlan, ReplayRun, ReplayRuns } from '../../db/replays.ts'
import type { Replays } from '../../rooms/sources/replays.ts'
import { readStored, type RecordingLibrary } from './library.ts'
import { RecordingFlaw } from './recordings.ts'
import { tournamentMatch } from './tournament-match.ts'

export interface BotOptions {
  /** Whether replays play in this process; otherwise it only writes the rows. */
  readonly plays: boolean
  readonly library: Pick<RecordingLibrary, 'bundled' | 'added' | 'version' | 'find'>
  readonly runs: Pick<ReplayRuns, 'unfinished' | 'latestDemo' | 'begin' | 'end' | 'finish'>
  readonly replays: Pick<Replays, 'start' | 'conclude' | 'stop' | 'has' | 'status'>
  /** Whether another process runs the match of a replay. */
  readonly isElsewhere: (matchId: FixtureId) => Promise<boolean>
  readonly clock: World['steady']
  /** Ends the match of a replay, wherever it runs. */
  readonly endMatch: (matchId: FixtureId, ending: Ending) => Promise<unknown>
  readonly parse: (payload: unknown, matchId: FixtureId, cast: string) => SaidFixture | null
  /** Sets the prices of a cast's players to those of their recording. */
  readonly cast: (recording: Recording, cast: string) => Promise<void>
  /** The match that plays in a loop: started with the process, and again when it has ended. */
  readonly demo: { readonly recording: string; readonly speed: number; readonly traders: number } | null
  /** Whether replays are practice unless their starter says otherwise. */
  readonly practiceByDefault: () => boolean
  /**
   * Called when a replay starts that pays the main purse, with which live matches are traded as well; null where there
   * are none, or in development.
   */
  readonly onMainPurse: ((run: ReplayRun) => void) | null
}

/** A recording that can be played. */
export interface PlayableFixture {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly minutes: number
  readonly players: number
}

export interface ReplayReport {
  readonly id: string
  /** The name of the recording; `tournament` for the match of one. */
  readonly fixtureId: string
  readonly matchId: FixtureId
  readonly minute: number | null
  /**
   * The share of the recording that has been played, 0 to 1; null when the recording no longer exists, and for a
   * tournament, of which nobody knows how long it is.
   */
  readonly progress: number | null
  readonly speed: number
  readonly traders: number
  readonly state: 'playing' | 'stopping'
  readonly demo: boolean
  readonly lossless: boolean
  /** Whether it is traded with practice money. */
  readonly practice: boolean
  readonly startedAt: Instant
}

export interface BotOrder {
  readonly fixtureId: string
  readonly speed: number
  readonly traders: number
  readonly lossless: boolean
  /** Left out: as the setting `replays.practice` says. */
  readonly practice?: boolean | undefined
  readonly by: UserId
  /** For the audit log. */
  readonly reason?: string | undefined
}

export interface BotStop {
  readonly id: string | null
  readonly ending: Ending
  readonly by: UserId
  /** For the audit log. */
  readonly reason?: string | undefined
}

export type BotStart =
  | { readonly kind: 'started'; readonly id: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'full'; readonly max: number }

/** How long a replay whose recording is gone waits for a process that has it, such as one of another version. */
const LACKING_MS = MINUTE_MS
/** Recordings that are kept in memory: a few megabytes each. */
const PREPARED_MAX = 12

/** A recording, ready to play. */
interface Prepared {
  readonly recording: Recording
  /** The frame of the kick-off: a replay starts there, so that it is in play at once. */
  readonly from: number
  readonly players: number
}

export class GameplayBot {
  readonly #options: BotOptions
  readonly #prepared = new Map<string, Promise<Prepared>>()
  /** Looks run one after the other: two at once would start the same replay twice. */
  #looking: Promise<unknown> = Promise.resolve()
  /** Whether the demo has played since this process started: from then on a stopped demo stays stopped. */
  #demoBegun = false
  #hasLooked = false
  /** Since when no process has been known to play a run whose recording this one lacks, by the steady clock. */
  readonly #lackedSince = new Map<string, number>()

  constructor(options: BotOptions) {
    this.#options = options
  }

  /** The bundled recordings, then those added. Every ended match can also be played, as `match-<id>`. */
  async fixtures(): Promise<readonly PlayableFixture[]> {
    const { library } = this.#options
    const bundled = await Promise.all(
      library.bundled.map(async ({ name: id }) => {
        const { recording, from, players } = await this.#prepare(id)
        const minutes = Math.ceil(((recording.frames.length - from) * FRAME_MS) / MINUTE_MS)
        return { id, name: recording.fixtureName, title: recording.title, minutes, players }
      }),
    )
    const added = await library.added()
    return [
      ...bundled,
      ...added.map(({ name: id, fixtureName: name, title, minutes, players }) => ({
        id,
        name,
        title,
        minutes,
        players,
      })),
    ]
  }

  /** Whether a replay that pays the main purse pays those who know its outcome what live matches are traded with. */
  get mainPurseIsLive(): boolean {
    return this.#options.onMainPurse !== null
  }

  /** Starts a replay at its kick-off, in its own match. */
  async start({ fixtureId: recording, by, ...order }: BotOrder): Promise<BotStart> {
    const { library, practiceByDefault } = this.#options
    if ((await library.version(recording)) === null) return { kind: 'unknown' }
    const practice = order.practice ?? practiceByDefault()
    const run = await this.#begin({ ...order, recording, practice, demo: false, by })
    if (run === null) return { kind: 'full', max: REPLAYS_MAX }
    this.#lookSoon()
    return { kind: 'started', id: run.id }
  }

  /** The replays that play or are being stopped, in any process. */
  async status(): Promise<readonly ReplayReport[]> {
    const runs = await this.#options.runs.unfinished()
    return Promise.all(runs.map((run) => this.#report(run)))
  }

  /**
   * Ends one replay, or all if `id` is null; open positions are settled or voided. Returns the ids of those that end
   * so; `over` if the one replay ends otherwise.
   */
  async stop({ id, ending, by, reason }: BotStop): Promise<readonly string[] | 'over'> {
    const ended = await this.#options.runs.end(id, ending, by, reason)
    this.#lookSoon()
    return ended
  }

  /**
   * Starts and stops replays here until they match the rows in the database. Rejects with the first failure; the first
   * look, for which the start of the process waits, leaves the failures of single runs to the second.
   */
  async look(): Promise<void> {
    const look = this.#looking.then(() => this.#look())
    this.#looking = look.catch(() => undefined)
    return look
  }

  async #begin(plan: ReplayPlan): Promise<ReplayRun | null> {
    const run = await this.#options.runs.begin(plan)
    if (run?.practice === false) this.#options.onMainPurse?.(run)
    return run
  }

  /** A failure is retried by the next look, at most a second later. */
  #lookSoon(): void {
    void this.look().catch(() => undefined)
  }

  async #look(): Promise<void> {
    const { plays, runs, replays, demo } = this.#options
    if (!plays) return
    const unfinished = await runs.unfinished()
    const results = await Promise.allSettled(unfinished.map((run) => this.#attend(run)))
    const wanted = new Set(unfinished.map(({ id }) => id))
    for (const { id } of replays.status()) if (!wanted.has(id)) await replays.stop(id)
    if (unfinished.some((run) => run.demo && run.recording === demo?.recording && run.ending === null))
      this.#demoBegun = true
    if (demo !== null && !unfinished.some((run) => run.demo)) await this.#nextDemo(demo)
    const failed = results.find((result) => result.status === 'rejected')
    const isFirst = !this.#hasLooked
    this.#hasLooked = true
    if (failed !== undefined && !isFirst) throw failed.reason
  }

  async #attend(run: ReplayRun): Promise<void> {
    const { library, runs, replays, endMatch, demo } = this.#options
    const isOver = run.match === null ? run.ending !== null : run.match.settled
    if (isOver) {
      this.#lackedSince.delete(run.id)
      await replays.stop(run.id) // first, so that no frame starts a match that would never end
      return runs.finish(run.id)
    }
    if (run.demo && demo === null && run.ending === null) return // it waits for a process that has a demo
    const isPlaying = replays.has(run.id)
    // A run that ends needs no recording, which may be gone.
    if (run.ending !== null)
      return void (isPlaying ? replays.conclude(run.id, run.ending) : await endMatch(run.matchId, run.ending))
    const isOtherDemo = run.demo && demo !== null && demo.recording !== run.recording
    const isLacking = !isPlaying && run.tournament === null && (await library.version(run.recording)) === null
    if (isOtherDemo || (isLacking && (await this.#isGone(run)))) await runs.end(run.id, 'full_time', null)
    else if (!isPlaying && !isLacking) {
      await this.#play(run).catch(async (error: unknown) => {
        // It would be read in vain every second; but another process may play what this one cannot read.
        if (error instanceof RecordingFlaw && (await this.#isGone(run))) await runs.end(run.id, 'full_time', null)
        throw error
      })
    }
  }

  /**
   * Whether the recording of a run that this process lacks, or cannot read, is gone for all: a bundled one may be in
   * the next version.
   */
  async #isGone({ id, matchId }: ReplayRun): Promise<boolean> {
    const now = this.#options.clock.now()
    const since = (await this.#options.isElsewhere(matchId)) ? now : (this.#lackedSince.get(id) ?? now)
    this.#lackedSince.set(id, since)
    return now - since >= LACKING_MS
  }

  async #play(run: ReplayRun): Promise<void> {
    const { replays, cast, demo } = this.#options
    const { recording, from } = await (run.tournament === null
      ? this.#prepare(run.recording)
      : tournamentMatch(run.tournament).then((made) => this.#ready(made)))
    const name = castOf(run)
    await cast(recording, name)
    const { speed, traders } = run.demo && demo !== null ? demo : run
    const { id, matchId, lossless, practice } = run
    const order = { id, recording, cast: name, from, matchId, speed, traders, lossless, practice }
    await replays.start(order, () => this.#lookSoon())
  }

  /** The demo plays in a loop until an operator stops it, and again after the next start of the program. */
  async #nextDemo(demo: NonNullable<BotOptions['demo']>): Promise<void> {
    const { runs, practiceByDefault } = this.#options
    const stopped = ((await runs.latestDemo())?.ending ?? null) !== null
    if (stopped && this.#demoBegun) return
    const practice = practiceByDefault()
    const run = await this.#begin({ ...demo, lossless: false, practice, demo: true, by: null })
    this.#demoBegun = true
    if (run !== null) await this.#play(run)
  }

  async #report(run: ReplayRun): Promise<ReplayReport> {
    const frames =
      run.tournament !== null
        ? null
        : await this.#prepare(run.recording).then(
            ({ recording }) => recording.frames.length,
            () => null, // it no longer exists
          )
    return {
      id: run.id,
      fixtureId: run.recording,
      matchId: run.matchId,
      minute: run.match?.minute ?? null,
      progress: frames === null ? null : Math.min(1, (run.match?.frames ?? 0) / frames),
      speed: run.speed,
      traders: run.traders,
      state: run.ending === null ? 'playing' : 'stopping',
      demo: run.demo,
      lossless: run.lossless,
      practice: run.practice,
      startedAt: run.startedAt,
    }
  }

  async #prepare(script: string): Promise<Prepared> {
    const version = await this.#options.library.version(script)
    const key = `${script} ${present(version ?? undefined, `the recording ${script}`)}`
    const known = this.#prepared.get(key)
    this.#prepared.delete(key)
    const preparing = known ?? this.#load(script)
    this.#prepared.set(key, preparing) // the last to be forgotten
    const [oldest] = this.#prepared.keys()
    if (this.#prepared.size > PREPARED_MAX && oldest !== undefined) this.#prepared.delete(oldest)
    preparing.catch(() => this.#prepared.delete(key))
    return preparing
  }

  async #load(script: string): Promise<Prepared> {
    const stored = await this.#options.library.find(script)
    return this.#ready(await readStored(present(stored ?? undefined, `the recording ${script}`)))
  }

  #ready(recording: Recording): Prepared {
    const parse = (frame: unknown) => this.#options.parse(frame, fixtureId(REPLAY_FIXTURES_FROM), recording.name)
    const from = kickOffFrame(recording, parse)
    return { recording, from, players: parse(recording.frames[from])?.players.length ?? 0 }
  }
}

/**
 * Concurrent replays of one recording have players of their own; a single one always has the same players. Those of a
 * tournament play once.
 */
const castOf = ({ id, recording, slot, tournament }: ReplayRun): string =>
  tournament !== null ? `tournament/${id}` : slot === 0 ? recording : `${recording}/${slot + 1}`

/** The first frame in play, or else the first frame. */
function kickOffFrame(recording: Recording, parse: (frame: unknown) => SaidFixture | null): number {
  const kickOff = recording.frames.findIndex((frame) => {
    const snapshot = parse(frame)
    return snapshot !== null && isInPlay(phaseOf(snapshot))
  })
  return Math.max(0, kickOff)
}
