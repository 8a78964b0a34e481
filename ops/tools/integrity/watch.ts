/** Looks at a town as the integrity desk does: again every half minute, with the openings so far. */
import type { UserId } from '../../../actors/kernel/ids.ts'
import { findingsIn } from '../../../actors/integrity/findings.ts'
import type { Town } from './town.ts'

const EVERY_MS = 30_000
const MARK_MS = 10_000
const ENOUGH = 10
const WITHIN_SECS = 60

export interface Watched {
  readonly openings: number
  readonly cheats: number
  /** Within a minute of the tenth opening. */
  readonly found: number
  readonly honest: number
  readonly falseAlarms: number
  /** Seconds from a cheat's tenth opening to the first alert about them, at most. Before it counts as 0. */
  readonly latestSecs: number
  /** Cheats who were found late or not at all. */
  readonly missed: readonly UserId[]
  readonly accused: readonly UserId[]
}

export function watch({ openings, connections, cheats, honest }: Town): Watched {
  const inOrder = openings.toSorted((a, b) => a.at - b.at)
  const [first, last] = [inOrder[0]?.at ?? 0, inOrder.at(-1)?.at ?? 0]
  const foundAt = new Map<UserId, number>()
  for (let now = first; now <= last + 2 * EVERY_MS; now += EVERY_MS) {
    const soFar = inOrder
      .filter(({ at }) => at <= now)
      .map((one) => (one.at + MARK_MS <= now ? one : { ...one, markOut: null }))
    for (const { users } of findingsIn(soFar, connections)) {
      for (const user of users) if (!foundAt.has(user)) foundAt.set(user, now)
    }
  }
  const delayOf = (user: UserId): number | null => {
    const tenth = inOrder.filter(({ userId }) => userId === user)[ENOUGH - 1]
    const found = foundAt.get(user)
    return tenth === undefined || found === undefined ? null : (found - tenth.at) / 1_000
  }
  // An account that opened nothing has cheated no user.
  const traders = new Set(openings.map(({ userId }) => userId))
  const active = [...cheats].filter((user) => traders.has(user))
  const accused = honest.filter((user) => foundAt.has(user))
  // An alert that comes too late is none.
  const missed = active.filter((user) => !foundAt.has(user) || (delayOf(user) ?? 0) > WITHIN_SECS)
  return {
    openings: openings.length,
    cheats: active.length,
    found: active.length - missed.length,
    honest: honest.length,
    falseAlarms: accused.length,
    latestSecs: Math.round(Math.max(...active.map((user) => delayOf(user) ?? 0))),
    missed,
    accused,
  }
}
