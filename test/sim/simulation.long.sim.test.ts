/** More seeds of the simulator than one waits for before a commit, and new ones. */
import { describe, expect, it } from 'vitest'
import { simulate } from './simulate.ts'
import type { Report } from './simulation.ts'

const STEPS = 1_000
/** The first seeds are in simulation.sim.test.ts. */
const FIXED = Array.from({ length: 8 }, (_, n) => n + 5)
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

const reports: Report[] = []

describe('simulator', () => {
  it.each(FIXED)('[X12] all invariants hold after every step of seed %i', async (seed) => {
    reports.push(await simulate({ seed, steps: STEPS }))
  })

  it.each(FRESH)('[X12] all invariants hold for the new seed %i', async (seed) => {
    await simulate({ seed, steps: STEPS })
  })

  it.each(FOUND)('[X12] seed %i still passes: %s', async (seed) => {
    reports.push(await simulate({ seed, steps: STEPS }))
  })

  it('covers every way to close, the refusals and every fault', () => {
    const seen = new Set(reports.flatMap(({ counts }) => Object.keys(counts)))
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
})
