/** The small fixed season of the gate; `npm run ops -- market` plays the whole battery. */
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import type { MatchResult } from '../../ops/tools/market/battery.ts'
import { isWhistleUnfair, linesOf, tableOf, whistleOf } from '../../ops/tools/market/report.ts'
import {
  complaints,
  complaintsAboutBoards,
  complaintsAboutPar,
  complaintsAboutPumps,
  complaintsAboutTheBackLine,
  MATCHES,
  played,
} from './checks.ts'

const none = { GK: 0, DEF: 0, MID: 0, FWD: 0 }
/** Expects the same of every player of a role, as if prices and odds were unknown beforehand. */
const BLIND: ScoringModel = { ...DEFAULT_MODEL, parBy: { worth: none, goals: none, conceded: none } }

describe('a market of simulated matches', () => {
  const results: MatchResult[] = []
  beforeAll(async () => {
    for (let n = 0; n < MATCHES; n += 1) results.push(await played(n))
  }, 120_000)

  it('pays nobody for being early, for acting together, or for what everybody can see', () => {
    const lines = linesOf(results)
    expect(new Set(lines.map(({ name }) => name)).size).toBeGreaterThanOrEqual(50)
    const idle = lines.filter(({ trades, refused }) => trades + refused === 0).map(({ name }) => name)
    expect(idle.length, `too few matches for ${idle.join(', ')}`).toBeLessThan(4)
    expect(complaints(results), tableOf(lines)).toEqual([])
    expect(isWhistleUnfair(lines), whistleOf(lines)).toBe(false)
  })

  it('expects of each player what start price and odds say', () => {
    expect(complaintsAboutPar()).toEqual([])
    expect(complaintsAboutPar(BLIND).length).toBeGreaterThan(2)
  }, 60_000)

  it('holds defenders until their keeper’s statistics tell of the goal', async () => {
    expect(await complaintsAboutTheBackLine()).toEqual([])
  })

  it('pays nobody for pushing a price up before a goal', async () => {
    expect(await complaintsAboutPumps()).toEqual([])
  })

  it('ranks nobody first for one lucky position', () => {
    expect(complaintsAboutBoards()).toEqual([])
  })
})
