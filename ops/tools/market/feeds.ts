/** Ways in which a provider reports the same match: in time, late, and wrongly. */
import { present } from '../../../actors/kernel/assert.ts'
import type { PlayerId } from '../../../actors/kernel/ids.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../../actors/market/fixture.ts'
import { isBooking, isGoal, isSendingOff, keyOf } from './plot.ts'
import { UPDATE_MS } from './strategy.ts'

export type Feed = (snapshots: readonly FixtureSnapshot[]) => readonly FixtureSnapshot[]

const updates = (secs: number): number => (secs * 1_000) / UPDATE_MS

/** Statistics as they were at another update. */
const withStatistics =
  (at: (index: number) => number): Feed =>
  (snapshots) =>
    snapshots.map((snapshot, index) => {
      const earlier = new Map(snapshots[Math.max(0, at(index))]?.players.map((p) => [p.playerId, p.details]))
      const players = snapshot.players.map((p) => ({ ...p, details: earlier.get(p.playerId) ?? null }))
      return { ...snapshot, players }
    })

const statisticsLate = (secs: number): Feed => withStatistics((index) => index - updates(secs))

const statisticsByTheMinute: Feed = withStatistics((index) => index - (index % updates(60)))

/** Cards appear in the list, and assists in the rows of their goals, so many seconds after they happened. */
const rowsLate =
  (secs: number): Feed =>
  (snapshots) => {
    const shownAt = new Map<string, number>()
    return snapshots.map((snapshot, index) => {
      const isNew = (event: FixtureEvent): boolean => {
        const key = keyOf(event)
        if (!shownAt.has(key)) shownAt.set(key, index)
        return index - (shownAt.get(key) ?? index) < updates(secs)
      }
      const events = snapshot.events?.flatMap((event) => {
        if (isBooking(event) || isSendingOff(event)) return isNew(event) ? [] : [event]
        return isGoal(event) && isNew(event) ? [{ ...event, relatedPlayerId: null }] : [event]
      })
      return { ...snapshot, events: events ?? null }
    })
  }

/** Every goal is given to a team-mate first, and to its scorer after so many seconds. */
const wrongScorers =
  (secs: number): Feed =>
  (snapshots) => {
    const shownAt = new Map<string, number>()
    return snapshots.map((snapshot, index) => {
      const events = snapshot.events?.map((event) => {
        if (!isGoal(event)) return event
        const key = keyOf(event)
        if (!shownAt.has(key)) shownAt.set(key, index)
        const isRight = index - (shownAt.get(key) ?? index) >= updates(secs)
        return isRight ? event : { ...event, playerId: teamMate(event, snapshot) }
      })
      return { ...snapshot, events: events ?? null }
    })
  }

/** The same for every update of a match: the first starter who is neither the scorer nor the keeper. */
export function teamMate({ playerId, relatedPlayerId }: FixtureEvent, { players }: FixtureSnapshot): PlayerId | null {
  const side = players.find((p) => p.playerId === playerId)?.side
  const others = players.filter((p) => p.side === side && p.starter && p.role === 'FWD')
  return others.find((p) => p.playerId !== playerId && p.playerId !== relatedPlayerId)?.playerId ?? playerId
}

export const IN_TIME = 'in time'
export const ROWS_LATE = 'rows 90 s late'
export const WRONG_SCORERS = 'wrong scorers'

const FEEDS = {
  [IN_TIME]: (snapshots) => snapshots,
  'statistics 30 s late': statisticsLate(30),
  'statistics 60 s late': statisticsLate(60),
  'statistics by the minute': statisticsByTheMinute,
  [ROWS_LATE]: rowsLate(90),
  [WRONG_SCORERS]: wrongScorers(120),
} satisfies Record<string, Feed>

export type FeedName = keyof typeof FEEDS
export const FEED_NAMES = Object.keys(FEEDS) as readonly FeedName[]
export const feedOf = (name: FeedName): Feed => present(FEEDS[name], 'feed')
