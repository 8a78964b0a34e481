/** Statistics of players that a provider has exchanged. */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixturePlayer, SaidFixture } from '../fixture.ts'
import { type Details, isCount } from './plausible.ts'

/** The most that both may have done meanwhile. */
const EXCHANGED_AHEAD = 2

/** Pairs of players each of whose rows goes on from what was known of the other. */
export function exchangedIn(
  rows: SaidFixture['players'],
  squad: readonly Pick<FixturePlayer, 'playerId' | 'details'>[],
): ReadonlySet<PlayerId> {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  const told = rows.flatMap(({ playerId, details: now }) => {
    const before = known.get(playerId) ?? null
    return now === null || before === null ? [] : [{ playerId, before, now }]
  })
  const found = new Set<PlayerId>()
  for (const one of told) {
    if (aheadOf(one.before, one.now) < Infinity) continue
    for (const other of told) {
      const ahead = aheadOf(one.before, other.now) + aheadOf(other.before, one.now)
      if (other !== one && ahead <= EXCHANGED_AHEAD) found.add(one.playerId).add(other.playerId)
    }
  }
  return found
}

/** How far the counts of a row are from what was known; infinitely far where one has fallen. */
function aheadOf(before: Details, now: Details): number {
  let sum = 0
  for (const type of new Set([...Object.keys(before), ...Object.keys(now)].map(Number))) {
    const ahead = (now[type] ?? 0) - (before[type] ?? 0)
    if (isCount(type)) sum += ahead < 0 ? Infinity : ahead
  }
  return sum
}
