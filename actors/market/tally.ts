/** What the list of events says of each player. */
import type { PlayerId } from '../kernel/ids.ts'
import type { FixtureSnapshot, Side } from './fixture.ts'
import { counts, type Incident, isGoal, REVIEW_SECS, reviewOf, scoringSide } from './incidents.ts'
import { playedSecsAt } from './play-time.ts'
import type { Counts, DiscreteAction, Reviews, ScoringModel } from './scoring.ts'
import { type Pitch, wasOn } from './spells.ts'

/** The actions of a player according to the list of events. */
export interface Tally {
  readonly listed: Counts
  /** The same, each goal with the chance that it stands. */
  readonly weighed: Counts
  /** Those so new that the statistics may not have them yet. */
  readonly fresh: Counts
}

export const NOTHING: Tally = { listed: {}, weighed: {}, fresh: {} }

/** The moment that a list is read at. */
export interface Moment {
  readonly snapshot: FixtureSnapshot
  /** Seconds of play. */
  readonly secs: number
  /** The final whistle has gone: goals are no longer taken back. */
  readonly isOver: boolean
}

/** Actions per player. All players on the pitch concede a goal together, also one without a scorer yet. */
export function tallyOf(
  moment: Moment,
  incidents: readonly Incident[],
  { spells }: Pitch,
  model: ScoringModel,
): ReadonlyMap<PlayerId, Tally> {
  const { snapshot, secs } = moment
  const tally = new Map<PlayerId, Tally>()
  const nameless = namelessGoals(snapshot, incidents)
  for (const incident of incidents) {
    const { kind } = incident
    if (kind === 'substitution' || kind === 'var' || kind === 'var_card') continue
    if (!counts(incident) && !nameless.has(incident)) continue
    const age = moment.secs - incident.listedAt
    const chance = isGoal(kind) ? standChance(incident, incidents, moment, model.review) : 1
    const add = (id: PlayerId | null, action: DiscreteAction): void => {
      if (id === null) return
      const own = tally.get(id) ?? NOTHING
      const plus = (to: Counts, by: number): Counts => ({ ...to, [action]: (to[action] ?? 0) + by })
      tally.set(id, {
        listed: plus(own.listed, 1),
        weighed: plus(own.weighed, chance),
        fresh: age < model.follows.waitSecs ? plus(own.fresh, 1) : own.fresh,
      })
    }
    add(incident.playerId, kind)
    if (!isGoal(kind)) continue
    if (kind === 'goal') add(incident.relatedPlayerId, 'assist')
    const at = playedSecsAt(incident, snapshot.periods, secs)
    const scoredBy = scoringSide(incident)
    for (const { playerId, side } of snapshot.players) {
      if (side !== scoredBy && wasOn(spells.get(playerId), at)) add(playerId, 'conceded')
    }
  }
  return tally
}

/** Listed goals without a player that the score vouches for. */
function namelessGoals({ home, away }: FixtureSnapshot, incidents: readonly Incident[]): ReadonlySet<Incident> {
  const found = new Set<Incident>()
  for (const [side, { goals }] of [['home', home] as const, ['away', away] as const]) {
    const own = incidents.filter((row) => isGoal(row.kind) && scoringSide(row) === side)
    const room = (goals ?? 0) - own.filter(counts).length
    const waiting = own.filter((row) => row.standing === 'seen' && row.playerId === null)
    for (const row of waiting.slice(0, Math.max(0, room))) found.add(row)
  }
  return found
}

/** The goals of a side in the current score that the list does not tell of. */
export function unlistedGoals({ home, away }: FixtureSnapshot, side: Side, incidents: readonly Incident[]): number {
  const told = incidents.filter((row) => isGoal(row.kind) && scoringSide(row) === side && counts(row)).length
  return Math.max(0, ((side === 'home' ? home : away).goals ?? told) - told)
}

/** The chance that a goal stands: play goes on unless it is reviewed, and the longer it does the surer the goal is. */
function standChance(goal: Incident, incidents: readonly Incident[], moment: Moment, model: Reviews): number {
  if (goal.kind !== 'goal' || moment.isOver) return 1
  const { stands, open } = reviewOf(goal, incidents)
  if (stands) return 1
  if (open !== null) return moment.secs - open.listedAt < REVIEW_SECS ? model.stand : 1
  return chanceAfter(moment.secs - goal.listedAt, model)
}

/** The chance that a goal stands, by seconds of play without a review. */
export function chanceAfter(age: number, { share, stand, secs }: Reviews): number {
  const left = share * Math.max(0, 1 - age / secs)
  // Not by the quotient: where every goal is reviewed, it would be none of none.
  if (left === 0) return 1
  return (1 - share + stand * left) / (1 - share + left)
}
