import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { edited } from '../support/mutants.ts'
import { MUTATIONS } from './mutations.ts'
import { oracleMargin, oracleMean, oraclePnl, oraclePrice } from './oracle.ts'
import { simulate, SimulationFailed } from './simulate.ts'
import type { Report } from './simulation.ts'
import { Violation } from './violation.ts'

const ROOT = join(import.meta.dirname, '../..')
const STEPS = 1_000
/** More of them are in simulation.long.sim.test.ts. */
const SEEDS = [1, 2, 3, 4] as const

const runs = new Map<number, Promise<Report>>()

/** A seed's run, which two tests look at. */
function run(seed: number): Promise<Report> {
  const known = runs.get(seed) ?? simulate({ seed, steps: STEPS })
  runs.set(seed, known)
  return known
}

describe('simulator', () => {
  it.each(SEEDS)('[X12] all invariants hold after every step of seed %i', async (seed) => {
    await run(seed)
  })

  it('the same seed is the same run, to the last answer; another seed is another run', async () => {
    const { digest } = await run(1)
    expect((await simulate({ seed: 1, steps: STEPS })).digest).toBe(digest)
    expect((await run(2)).digest).not.toBe(digest)
  })

  it('a failure names its seed, its step, the invariant and the last actions', () => {
    const cause = new Violation('hold', 'p1 closes 3 ms too early')
    const failure = new SimulationFailed({ seed: 42, steps: 10 }, 7, cause, ['6 send p1', '7 answer p1'])
    expect(failure).toMatchObject({ step: 7, invariant: 'hold', cause })
    expect(failure.message).toBe(
      'seed 42, step 7: p1 closes 3 ms too early\n  hold: no user closes within the hold\n  6 send p1\n  7 answer p1',
    )
  })

  it('the oracle computes as the specification does', () => {
    expect(oracleMargin(200_000_000, 500_000)).toBe(50_000_000)
    const bet = { direction: 'long', lots: 500_000, openPrice: 200_000_000, margin: 50_000_000 } as const
    const as = (over: object) => ({ ...bet, ...over }) as Parameters<typeof oraclePnl>[0]
    expect(oraclePnl(as({}), 220_000_000)).toBe(50_000_000)
    expect(oraclePnl(as({ direction: 'short' }), 210_000_000)).toBe(-25_000_000)
    expect(oraclePnl(as({}), 100_000_000)).toBe(-50_000_000)
    const market = { base: 200_000_000, k0: 10_000, capPpm: 10_000 }
    expect(oraclePrice(market, -50_000_000)).toBe(199_500_000)
    expect(oraclePrice(market, 900_000_000)).toBe(202_000_000)
    expect(oracleMean(market, 50_000_000, 0)).toBe(200_250_000)
    // Two units are reached at 200 lots: a quarter of the way to 800 costs half of that.
    expect(oracleMean(market, 800_000_000, 0)).toBe(201_750_000)
  })

  it('every mutation still applies, exactly once', () => {
    expect(MUTATIONS.length).toBeGreaterThanOrEqual(12)
    for (const { edits } of MUTATIONS) {
      for (const edit of edits) {
        const text = readFileSync(join(ROOT, edit.file), 'utf8')
        expect(edited(text, edit)).not.toBe(text)
      }
    }
  })
})
