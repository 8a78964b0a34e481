/** A recorded match as a script: which of its payloads is due when it plays at a given speed. */

export interface Recording {
  /** What it is started by: lower case, digits and dashes. */
  readonly name: string
  readonly title: string
  /** "Home vs Away". */
  readonly fixtureName: string
  /** What its players are worth before they have a price of their own, by player id, in units. */
  readonly anchors: Readonly<Record<string, number>>
  /** Full fixture payloads in the provider's format, FRAME_MS of match time apart. */
  readonly frames: readonly unknown[]
}

/** Match time between two frames. */
export const FRAME_MS = 10_000

/** Real milliseconds between two frames when the match plays `speed` times as fast as it was. */
export const frameIntervalMs = (speed: number): number => FRAME_MS / speed

/**
 * The index of the newest frame due `elapsedMs` after the start, never past the last one: a player that was held up
 * skips frames rather than falling behind, which loses nothing, as every frame says everything.
 */
export function frameDue(recording: Pick<Recording, 'frames'>, elapsedMs: number, speed: number): number {
  const due = Math.floor(Math.max(0, elapsedMs) / frameIntervalMs(speed))
  return Math.min(recording.frames.length - 1, due)
}
