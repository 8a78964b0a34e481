/** What the optional protection (actors/match/protection) remembers of the news of a player. Null without it. */
import { as, boolean, fieldsOf, integer, listOf, nullable, type Reader } from '../kernel/read.ts'
import { instant, type Instant } from '../kernel/world.ts'

export interface NewsMemory {
  /** Trading waits until list and statistics agree about the player; null when it does not wait. */
  readonly hold: NewsHold | null
  /** What has happened to the player, the earliest first. */
  readonly windows: readonly NewsWindow[]
}

export interface NewsHold {
  /** The number of the last update that showed something new. */
  readonly changedSeq: number
  /** Owners may close from this instant on, whether or not list and statistics agree. */
  readonly closesFrom: Instant
  /** The same for opens. */
  readonly opensFrom: Instant
}

export interface NewsWindow {
  /** A fill from this instant on may have been made with knowledge of the news. */
  readonly from: Instant
  /** The ids under which the events behind it were first listed. */
  readonly eventIds: readonly number[]
  /** False for a review or a goal without a name: it may concern any player, until one is named. */
  readonly names: boolean
  /** When trading reopened; null while it waits. */
  readonly endedAt: Instant | null
}

const readInstant = as(integer, instant)

const readHold: Reader<NewsHold> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    changedSeq: field('changedSeq', integer),
    closesFrom: field('closesFrom', readInstant),
    opensFrom: field('opensFrom', readInstant),
  }
}

const readWindow: Reader<NewsWindow> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    from: field('from', readInstant),
    eventIds: field('eventIds', listOf(integer)),
    names: field('names', boolean),
    endedAt: field('endedAt', nullable(readInstant)),
  }
}

export const readNewsMemory: Reader<NewsMemory> = (value, path) => {
  const field = fieldsOf(value, path)
  return { hold: field('hold', nullable(readHold)), windows: field('windows', listOf(readWindow)) }
}
