/** The small fixed season of the gate; `npm run ops -- market` plays the whole battery. */
import { beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { present } from '../../actors/kernel/assert.ts'
import { MODES } from '../../ops/tools/market/modes.ts'
import { IN_TIME } from '../../ops/tools/market/feeds.ts'
import type { MatchResult, Subject } from '../../ops/tools/market/battery.ts'
import type { Tally } from '../../ops/tools/market/tally.ts'
import { isWhistleUnfair, linesOf, suspectsIn, tableOf, whistleOf } from '../../ops/tools/market/report.ts'
import { complaints, complaintsAboutBoards, complaintsAboutPar, MATCHES, played } from './checks.ts'

const none = { GK: 0, DEF: 0, MID: 0, FWD: 0 }
/** Expects the same of every player of a role, as if prices and odds were unknown beforehand. */
const BLIND: ScoringModel = { ...DEFAULT_MODEL, parBy: { worth: none, goals: none, conceded: none, men: none } }

const OFF = present(MODES['off'], 'mode')

const LONER: Subject & Tally = {
  name: '',
  feed: IN_TIME,
  leadSecs: 0,
  isLeader: false,
  pnl: 0,
  margin: 100,
  baseMoves: 0,
  trades: 30,
  wins: 15,
  voids: 0,
  moves: 0,
  refused: 0,
}

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
    expect(complaints(results), tableOf(lines, suspectsIn(lines, OFF))).toEqual([])
    expect(isWhistleUnfair(lines), whistleOf(lines)).toBe(false)
  })

  it('suspects who earns more than 1 % and than two standard errors, of matches that differ', () => {
    const named = (per: readonly number[], name: string): MatchResult[] =>
      per.map((pnl) => ({ swings: [], tallies: [{ ...LONER, name, pnl }] }))
    const suspects = (per: readonly number[]) => [...suspectsIn(linesOf(named(per, 'them')), OFF)]
    expect(suspects([2, 4, 2, 4])).toEqual(['them'])
    expect(suspects([-12, 18, -12, 18])).toEqual([])
    expect(suspects([0.8, 0.9, 0.8, 0.9])).toEqual([])
  })

  it('expects of each player what start price and odds say', () => {
    expect(complaintsAboutPar()).toEqual([])
    expect(complaintsAboutPar(BLIND).length).toBeGreaterThan(2)
  })

  it('ranks nobody first for one lucky position', () => {
    expect(complaintsAboutBoards()).toEqual([])
  })
})
