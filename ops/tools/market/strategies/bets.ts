/** What the strategies of the battery share. */
import type { InstrumentId } from '../../../../actors/kernel/ids.ts'
import { instant, type Instant, SECOND_MS } from '../../../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../../../actors/market/fixture.ts'
import type { Instrument } from '../../../../actors/market/instrument.ts'
import type { Direction } from '../../../../actors/position/position.ts'
import type { Floor, Foresight, Hands } from '../strategy.ts'

export const opposite = (direction: Direction): Direction => (direction === 'long' ? 'short' : 'long')

/** The first update in play. */
export const isKickOff = ({ snapshot, before }: Pick<Floor, 'snapshot' | 'before'>): boolean =>
  snapshot.periods.length > 0 && (before === null || before.periods.length === 0)

/** The index of that update; the last one when the match never begins. */
export function kickOffOf({ snapshots }: Pick<Foresight, 'snapshots'>): number {
  const index = snapshots.findIndex((s) => s.periods.length > 0)
  return index === -1 ? snapshots.length - 1 : index
}

const secsPlayed = (snapshot: FixtureSnapshot | null): number =>
  (snapshot?.periods ?? []).reduce((sum, p) => sum + p.elapsedSecs, 0)

/** Whether an update is the first at or after a minute of play. */
export const reaches = ({ snapshot, before }: Pick<Floor, 'snapshot' | 'before'>, minute: number): boolean =>
  secsPlayed(snapshot) >= minute * 60 && secsPlayed(before) < minute * 60

/** The index of the first update at or after a minute of play; -1 when there is none. */
export const indexAt = ({ snapshots }: Pick<Foresight, 'snapshots'>, minute: number): number =>
  snapshots.findIndex((snapshot) => secsPlayed(snapshot) >= minute * 60)

/** Starters in the order of `by`, the greatest first. */
export function starters(floor: Floor, by: (instrument: Instrument) => number): readonly Instrument[] {
  return [...floor.view.instruments()].filter((i) => i.starter).toSorted((a, b) => by(b) - by(a))
}

export interface Bet {
  readonly direction: Direction
  readonly at: Instant
  /** Null until full time, 0 until it may be closed. */
  readonly heldForMs?: number | null
}

export const bet = (hands: Hands, instrumentId: InstrumentId, { direction, at, heldForMs = 0 }: Bet): void =>
  hands.open({ instrumentId, direction, at, heldForMs })

/** A second after an update: no trader is faster than that by hand, and a script has no reason to be slower. */
export const soon = ({ now }: Pick<Floor, 'now'>): Instant => instant(now + SECOND_MS)
