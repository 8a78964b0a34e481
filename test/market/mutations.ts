/** Deliberate breakages of the market's rules. The small season of the gate must catch every one of them. */
import { present } from '../../actors/kernel/assert.ts'
import { MUTATIONS as OF_THE_GAME } from '../sim/mutations.ts'
import type { Mutation } from '../support/mutants.ts'

const mutation = (name: string, file: string, from: string, to: string): Mutation => ({
  name,
  edits: [{ file, from, to }],
})

/** Rules of the market that the simulator's mutations break too. */
const SHARED = [
  'an open fills before its impact',
  'an open fills after its whole impact',
  'a close fills before its own removal',
  'those who leave together fill at one unmoved price',
  'full time pays the price that stood',
  'a level may be a close by another name',
  'the bench is open',
  'the crowd has no cap',
  'late opens stay',
  'late opens leave one by one',
  'late closes keep what they paid',
  'late closes are corrected backwards',
  'nobody waits for news',
  'news holds nobody',
] as const

const PRICING = 'actors/market/pricing.ts'
const SCORING = 'actors/market/scoring.ts'
const NEWS = 'actors/match/news.ts'
const LATE = 'actors/match/late-closes.ts'
const RANKING = 'actors/community/ranking.ts'
const POSITION = 'actors/position/position.ts'

export const MUTATIONS: readonly Mutation[] = [
  ...SHARED.map((name) =>
    present(
      OF_THE_GAME.find((one) => one.name === name),
      `mutation "${name}"`,
    ),
  ),
  mutation(
    'prices are smoothed',
    PRICING,
    `const next = base + Math.max(-cap, Math.min(cap, target - base))`,
    `const next = base + 0.2 * Math.max(-cap, Math.min(cap, target - base))`,
  ),
  mutation(
    'the same is expected of the dear and the cheap',
    SCORING,
    `const byWorth = parBy.worth[role] * log(`,
    `const byWorth = 0 * parBy.worth[role] * log(`,
  ),
  mutation(
    'the same is expected of favourites and underdogs',
    SCORING,
    `if (goals === null) return byWorth`,
    `if (goals !== undefined) return byWorth`,
  ),
  mutation('late opens leave at the price after the news', NEWS, `base: hold.baseBefore })`, `base })`),
  mutation(
    'news holds a player for one update only',
    NEWS,
    `const agrees = !pricing.unsettled.has(before.playerId) && seq`,
    `const agrees = seq`,
  ),
  mutation(
    'the back line does not wait for its keeper',
    PRICING,
    `    unsettled.add(id)\n    if (news`,
    `    if (news`,
  ),
  mutation(
    'closes before far moves are not corrected',
    LATE,
    `if (from !== null && closing.at >= from`,
    `if (from !== null && closing.at < from`,
  ),
  mutation(
    'far moves that no row explains have no window',
    NEWS,
    `!movesFar(before.base, base, rules)`,
    `(base > 0 || !movesFar(before.base, base, rules))`,
  ),
  mutation('returns have no floor', RANKING, `(margin > floor ? margin : floor)`, `(margin > floor ? margin : margin)`),
  mutation(
    'returns count what the crowd paid',
    POSITION,
    `realisedPnl({ ...p, openPrice: p.openBase }, base)`,
    `realisedPnl({ ...p, ...(p as { openPrice: Price }) }, (p as { close?: { price: Price } }).close?.price ?? base)`,
  ),
]
