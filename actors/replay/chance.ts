/** Seeded chance: the same seed gives the same match on every machine, for ever. */
import { present } from '../kernel/assert.ts'
import { exp } from '../kernel/exact-math.ts'

export interface Chance {
  /** A uniform number in [0, 1). */
  uniform(): number
  /** A uniform integer in [0, n). */
  below(n: number): number
  happens(probability: number): boolean
  /** A Poisson sample: how often something happens that is expected `mean` times. For small means. */
  times(mean: number): number
  /** A random item, weighted; null when all weights are zero. */
  pick<T>(items: readonly T[], weight: (item: T) => number): T | null
}

const TWO_32 = 4_294_967_296

/** Mulberry32: 32 bits of state are plenty for a match that is no secret. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  return chanceOf(() => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / TWO_32
  })
}

/** Chance from a source of uniform numbers in [0, 1). */
export function chanceOf(uniform: () => number): Chance {
  return {
    uniform,
    below: (n) => Math.floor(uniform() * n),
    happens: (probability) => uniform() < probability,
    times(mean) {
      // Knuth: count uniforms until their product falls below e^−mean.
      let n = 0
      for (let product = uniform(); product > exp(-mean); product *= uniform()) n += 1
      return n
    },
    pick(items, weight) {
      const total = items.reduce((sum, item) => sum + weight(item), 0)
      if (total <= 0) return null
      let left = uniform() * total
      for (const item of items) {
        left -= weight(item)
        if (left < 0) return item
      }
      return present(
        items.findLast((item) => weight(item) > 0),
        'an item with weight',
      )
    },
  }
}
