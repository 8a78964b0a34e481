/** Who is playing just now: the starting line-up, substitutions and sendings-off. */
import type { PlayerId } from '../kernel/ids.ts'
import type { FixturePlayer } from './fixture.ts'
import type { ReportedEvent } from './match-report.ts'

/** The players on the pitch by the line-ups and events reported so far, or null while no line-up says who starts. */
export function playersOnPitch(
  squad: readonly FixturePlayer[],
  events: readonly ReportedEvent[],
): readonly PlayerId[] | null {
  const starters = squad.filter((player) => player.starter).map((player) => player.playerId)
  if (starters.length === 0) return null
  const playing = new Set(starters)
  for (const { kind, playerId, relatedPlayerId } of events.filter((event) => !event.retracted).toSorted(byTime)) {
    if (playerId === null) continue
    if (kind === 'substitution') {
      if (relatedPlayerId !== null) playing.delete(relatedPlayerId)
      playing.add(playerId)
    } else if (kind === 'red' || kind === 'second_yellow') playing.delete(playerId)
  }
  return [...playing]
}

const byTime = (a: ReportedEvent, b: ReportedEvent): number =>
  a.minute - b.minute || (a.extraMinute ?? 0) - (b.extraMinute ?? 0)
