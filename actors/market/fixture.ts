/**
 * A fixture as the game sees it: the provider's payload without its quirks. Parsers build these snapshots; nothing in
 * `actors` knows the provider's field names.
 */
import type { FixtureId, InstrumentId, PlayerId } from '../kernel/ids.ts'
import type { Instant } from '../kernel/world.ts'

/** The largest fixture number (32 bits), minute, score, shirt number and count of a player's actions there can be. */
export const FIXTURE_ID_MAX = 4_294_967_295
export const MINUTE_MAX = 150
export const GOALS_MAX = 99
export const JERSEY_MAX = 999
export const COUNT_MAX = 500

export const SIDES = ['home', 'away'] as const
export type Side = (typeof SIDES)[number]

export const ROLES = ['GK', 'DEF', 'MID', 'FWD'] as const
export type PlayerRole = (typeof ROLES)[number]

export interface FixtureTeam {
  readonly id: number
  readonly name: string
  /** Null until the provider shows a current score. */
  readonly goals: number | null
  /** Goals in the shoot-out, which `goals` does not count. Present once there is one. */
  readonly shootout?: number
}

export const PERIOD_KINDS = ['first_half', 'second_half', 'extra_time', 'penalties'] as const
export type PeriodKind = (typeof PERIOD_KINDS)[number]

export interface FixturePeriod {
  readonly id: number
  readonly kind: PeriodKind
  /** The number of the period in the fixture, from 1. */
  readonly order: number
  /** The minute its clock starts from: 0, 45, 90, 105, 120. */
  readonly countsFrom: number
  /** Its scheduled length in minutes. */
  readonly length: number
  /** Seconds played in it so far, added time included. */
  readonly elapsedSecs: number
  readonly ticking: boolean
}

export const EVENT_KINDS = [
  'goal',
  'own_goal',
  'penalty_goal',
  'penalty_missed',
  'substitution',
  'yellow',
  'red',
  'second_yellow',
  'shootout_goal',
  'shootout_miss',
  'var',
  'var_card',
  'other',
] as const
export type FixtureEventKind = (typeof EVENT_KINDS)[number]

export interface FixtureEvent {
  /** The provider's id. It may be replaced when a provisional row becomes final. */
  readonly id: number
  readonly kind: FixtureEventKind
  /** Null when the provider does not say when. */
  readonly minute: number | null
  readonly extraMinute: number | null
  /** The place among the rows of its kind in one minute; absent when the provider does not say. */
  readonly sortOrder?: number
  /** `order` of the period it happened in, or null when the provider does not say. */
  readonly period: number | null
  /** The side the provider files it under. For an own goal that is the side it counts for. */
  readonly side: Side | null
  /** The scorer, the booked player, or the player coming on. */
  readonly playerId: PlayerId | null
  readonly playerName: string | null
  /** The assisting player, or the player going off. */
  readonly relatedPlayerId: PlayerId | null
  readonly relatedPlayerName: string | null
  /** The running score of a goal: "2-1". */
  readonly result: string | null
  /** Free text of the provider ("Goal Disallowed", "1st Yellowcard"). */
  readonly addition: string | null
  readonly rescinded: boolean
}

export interface FixturePlayer {
  readonly playerId: PlayerId
  /** Derived from the player id and, for a replay, from the replay. */
  readonly instrumentId: InstrumentId
  readonly name: string
  readonly side: Side
  /** Null when the provider does not say. `position` on the wire. */
  readonly role: PlayerRole | null
  readonly jersey: number | null
  readonly starter: boolean
  /** Statistics by the provider's type id. Null means no news this time, never zero. */
  readonly details: Readonly<Record<number, number>> | null
}

export interface FixtureSnapshot {
  readonly fixtureId: FixtureId
  readonly name: string
  readonly league: string
  readonly startsAt: Instant
  /** The provider's state name, or null when it sent only a number. */
  readonly state: string | null
  readonly stateId: number | null
  readonly home: FixtureTeam
  readonly away: FixtureTeam
  readonly periods: readonly FixturePeriod[]
  /** The full current list, in no particular order. Null when the provider left it out: keep the last one. */
  readonly events: readonly FixtureEvent[] | null
  readonly players: readonly FixturePlayer[]
  /** Team statistics under the provider's own English names, or null when it has none. */
  readonly teamStats: Readonly<Record<Side, Readonly<Record<string, number>>>> | null
  /** Goals that the odds expect of each side; null when the payload has no odds. */
  readonly expectedGoals: Readonly<Record<Side, number>> | null
  /** When it was received. */
  readonly sourceAt: Instant
}

/**
 * A fixture as one payload tells of it. What is null or missing was not said, and is what it was before
 * (`actors/market/belief`).
 */
export interface SaidFixture extends Omit<
  FixtureSnapshot,
  'name' | 'league' | 'startsAt' | 'home' | 'away' | 'periods' | 'players'
> {
  readonly name: string | null
  readonly league: string | null
  readonly startsAt: Instant | null
  readonly home: Unnamed<FixtureTeam>
  readonly away: Unnamed<FixtureTeam>
  readonly periods: readonly SaidPeriod[]
  readonly players: readonly Unnamed<FixturePlayer>[]
}

type Unnamed<T extends { readonly name: string }> = Omit<T, 'name'> & { readonly name: string | null }

/** Seconds below zero: the clock shows a minute before the period's first. */
export type SaidPeriod = Omit<FixturePeriod, 'elapsedSecs'> & { readonly elapsedSecs: number | null }

/** The minute of the match as shown to users. Null before kick-off. */
export function matchMinute(periods: readonly FixturePeriod[]): number | null {
  const current = periods.find((p) => p.ticking) ?? periods.at(-1)
  return current === undefined ? null : current.countsFrom + Math.floor(current.elapsedSecs / 60)
}
