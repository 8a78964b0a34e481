/** A recorded match, and which of its frames is due when it is played as a replay. */

export interface Recording {
  /** The name it is started by: lower-case letters, digits and dashes. */
  readonly name: string
  readonly title: string
  /** "Home vs Away". */
  readonly fixtureName: string
  /** Anchors by player id, in units: the prices of players without history. */
  readonly anchors: Readonly<Record<string, number>>
  /** Full fixture payloads in the provider's format, FRAME_MS of match time apart. */
  readonly frames: readonly unknown[]
}

/** Match time between two frames, in milliseconds. */
export const FRAME_MS = 10_000

/** Real time between two frames at `speed` times the original pace, in milliseconds. */
export const frameIntervalMs = (speed: number): number => FRAME_MS / speed

/**
 * The index of the newest frame due `elapsedMs` after the start, never past the last one. A replay that is held up
 * skips frames and does not fall behind. Every frame is a complete snapshot, but how far one tick moves a price is
 * limited, so a run that skips may end at other prices. A lossless replay plays every frame, and falls behind instead.
 */
export function frameDue(recording: Pick<Recording, 'frames'>, elapsedMs: number, speed: number): number {
  const due = Math.floor(Math.max(0, elapsedMs) / frameIntervalMs(speed))
  return Math.min(recording.frames.length - 1, due)
}
