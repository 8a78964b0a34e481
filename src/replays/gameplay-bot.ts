/**
 * The gameplay bot: plays recorded matches with simulated traders. What is to play stands in the database; every process
 * looks there once a second and brings about what it finds, so that a replay may be started and stopped through any of
 * them, and goes on after a restart. The process that holds the lease of its match plays, the others stand by.
 */
import { present } from '../../actors/kernel/assert.ts'
import { type FixtureId, fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { REPLAY_FIXTURES_FROM, REPLAYS_MAX } from '../../actors/kernel/limits.ts'
import { type Instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { isInPlay, phaseOf } from '../../actors/market/phase.ts'
import type { Ending } from '../../actors/match/ending.ts'
import { FRAME_MS, type Recording } from '../../actors/replay/recording.ts'
import type { ReplayRun, ReplayRuns } from '../../db/replays.ts'
import type { Replays } from '../../rooms/sources/replays.ts'
import { loadRecording, type RecordingFile } from './recordings.ts'

export interface BotOptions {
  /** Whether replays play in this process; otherwise it only says what others shall play. */
  readonly plays: boolean
  /** What can be played. */
  readonly recordings: readonly RecordingFile[]
  readonly runs: Pick<ReplayRuns, 'unfinished' | 'latestDemo' | 'begin' | 'end' | 'finish'>
  readonly replays: Pick<Replays, 'start' | 'conclude' | 'stop' | 'has' | 'status'>
  readonly parse: (payload: unknown, matchId: FixtureId, cast: string) => FixtureSnapshot | null
  /** Sees to it that the players of a cast are worth what their recording says. */
  readonly cast: (recording: Recording, cast: string) => Promise<void>
  /** The match that is always on: begun when this process starts, and again whenever it has ended by itself. */
  readonly demo: { readonly recording: string; readonly speed: number; readonly traders: number } | null
}

export interface BundledFixture {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly minutes: number
  readonly players: number
}

export interface ReplayReport {
  readonly id: string
  /** The name of the recording. */
  readonly fixtureId: string
  readonly matchId: FixtureId
  readonly minute: number | null
  /** How much of the recording the match has heard, 0 to 1; null when there is no such recording any more. */
  readonly progress: number | null
  readonly speed: number
  readonly traders: number
  readonly state: 'playing' | 'stopping'
  readonly demo: boolean
  readonly startedAt: Instant
}

export interface BotOrder {
  readonly fixtureId: string
  readonly speed: number
  readonly traders: number
  readonly by: UserId
}

export interface BotStop {
  readonly id: string | null
  readonly ending: Ending
  readonly by: UserId
}

export type BotStart =
  | { readonly kind: 'started'; readonly id: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'full'; readonly max: number }

/** A recording with what has to be known of it to play it. */
interface Prepared {
  readonly recording: Recording
  /** The frame that a run begins with: kick-off, so that there is a match in play at once. */
  readonly from: number
  readonly players: number
}

export class GameplayBot {
  readonly #options: BotOptions
  readonly #prepared = new Map<string, Promise<Prepared>>()
  /** Looks follow each other: two at once would start the same replay twice. */
  #looking: Promise<unknown> = Promise.resolve()
  /** Whether the demo has played since this process started: from then on a stopped one stays so. */
  #demoBegun = false

  constructor(options: BotOptions) {
    this.#options = options
  }

  async fixtures(): Promise<readonly BundledFixture[]> {
    const names = this.#options.recordings.map(({ name }) => name)
    return Promise.all(
      names.map(async (id) => {
        const { recording, from, players } = await this.#prepare(id)
        const minutes = Math.ceil(((recording.frames.length - from) * FRAME_MS) / MINUTE_MS)
        return { id, name: recording.fixtureName, title: recording.title, minutes, players }
      }),
    )
  }

  /** Starts a replay from its kick-off, in a match of its own. */
  async start({ fixtureId: script, speed, traders, by }: BotOrder): Promise<BotStart> {
    if (!this.#options.recordings.some(({ name }) => name === script)) return { kind: 'unknown' }
    const run = await this.#options.runs.begin({ recording: script, speed, traders, demo: false, by })
    if (run === null) return { kind: 'full', max: REPLAYS_MAX }
    this.#lookSoon()
    return { kind: 'started', id: run.id }
  }

  /** Everything that plays or is being stopped, in whichever process. */
  async status(): Promise<readonly ReplayReport[]> {
    const runs = await this.#options.runs.unfinished()
    return Promise.all(runs.map((run) => this.#report(run)))
  }

  /** Ends one replay, or with a null id all of them: what is open in their matches is settled, or void. Says which. */
  async stop({ id, ending, by }: BotStop): Promise<readonly string[]> {
    const ended = await this.#options.runs.end(id, ending, by)
    this.#lookSoon()
    return ended
  }

  /** Looks at what is to play, and brings it about here as far as it is not. Rejects with the first thing that failed. */
  async look(): Promise<void> {
    const look = this.#looking.then(() => this.#look())
    this.#looking = look.catch(() => undefined)
    return look
  }

  /** What fails is tried again by the next look, which is never far. */
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
    if (failed !== undefined) throw failed.reason
  }

  async #attend(run: ReplayRun): Promise<void> {
    const { runs, replays, demo } = this.#options
    const isOver = run.match === null ? run.ending !== null : run.match.settled
    if (isOver) {
      await replays.stop(run.id) // first, so that no frame begins a match that nobody would end
      return runs.finish(run.id)
    }
    if (run.demo && demo === null && run.ending === null) return // it waits for a process that plays it
    if (run.demo && demo !== null && demo.recording !== run.recording) await runs.end(run.id, 'full_time', null)
    if (!replays.has(run.id)) await this.#play(run)
    if (run.ending !== null) replays.conclude(run.id, run.ending)
  }

  async #play(run: ReplayRun): Promise<void> {
    const { replays, cast, demo } = this.#options
    const { recording, from } = await this.#prepare(run.recording)
    const name = castOf(run)
    await cast(recording, name)
    const { speed, traders } = run.demo && demo !== null ? demo : run
    const { id, matchId } = run
    await replays.start({ id, recording, cast: name, from, matchId, speed, traders }, () => this.#lookSoon())
  }

  /** The demo goes on for ever, until an operator stops it; the next start of the program begins it again. */
  async #nextDemo(demo: NonNullable<BotOptions['demo']>): Promise<void> {
    const { runs } = this.#options
    const stopped = ((await runs.latestDemo())?.ending ?? null) !== null
    if (stopped && this.#demoBegun) return
    const run = await runs.begin({ ...demo, demo: true, by: null })
    this.#demoBegun = true
    if (run !== null) await this.#play(run)
  }

  async #report(run: ReplayRun): Promise<ReplayReport> {
    const frames = await this.#prepare(run.recording).then(
      ({ recording }) => recording.frames.length,
      () => null, // it is not bundled any more
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
      startedAt: run.startedAt,
    }
  }

  #prepare(script: string): Promise<Prepared> {
    const known = this.#prepared.get(script)
    if (known !== undefined) return known
    const preparing = this.#load(script)
    this.#prepared.set(script, preparing)
    preparing.catch(() => this.#prepared.delete(script))
    return preparing
  }

  async #load(script: string): Promise<Prepared> {
    const { recordings, parse } = this.#options
    const { path } = present(
      recordings.find(({ name }) => name === script),
      `the recording ${script}`,
    )
    const recording = await loadRecording(path)
    const from = kickOffFrame(recording, (frame) => parse(frame, fixtureId(REPLAY_FIXTURES_FROM), script))
    const kickOff = parse(recording.frames[from], fixtureId(REPLAY_FIXTURES_FROM), script)
    return { recording, from, players: kickOff?.players.length ?? 0 }
  }
}

/** Several runs of one recording have players of their own; one alone always has the same. */
const castOf = ({ recording, slot }: ReplayRun): string => (slot === 0 ? recording : `${recording}/${slot + 1}`)

/** Where a recording's match kicks off: its first frame in play, or its first one. */
function kickOffFrame(recording: Recording, parse: (frame: unknown) => FixtureSnapshot | null): number {
  const kickOff = recording.frames.findIndex((frame) => {
    const snapshot = parse(frame)
    return snapshot !== null && isInPlay(phaseOf(snapshot))
  })
  return Math.max(0, kickOff)
}
