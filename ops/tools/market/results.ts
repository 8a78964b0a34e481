/** Full time alone, without the way there: what thousands of matches say about prices in a minute. */
import { present } from '../../../actors/kernel/assert.ts'
import { ANCHOR_BY_ROLE, LEVERAGE } from '../../../actors/kernel/limits.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import { anchorOf, startPrice } from '../../../actors/market/instrument.ts'
import { EMPTY_PRICING, priceMatch, type ScoringModel } from '../../../actors/market/pricing.ts'
import { isSendingOff } from './plot.ts'
import type { Fixture } from './play.ts'

/** A starter at full time. */
export interface Ended {
  readonly role: PlayerRole
  readonly minutes: number
  /** ln of start price ÷ usual price of the role. */
  readonly worth: number
  readonly start: number
  /** Goals that the odds expected of the player's side and of the other one. */
  readonly goals: { readonly own: number; readonly other: number }
  /** What the price has gained, as a part of the start price. */
  readonly gain: number
}

/** The starters of a match by its last update. A price that may move any distance in it needs no other. */
export function startersAtEnd({ snapshots, histories }: Fixture, model: ScoringModel): readonly Ended[] {
  const last = present(snapshots.at(-1), 'last update')
  const goals = last.expectedGoals ?? { home: 1.35, away: 1.35 }
  const players = last.players.map((p) => {
    const role = p.role ?? 'MID'
    const start = startPrice(null, anchorOf(role, histories.get(p.instrumentId)?.anchor ?? null, null))
    return { playerId: p.playerId, side: p.side, role, starter: p.starter, start, base: start }
  })
  const { bases } = priceMatch(last, players, EMPTY_PRICING, { ...model, tickCap: 1 })
  const played = last.periods.reduce((sum, p) => sum + p.elapsedSecs, 0) / 60
  const leftAt = new Map(
    (last.events ?? []).flatMap((event) => {
      const who = event.kind === 'substitution' ? event.relatedPlayerId : isSendingOff(event) ? event.playerId : null
      return who === null ? [] : [[who, event.minute] as const]
    }),
  )
  return players
    .filter(({ starter }) => starter)
    .map(({ playerId, side, role, start }) => ({
      role,
      minutes: leftAt.get(playerId) ?? played,
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
