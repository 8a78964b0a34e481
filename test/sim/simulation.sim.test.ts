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
const FIXED = Array.from({ length: 12 }, (_, n) => n + 1)
const FRESH = Array.from({ length: 2 }, () => Math.floor(Math.random() * 2 ** 31))

/**
 * Seeds that found a fault, each with the fault. A change of the simulator changes what a seed does; the mutations that
 * restore these faults prove that they would still be found.
 */
const FOUND: readonly (readonly [seed: number, what: string])[] = [
  [22, 'a refusal that was caused only by a command which the commit turned down'],
  [9, 'a match that could not be loaded, and a stop-loss that slept on, after a rule had changed'],
  [21_848, 'rules that a commit of a kept refusal had heard, and that were changed back before the next'],
  [20_607, 'a match that was abandoned before its first update, whose tape nobody could run again'],
  [125, 'a part whose moved close cost a micro more than its margin'],
  [165, 'a washout whose loss was limited by the opening price that news had moved, not by the one that was paid for'],
  [15, 'tapes that could not be run again: what news may still move was forgotten with every new owner'],
  [1_003_950_792, 'full time that was confirmed by one clock and began by another, which was behind'],
  [2_125_602_196, 'a match that was put off before its kick-off and never called off'],
]

const runs = new Map<number, Promise<Report>>()

/** A seed's run, which several tests look at. */
function run(seed: number): Promise<Report> {
  const known = runs.get(seed) ?? simulate({ seed, steps: STEPS })
  runs.set(seed, known)
  return known
}

describe('simulator', () => {
  it.each(FIXED)('[X12] all invariants hold after every step of seed %i', async (seed) => {
    await run(seed)
  })

  it.each(FRESH)('[X12] all invariants hold for the new seed %i', async (seed) => {
    await run(seed)
  })

  it.each(FOUND)('[X12] seed %i still passes: %s', async (seed) => {
    await run(seed)
  })

  it('the same seed is the same run, to the last answer; another seed is another run', async () => {
    const { digest } = await run(7)
    expect((await simulate({ seed: 7, steps: STEPS })).digest).toBe(digest)
    expect((await run(8)).digest).not.toBe(digest)
  })

  it('covers every way to close, the refusals and every fault', async () => {
    const seen = new Set<string>()
    for (const seed of FIXED) for (const what of Object.keys((await run(seed)).counts)) seen.add(what)
    const closes = ['user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'void'].map((by) => `closed by ${by}`)
    const refusals = ['insufficient_margin', 'levels_invalid', 'lot_size_invalid', 'market_closed', 'not_found']
    const mishaps = ['commit fails before', 'commit fails after', 'commit arrives late', 'ghosts', 'owner dies']
    const more = [
      'owner stalls',
      'owner retires',
      'clock jumps',
      'rules change',
      'matches',
      'refused price_moved',
      'steps over several commits',
      'a crowd shares its process',
      'closed in parts',
      'fills moved by news',
    ]
    const wanted = [...closes, ...refusals.map((code) => `refused ${code}`), ...mishaps, ...more]
    expect(wanted.filter((what) => !seen.has(what))).toEqual([])
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
