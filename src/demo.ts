/** The bundled match that plays when nothing else does: one recording on a loop, with simulated traders, across restarts. */
import type { FixtureSnapshot } from '../actors/market/fixture.ts'
import { isInPlay, phaseOf } from '../actors/market/phase.ts'
import type { Recording } from '../actors/replay/script.ts'
import type { ReplayRun, ReplayRuns } from '../db/replays.ts'
import type { ReplayStatus } from '../rooms/replay-room.ts'
import type { Replays } from '../rooms/replays.ts'
import type { Log } from './log.ts'

export interface DemoOptions {
  readonly recording: Recording
  /** The frame a new run starts with: kick-off, so that a visitor finds a match in play. */
  readonly from: number
  readonly speed: number
  readonly traders: number
  readonly runs: ReplayRuns
  readonly replays: Replays
  readonly log: Log
}

/** Where a recording's match kicks off: its first frame in play, or its first one. */
export function kickOffFrame(recording: Recording, parse: (frame: unknown) => FixtureSnapshot | null): number {
  const kickOff = recording.frames.findIndex((frame) => {
    const snapshot = parse(frame)
    return snapshot !== null && isInPlay(phaseOf(snapshot))
  })
  return Math.max(0, kickOff)
}

/** Goes on with the run that a restart interrupted, or begins one; when it has settled the next begins. */
export async function startDemo(options: DemoOptions): Promise<ReplayStatus> {
  const { recording, speed, traders, runs } = options
  const run = (await runs.unfinished(recording.name)) ?? (await runs.begin({ script: recording.name, speed, traders }))
  return play(options, run)
}

function play(options: DemoOptions, run: ReplayRun): Promise<ReplayStatus> {
  const { recording, from, speed, traders, replays, runs, log } = options
  const order = { recording, from, matchId: run.matchId, speed, traders }
  return replays.start(order, ({ matchId }) => {
    runs
      .finish(matchId)
      .then(() => startDemo(options))
      .catch((error: unknown) => log.error('demo', { error }))
  })
}
