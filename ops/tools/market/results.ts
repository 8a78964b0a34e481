/** Full time alone, without the way there: what thousands of matches say about prices in a minute. */
import { present } from '../../../actors/kernel/assert.ts'
import { ANCHOR_BY_ROLE, LEVERAGE } from '../../../actors/kernel/limits.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import { anchorOf, startPrice } from '../../../actors/market/instrument.ts'
import { UNSEEN } from '../../../actors/market/player-memory.ts'
import { EMPTY_PRICING, priceMatch, type ScoringModel } from '../../../actors/market/pricing.ts'
import { reconcile } from '../../../actors/market/belief/reconcile.ts'
import { playedSecs } from '../../../actors/market/play-time.ts'
import { STATISTIC } from '../../../actors/market/scoring.ts'
import { pitchOf, secsOn, unevenMinutes } from '../../../actors/market/spells.ts'
import type { PlayerId } from '../../../actors/kernel/ids.ts'
import type { Fixture } from './play.ts'

/** A starter at full time. */
export interface Ended {
  readonly role: PlayerRole
  readonly minutes: number
  /** Those minutes, each weighted with ln(own men ÷ other men). */
  readonly uneven: number
  /** ln of start price ÷ usual price of the role. */
  readonly worth: number
  readonly start: number
  /** Goals that the odds expected of the player's side and of the other one. */
  readonly goals: { readonly own: number; readonly other: number }
  /** What the price has gained, as a part of the start price. */
  readonly gain: number
}

/** Minutes on the pitch after which the provider rates a player: the first rating is read off the last one. */
const RATED_FROM = 10

/** The starters of a match by its last update. A price that may move any distance in it needs no other. */
export function startersAtEnd({ snapshots, histories }: Fixture, model: ScoringModel): readonly Ended[] {
  const last = present(snapshots.at(-1), 'last update')
  const goals = last.expectedGoals ?? { home: 1.35, away: 1.35 }
  const players = last.players.map((p) => {
    const role = p.role ?? 'MID'
    const start = startPrice(null, anchorOf(role, histories.get(p.instrumentId)?.anchor ?? null, null))
    return { playerId: p.playerId, side: p.side, role, starter: p.starter, start, base: start }
  })
  const secs = playedSecs(last.periods)
  const { incidents } = reconcile(last, [], secs)
  const { spells, men } = pitchOf(last, incidents, secs)
  const minutesOf = (id: PlayerId): number => secsOn(spells.get(id) ?? []) / 60
  const remembered = last.players.flatMap(({ playerId, details }) => {
    const rating = details?.[STATISTIC.rating]
    if (rating === undefined || minutesOf(playerId) < RATED_FROM) return []
    const { start } = model.rating
    const early = start + ((rating - start) * RATED_FROM) / minutesOf(playerId)
    return [[playerId, { ...UNSEEN, first: { rating: early, minutes: RATED_FROM } }] as const]
  })
  const memory = { ...EMPTY_PRICING, players: Object.fromEntries(remembered) }
  const { bases } = priceMatch(last, players, memory, { ...model, tickCap: 1 })
  return players
    .filter(({ starter }) => starter)
    .map(({ playerId, side, role, start }) => ({
      role,
      minutes: minutesOf(playerId),
      uneven: unevenMinutes(spells.get(playerId) ?? [], side, men),
      worth: Math.log(start / ANCHOR_BY_ROLE[role]),
      start,
      goals: side === 'home' ? { own: goals.home, other: goals.away } : { own: goals.away, other: goals.home },
      gain: (bases.get(playerId) ?? start) / start - 1,
    }))
}

export type Bet = (match: readonly Ended[]) => readonly { readonly on: Ended; readonly sign: 1 | -1 }[]

const on = (players: readonly Ended[], sign: 1 | -1) => players.map((one) => ({ on: one, sign }))
const by = (of: (player: Ended) => number, match: readonly Ended[]) => match.toSorted((a, b) => of(b) - of(a))

/** Bets that prices and odds suggest at kick-off, until full time. */
export const BETS: Readonly<Record<string, Bet>> = {
  'long every starter': (match) => on(match, 1),
  'short every starter': (match) => on(match, -1),
  'long the three best for their role': (match) => on(by((p) => p.worth, match).slice(0, 3), 1),
  'short the three worst for their role': (match) => on(by((p) => p.worth, match).slice(-3), -1),
  'long the five dearest': (match) => on(by((p) => p.start, match).slice(0, 5), 1),
  'short the five cheapest': (match) => on(by((p) => p.start, match).slice(-5), -1),
  'favourites long, underdogs short': (match) =>
    match.flatMap((player) => {
      const ahead = player.goals.own - player.goals.other
      return Math.abs(ahead) < 0.6 ? [] : on([player], ahead > 0 ? 1 : -1)
    }),
  'long keepers': (match) => on(ofRole(match, 'GK'), 1),
  'long defenders': (match) => on(ofRole(match, 'DEF'), 1),
  'long midfielders': (match) => on(ofRole(match, 'MID'), 1),
  'long forwards': (match) => on(ofRole(match, 'FWD'), 1),
}

const ofRole = (match: readonly Ended[], role: PlayerRole) => match.filter((player) => player.role === role)

export interface Return {
  readonly roiPct: number
  readonly errorPct: number
}

/** The return on margin of a bet over these matches, with its standard error. A loss ends at the margin. */
export function returnOf(bet: Bet, matches: readonly (readonly Ended[])[]): Return {
  const sums = matches.map((match) => {
    const gains = bet(match).map(({ on: { gain }, sign }) => Math.max(-1, LEVERAGE * sign * gain))
    return { count: gains.length, sum: gains.reduce((total, gain) => total + gain, 0) }
  })
  const count = sums.reduce((total, one) => total + one.count, 0)
  const roi = sums.reduce((total, one) => total + one.sum, 0) / Math.max(1, count)
  const spread = Math.sqrt(sums.reduce((total, one) => total + (one.sum - roi * one.count) ** 2, 0))
  return { roiPct: 100 * roi, errorPct: (100 * spread) / Math.max(1, count) }
}
