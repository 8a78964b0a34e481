/**
 * Why an update moved a base: what the model attributes to events, to the minutes played, and to statistics. The parts
 * of a move add up to it, to the micro.
 */
import type { PlayerId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
import { integer, nullable, oneOf, Unreadable } from '../kernel/read.ts'
import type { Side } from './fixture.ts'
import { counts, type Incident, isGoal, scoringSide } from './incidents.ts'
import {
  type DiscreteAction,
  DISCRETE,
  discretePoints,
  type Rated,
  ratingPoints,
  type ScoringModel,
} from './scoring.ts'
import { aheadBy, type Expectation, type Standing, targetOf, toldMinutes } from './target.ts'

/** What happened to the player, and when. */
export interface ReasonEvent {
  readonly kind: DiscreteAction
  readonly minute: number
  readonly extraMinute: number | null
  /** It had counted, and no longer does. */
  readonly undone: boolean
}

/** The parts of a move of the base, in micros of price. The crowd's part is the rest of a price's move. */
export interface MoveReason {
  /** The event that counted most; null without one. */
  readonly event: ReasonEvent | null
  readonly byEvent: number
  /** Expected points that the minutes brought and the player did not. */
  readonly byMinutes: number
  readonly byStatistics: number
}

/** A player whose base has moved, and between what. */
export interface BaseMove {
  readonly playerId: PlayerId
  readonly side: Side
  readonly start: Price
  readonly from: Price
  readonly to: Price
  readonly before: Standing
  readonly now: Standing
  readonly expectation: Expectation
}

/** The list of events before and after an update, and the minute it shows. */
export interface ReasonList {
  readonly incidents: readonly Incident[]
  readonly remembered: readonly Incident[]
  readonly minute: number
}

/** A base that is further than this fraction of its start from its target was held by the cap on single ticks. */
const HELD_BACK = 0.002
/** Over fewer points the slope is that over as many. */
const LEAST_POINTS = 0.001
/** An event of the last minutes is what a held base still follows. */
const FOLLOWED_MINUTES = 5

/** Why this base moved; null when it did not. */
export function reasonOf(move: BaseMove, list: ReasonList, model: ScoringModel): MoveReason | null {
  const moved = move.to - move.from
  if (moved === 0) return null
  const points = pointsMoved(move, model)
  const sum = points.event + points.minutes + points.statistics
  const x = aheadBy(move.before, move.expectation, model)
  const target = targetOf(move.start, x, model)
  // The curve's slope over what has changed, so that the parts add up.
  const step = Math.abs(sum) > LEAST_POINTS ? sum : LEAST_POINTS
  const perPoint = (targetOf(move.start, x + (model.scale * step) / 100, model) - target) / step
  // What is left of earlier updates comes on top, and a capped tick shows a part of all of it.
  const left = target - move.from
  const wanted = perPoint * sum + left
  const shown = Math.abs(wanted) > move.start * model.tickCap ? moved / wanted : 1
  const follows = Math.abs(left) > move.start * HELD_BACK ? latestOf(move, list) : null
  const event = changedEvent(move, list, model) ?? follows
  const byEvent = Math.round(shown * (perPoint * points.event + (event === null ? 0 : left)))
  const byMinutes = Math.round(shown * perPoint * points.minutes)
  return { event, byEvent, byMinutes, byStatistics: moved - byEvent - byMinutes }
}

/** By how many points each part has changed what the model sees. */
function pointsMoved({ before, now, expectation: { role, points } }: BaseMove, model: ScoringModel) {
  const minutes = now.minutes - before.minutes
  const [was, is] = [toldMinutes(before), toldMinutes(now)]
  const ratingAt = (rating: Rated | null, at: number): number => ratingPoints(model, role, rating, at)
  return {
    event: discretePoints(model, role, now.counts) - discretePoints(model, role, before.counts),
    minutes:
      -(points * minutes + model.volumeGain * model.par[role] * (is - was)) / 90 -
      (model.parBy.men[role] * (now.uneven - before.uneven)) / 90 +
      ratingAt(before.rating, is) -
      ratingAt(before.rating, was),
    statistics:
      model.volumeGain * (now.volume - before.volume) + ratingAt(now.rating, is) - ratingAt(before.rating, is),
  }
}

/** The action whose count has changed by the most points. */
function changedEvent(move: BaseMove, list: ReasonList, model: ScoringModel): ReasonEvent | null {
  const { before, now, expectation } = move
  let [most, kind, undone]: [number, DiscreteAction | null, boolean] = [0, null, false]
  for (const action of DISCRETE) {
    const difference = (now.counts[action] ?? 0) - (before.counts[action] ?? 0)
    if (difference === 0) continue
    const points = Math.abs(discretePoints(model, expectation.role, { [action]: difference }))
    if (points > most) [most, kind, undone] = [points, action, difference < 0]
  }
  if (kind === null) return null
  const known = new Map(list.remembered.map((row) => [row.firstId, counts(row)]))
  const rows = list.incidents.filter((row) => kindFor(row, move) === kind)
  const row = rows.findLast((one) => (known.get(one.firstId) ?? false) !== counts(one)) ?? rows.at(-1)
  return { kind, minute: row?.minute ?? list.minute, extraMinute: row?.extraMinute ?? null, undone }
}

/** The latest event of a player that counts, if it was just now. */
function latestOf(move: BaseMove, { incidents, minute }: ReasonList): ReasonEvent | null {
  let latest: ReasonEvent | null = null
  for (const row of incidents) {
    const kind = counts(row) ? kindFor(row, move) : null
    const at = row.minute ?? minute
    if (kind === null || at < minute - FOLLOWED_MINUTES || at < (latest?.minute ?? 0)) continue
    latest = { kind, minute: at, extraMinute: row.extraMinute, undone: false }
  }
  return latest
}

/** What a row of the list is for this player; null when it is nothing. */
function kindFor(row: Incident, { playerId, side }: Pick<BaseMove, 'playerId' | 'side'>): DiscreteAction | null {
  const { kind } = row
  if (kind === 'substitution' || kind === 'var' || kind === 'var_card') return null
  if (row.playerId === playerId) return kind
  if (!isGoal(kind)) return null
  if (row.relatedPlayerId === playerId && kind === 'goal') return 'assist'
  return scoringSide(row) === side ? null : 'conceded'
}

/** Both moves in one: a tick tells of all moves since the tick before it. */
export function joined(earlier: MoveReason | undefined, later: MoveReason | undefined): MoveReason | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  const weighs = Math.abs(later.byEvent) >= Math.abs(earlier.byEvent)
  return {
    event: weighs ? (later.event ?? earlier.event) : (earlier.event ?? later.event),
    byEvent: earlier.byEvent + later.byEvent,
    byMinutes: earlier.byMinutes + later.byMinutes,
    byStatistics: earlier.byStatistics + later.byStatistics,
  }
}

/** A short text to store with a tick: the three parts, and the event behind the first. */
export function reasonText({ event, byEvent, byMinutes, byStatistics }: MoveReason): string {
  const parts = [byEvent, byMinutes, byStatistics]
  if (event === null) return JSON.stringify(parts)
  return JSON.stringify([...parts, event.kind, event.minute, event.extraMinute, Number(event.undone)])
}

/** Reads what `reasonText` has written. */
export function readReason(stored: string, path: string): MoveReason {
  const parts: unknown = JSON.parse(stored)
  if (!Array.isArray(parts) || (parts.length !== 3 && parts.length !== 7)) {
    throw new Unreadable(path, parts, 'the three parts of a move, or seven with an event')
  }
  const event =
    parts.length === 3
      ? null
      : {
          kind: readKind(parts[3], path),
          minute: integer(parts[4], path),
          extraMinute: nullable(integer)(parts[5], path),
          undone: integer(parts[6], path) === 1,
        }
  const part = (n: number): number => integer(parts[n], path)
  return { event, byEvent: part(0), byMinutes: part(1), byStatistics: part(2) }
}

const readKind = oneOf(DISCRETE)
