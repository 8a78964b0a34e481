/** Statistics that two players have exchanged in an update. */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixturePlayer, SaidFixture } from '../fixture.ts'
import { canFollow, type Details, isCount } from './plausible.ts'

interface Told {
  readonly playerId: PlayerId
  readonly now: Details
  readonly before: Details
}

/** A player may lose one count to a correction. */
const FALLS_MIN = 2

/**
 * The players whose rows tell of each other: each follows from what was known of the other, and one of the two says
 * less of its own player in several counts. By player, the counts that fall.
 */
export function exchangedIn(
  rows: SaidFixture['players'],
  squad: ReadonlyMap<PlayerId, FixturePlayer>,
  { waiting, minutes }: { readonly waiting: Readonly<Record<string, Details>>; readonly minutes: number },
): ReadonlyMap<PlayerId, Details> {
  const told = rows.flatMap(({ playerId, details: now }): Told[] => {
    const before = squad.get(playerId)?.details ?? null
    if (now === null || before === null) return []
    // A fall that waits is confirmed by this update, or is none.
    const isNew = Object.entries(waiting[playerId] ?? {}).every(([type, value]) => value >= (before[Number(type)] ?? 0))
    return isNew ? [{ playerId, now, before }] : []
  })
  const found = new Map<PlayerId, Details>()
  for (const one of told) {
    const falls = fallsIn(one)
    if (Object.keys(falls).length < FALLS_MIN) continue
    const other = told.find(
      (two) => two !== one && isNext(one.now, two.before, minutes) && isNext(two.now, one.before, minutes),
    )
    if (other !== undefined) found.set(one.playerId, falls).set(other.playerId, fallsIn(other))
  }
  return found
}

/** A count that is not said is zero. */
function fallsIn({ now, before }: Told): Details {
  const falls: Record<number, number> = {}
  for (const [key, last] of Object.entries(before)) {
    const [type, value] = [Number(key), now[Number(key)] ?? 0]
    if (isCount(type) && value < last) falls[type] = value
  }
  return falls
}

/** Whether a row leaves nothing out of another, and can be the next of its player. */
function isNext(now: Details, before: Details, minutes: number): boolean {
  const isWhole = Object.entries(before).every(([type, value]) => value === 0 || now[Number(type)] !== undefined)
  return (
    isWhole &&
    Object.entries(now).every(([key, value]) => {
      const type = Number(key)
      return canFollow(type, before[type] ?? (isCount(type) ? 0 : value), value, { withNews: true, minutes })
    })
  )
}
