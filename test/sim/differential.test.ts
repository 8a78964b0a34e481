import { expect, it } from 'vitest'
import { Duel } from './duel.ts'

const STEPS = 200
const SEEDS = Array.from({ length: 12 }, (_, n) => n + 1)
const FRESH = Array.from({ length: 3 }, () => Math.floor(Math.random() * 2 ** 31))

it.each([...SEEDS, ...FRESH])(
  '[X13] the match and the naive market agree on every fill, level and wallet: seed %i',
  async (seed) => {
    const duel = await Duel.between(seed)
    for (let step = 0; step < STEPS; step++) await duel.step()
    await duel.end()
  },
)

it('[X13] the duels are about something: levels and washouts fire by the dozen', async () => {
  let fired = 0
  for (const seed of SEEDS.slice(0, 6)) {
    const duel = await Duel.between(seed)
    for (let step = 0; step < STEPS; step++) await duel.step()
    fired += duel.fired
  }
  expect(fired).toBeGreaterThan(60)
})
