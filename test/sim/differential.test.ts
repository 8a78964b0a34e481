import { expect, it } from 'vitest'
import { Duel } from './duel.ts'

const STEPS = 200
const SEEDS = [1, 2, 3, 4, 5, 6]
/** It ends a match in its first half. */
const EARLY = 233_074_753
const FRESH = Math.floor(Math.random() * 2 ** 31)

let fired = 0

it.each([...SEEDS, EARLY, FRESH])(
  '[X13] the match and the naive market agree on every fill, level and wallet: seed %i',
  async (seed) => {
    const duel = await Duel.between(seed)
    for (let step = 0; step < STEPS; step++) await duel.step()
    if (SEEDS.includes(seed)) fired += duel.fired
    await duel.end()
  },
)

it('[X13] the duels are about something: levels and washouts fire by the dozen', () => {
  expect(fired).toBeGreaterThan(60)
})
