/** The small fixed season of the gate; `npm run ops -- market` plays the whole battery. */
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { present } from '../../actors/kernel/assert.ts'
import { MODES } from '../../ops/tools/market/modes.ts'
import type { MatchResult } from '../../ops/tools/market/battery.ts'
import { isWhistleUnfair, linesOf, tableOf, whistleOf } from '../../ops/tools/market/report.ts'
import { complaints, complaintsAboutBoards, complaintsAboutPar, MATCHES, played } from './checks.ts'

const none = { GK: 0, DEF: 0, MID: 0, FWD: 0 }
/** Expects the same of every player of a role, as if prices and odds were unknown beforehand. */
const BLIND: ScoringModel = { ...DEFAULT_MODEL, parBy: { worth: none, goals: none, conceded: none, men: none } }

describe('a market of simulated matches', () => {
  const results: MatchResult[] = []
  beforeAll(async () => {
    for (let n = 0; n < MATCHES; n += 1) results.push(await played(n))
  })

  it('pays nobody for acting together, or for what everybody can see', () => {
    const lines = linesOf(results)
    // Own goals, missed penalties and sendings-off are rare.
    const busy = new Set(lines.filter(({ trades, refused }) => trades + refused > 0).map(({ name }) => name))
    expect(busy.size, [...busy].join(', ')).toBeGreaterThanOrEqual(100)
    expect(complaints(results), tableOf(lines, present(MODES['off'], 'mode'))).toEqual([])
    expect(isWhistleUnfair(lines), whistleOf(lines)).toBe(false)
  })

  it('expects of each player what start price and odds say', () => {
    expect(complaintsAboutPar()).toEqual([])
    expect(complaintsAboutPar(BLIND).length).toBeGreaterThan(2)
  })

  it('ranks nobody first for one lucky position', () => {
    expect(complaintsAboutBoards()).toEqual([])
  })
})
