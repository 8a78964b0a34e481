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
  'the bench is open',
  'the crowd has no cap',
] as const

const SCORING = 'actors/market/scoring.ts'
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
    'actors/market/target.ts',
    `const next = base + Math.max(`,
    `const next = base + 0.2 * Math.max(`,
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
  mutation(
    'nothing is expected to follow an event',
    'actors/market/follows.ts',
    `if (!isStated) return`,
    `if (isStated || !isStated) return`,
  ),
  mutation('returns have no floor', RANKING, `(margin > floor ? margin : floor)`, `(margin > floor ? margin : margin)`),
  mutation(
    'returns count what the crowd paid',
    POSITION,
    `realisedPnl({ ...p, openPrice: p.openBase }, base)`,
    `realisedPnl({ ...p, ...(p as { openPrice: Price }) }, (p as { close?: { price: Price } }).close?.price ?? base)`,
  ),
]
